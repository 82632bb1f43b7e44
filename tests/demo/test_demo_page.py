"""The issue tracker page, in front of the real server."""

import re
import urllib.request
import uuid

import pytest

from bot.demo import page

MEANING = "The frobnicator has too few sprockets."


@pytest.fixture
def client(demo):
    return page.create_page(demo).test_client()


@pytest.fixture
def submit(client):
    def post(title, body):
        answer = client.post("/issues", data={"title": title, "body": body}, base_url="http://127.0.0.1")
        assert answer.status_code == 303
        return answer.headers["Location"]

    return post


def get(client, path):
    return client.get(path, base_url="http://127.0.0.1")


def settled(client, path):
    """The news of an issue once the bot is done with it."""
    for _ in range(3):
        text = get(client, f"{path}/news").text
        if 'data-state="waiting"' not in text:
            return text
    raise AssertionError("the bot did not finish")


def test_a_known_error_is_answered_below_the_issue(client, submit, known_issue):
    path = submit("The drive stops", known_issue)
    assert MEANING in settled(client, path)
    shown = get(client, path).text
    assert MEANING in shown
    assert 'data-state="answered"' in shown
    assert shown.count('class="card post bot"') == 1
    assert "The drive stops" in get(client, "/").text


def test_silence_is_said(client, submit):
    path = submit("Please add colours", "It is so grey.")
    assert "stays silent" in settled(client, path)


def test_an_edited_issue_has_one_comment_that_shows_the_last_state(client, submit, known_issue):
    path = submit("The drive stops", known_issue)
    settled(client, path)
    edited = known_issue.replace("alpha", "omega")
    client.post(path, data={"title": "The drive stops again", "body": edited}, base_url="http://127.0.0.1")
    shown = settled(client, path)
    assert shown.count('class="card post bot"') == 1
    assert "omega" in shown
    assert "alpha" not in shown


def test_a_command_is_answered(client, submit, known_issue):
    path = submit("The drive stops", known_issue)
    settled(client, path)
    client.post(f"{path}/comments", data={"body": "/explain help"}, base_url="http://127.0.0.1")
    assert settled(client, path).count('class="card post bot"') == 2


def test_links_of_the_comment_lead_to_record_pages(client, submit, demo, known_issue):
    path = submit("The drive stops", known_issue)
    (address,) = set(re.findall(rf'href="({re.escape(demo.server)}/errors/[0-9a-f]{{16}})"', settled(client, path)))
    with urllib.request.urlopen(address, timeout=10) as answer:
        assert MEANING in answer.read().decode()


def test_examples_fill_the_form(client):
    start = get(client, "/").text
    known = page.examples()
    assert len(known) >= 5
    for example in known:
        assert f"/?example={example.slug}" in start
        assert example.body.split("\n")[0][:30] in get(client, f"/?example={example.slug}").text


def test_hostile_text_is_shown_as_text(client, submit):
    path = submit("<script>alert(1)</script>", "<img src=x onerror=alert(1)>")
    shown = get(client, path)
    assert "<script>alert" not in shown.text
    assert "<img src=x" not in shown.text
    policy = shown.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_other_sites_cannot_post_or_read(client):
    assert client.get("/", base_url="http://attacker.example").status_code == 403
    post = client.post("/issues", data={"title": "x"}, base_url="http://127.0.0.1", headers={"Sec-Fetch-Site": "cross-site"})
    assert post.status_code == 403


@pytest.mark.parametrize("path", ["/octo/engine/issues/999999", "/octo/engine/issues/x", "/octo/engine/issues/999999/news"])
def test_what_is_not_there_is_404(client, path):
    assert get(client, path).status_code == 404


def test_an_issue_without_title_is_refused(client):
    assert client.post("/issues", data={"title": " ", "body": "x"}, base_url="http://127.0.0.1").status_code == 400


def test_it_is_served_on_loopback_alone(demo):
    with page.serve(demo) as address, urllib.request.urlopen(address, timeout=10) as answer:
        assert address.startswith("http://127.0.0.1:")
        assert answer.status == 200


def test_a_delivery_sent_again_adds_no_comment(demo, known_issue, tmp_path):
    from typer.testing import CliRunner

    from bot.cli.app import load_commands

    issue = demo.stand_in.open_issue("octo/engine", "The drive stops", known_issue)
    assert demo.wait(issue.number, 20) == "answered"
    delivery = next(d for d in demo.stand_in.deliveries if d.payload.get("issue", {}).get("number") == issue.number)
    payload = tmp_path / "payload.json"
    payload.write_bytes(delivery.body)
    settings = {"EXPLAINBOT_WEBHOOK_SECRETS": demo.stand_in.secret.decode()}
    hook = f"{demo.server}/hooks/github"
    for id in (delivery.guid, str(uuid.uuid4())):
        arguments = ["replay", str(payload), "--event", "issues", "--url", hook, "--delivery", id]
        result = CliRunner().invoke(load_commands(), arguments, env=settings)
        assert result.exit_code == 0, result.output
        assert result.stdout.startswith("202")
    assert demo.wait(issue.number, 20) == "answered"
    assert len(demo.answers(issue.number)) == 1
    settings["EXPLAINBOT_WEBHOOK_SECRETS"] = "x" * 32
    refused = CliRunner().invoke(load_commands(), ["replay", str(payload), "--url", hook], env=settings)
    assert refused.exit_code == 1


def test_replay_without_sending_prints_the_effects(demo, demo_settings, known_issue, tmp_path):
    import json

    from typer.testing import CliRunner

    from bot.cli.app import load_commands

    issue = demo.stand_in.open_issue("octo/engine", "The drive stops", known_issue)
    assert demo.wait(issue.number, 20) == "answered"
    delivery = next(d for d in demo.stand_in.deliveries if d.payload.get("issue", {}).get("number") == issue.number)
    payload = tmp_path / "payload.json"
    payload.write_bytes(delivery.body)
    settings = {
        "EXPLAINBOT_GITHUB_URL": demo.stand_in.url,
        "EXPLAINBOT_TOKEN": demo.stand_in.token("octocat"),
        "EXPLAINBOT_CACHE_DIR": str(demo_settings.cache_dir),
        "EXPLAINBOT_ERRORS_DIR": str(demo_settings.errors_dir),
    }
    result = CliRunner().invoke(load_commands(), ["replay", str(payload), "--dry-run"], env=settings)
    effects = json.loads(result.stdout)
    assert [effect["effect"] for effect in effects] == ["Remember", "PostAnswer"]
    assert MEANING in effects[1]["body"]
    assert len(demo.answers(issue.number)) == 1
