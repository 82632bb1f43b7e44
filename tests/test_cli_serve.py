"""``explainbot serve`` and ``work`` as processes: receiver and worker apart, and how they end."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from bot.demo.github import StandIn

WAIT = 60


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def await_server(port, process):
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the server did not start")


@pytest.fixture
def start(tmp_path):
    """Start a command of the program, and end it with the test."""
    running = []

    def run(stand_in, *arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("EXPLAINBOT_")} | {
            "EXPLAINBOT_WEBHOOK_SECRETS": stand_in.secret.decode(),
            "EXPLAINBOT_TOKEN": stand_in.token("helper"),
            "EXPLAINBOT_GITHUB_URL": stand_in.url,
            "EXPLAINBOT_DATABASE_URL": f"sqlite:///{tmp_path}/bot.sqlite",
            "EXPLAINBOT_CACHE_DIR": str(tmp_path / "cache"),
            "EXPLAINBOT_ERRORS_DIR": str(tmp_path),
            "EXPLAINBOT_WRITE_INTERVAL": "0",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "bot.cli", *arguments], env=environment, start_new_session=True, stderr=subprocess.PIPE
        )
        running.append(process)
        return process

    yield run
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_receiver_queues_and_a_worker_works(start, tmp_path, engine_catalogue):
    import shutil

    from bot.catalogue.catalogue import catalogue_path

    path = catalogue_path(tmp_path / "cache", "octo/engine")
    path.parent.mkdir(parents=True)
    shutil.copyfile(engine_catalogue, path)
    stand_in = StandIn()
    stand_in.add_repository("octo/engine", collaborators={"helper": "write"})
    port = free_port()
    stand_in.webhook.url = f"http://127.0.0.1:{port}/hooks/github"
    with stand_in.serve():
        receiver = start(stand_in, "serve", "--receiver-only", "--port", str(port))
        await_server(port, receiver)
        issue = stand_in.open_issue(
            "octo/engine", "ValueError: The frobnicator alpha needs at least 3 sprockets before it can turn", "see title"
        )
        assert stand_in.wait_for(lambda: [d.status_code for d in stand_in.deliveries] == [202], WAIT)
        # The receiver goes; what it has queued stays.
        receiver.send_signal(signal.SIGTERM)
        assert receiver.wait(WAIT) == 0
        assert stand_in.comments("octo/engine", issue.number) == ()
        worker = start(stand_in, "work")
        assert stand_in.wait_for(lambda: stand_in.comments("octo/engine", issue.number), WAIT)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(WAIT) == 0


def test_the_server_ends_softly(start, tmp_path):
    stand_in = StandIn()
    port = free_port()
    with stand_in.serve():
        server = start(stand_in, "serve", "--port", str(port))
        await_server(port, server)
        server.send_signal(signal.SIGTERM)
        assert server.wait(WAIT) == 0
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port))


def test_a_port_in_use_is_named(start):
    stand_in = StandIn()
    with stand_in.serve(), socket.create_server(("127.0.0.1", 0)) as taken:
        taken_port = taken.getsockname()[1]
        process = start(stand_in, "serve", "--port", str(taken_port))
        assert process.wait(WAIT) == 1
        said = process.stderr.read().decode()
    assert f"port {taken_port}" in said
    assert len(said.strip().splitlines()) == 1
