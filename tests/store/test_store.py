from __future__ import annotations

import subprocess
import sys
import threading

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from bot import store
from bot.store.tables import answers, metadata


def test_migrations_make_what_the_tables_say(database_url: str) -> None:
    engine = store.open(database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "explainbot_version", "render_as_batch": True})
        assert compare_metadata(context, metadata) == []


def test_processes_that_start_at_once_all_find_the_tables(database_url: str) -> None:
    code = "import sys; from bot import store; e = store.open(sys.argv[1]); print(store.intend(e, 1, 2, 'auto', 'j'))"
    running = [subprocess.Popen([sys.executable, "-c", code, database_url], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = [process.communicate()[0].strip() for process in running]
    assert [process.returncode for process in running] == [0] * 4
    assert sorted(said) == ["False", "False", "False", "True"]


def test_one_of_many_threads_may_intend(database_url: str) -> None:
    engine = store.open(database_url)
    won: list[bool] = []
    barrier = threading.Barrier(12)

    def race() -> None:
        barrier.wait()
        won.append(store.intend(engine, 1, 7, "auto", "job"))

    threads = [threading.Thread(target=race) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 11 + [True]


def test_a_change_of_an_answer_is_kept(database_url: str) -> None:
    engine = store.open(database_url)
    store.intend(engine, 2**40, 3, "command:9", "job", now=5.0)
    answer = store.find_answer(engine, 2**40, 3, "command:9")
    assert answer is not None
    store.note(engine, answer, now=6.0, state="posted", comment_id=2**41, attempts=0)
    changed = store.find_job(engine, "job")
    assert changed is not None
    assert (changed.state, changed.comment_id, changed.created_at, changed.updated_at) == ("posted", 2**41, 5.0, 6.0)
    assert store.find_answer(engine, 2**40, 3, "auto") is None
    assert [answer.purpose for answer in store.answers_on(engine, 2**40, 3)] == ["command:9"]


def test_writes_keep_their_interval_and_a_hold(database_url: str) -> None:
    engine = store.open(database_url)
    assert store.reserve(engine, "a", 3.0, now=100.0) == 0.0
    assert store.reserve(engine, "a", 3.0, now=101.0) == pytest.approx(2.0)
    assert store.reserve(engine, "b", 3.0, now=101.0) == 0.0
    store.hold(engine, "a", 60.0, now=101.0)
    store.hold(engine, "a", 5.0, now=102.0)
    assert store.reserve(engine, "a", 3.0, now=150.0) == pytest.approx(11.0)
    assert store.reserve(engine, "a", 3.0, now=161.0) == 0.0


def test_a_clock_that_was_put_back_does_not_hold_for_ever(database_url: str) -> None:
    engine = store.open(database_url)
    store.hold(engine, "a", 60.0, now=1_000_000.0)
    assert store.reserve(engine, "a", 3.0, now=1_000.0) == 0.0


def test_sightings_follow_the_last_state_of_the_issue(database_url: str) -> None:
    engine = store.open(database_url)
    first = store.Sighting("a" * 16, "ValueError", "x {y}", "answer")
    second = store.Sighting("b" * 16, "RuntimeError", "z", "cautious")
    store.remember(engine, "o/r", 1, 10, [first, second])
    store.remember(engine, "o/r", 1, 11, [first])
    store.remember(engine, "o/r", 2, 12, [first])
    assert store.issues_with(engine, 1, "a" * 16) == (10, 11)
    store.remember(engine, "o/r", 1, 10, [second])
    assert store.issues_with(engine, 1, "a" * 16) == (11,)
    assert store.issues_with(engine, 1, "b" * 16) == (10,)
    store.forget_sightings(engine, 1, 10)
    assert store.issues_with(engine, 1, "b" * 16) == ()


def test_an_opinion_of_one_comment_counts_once(database_url: str) -> None:
    engine = store.open(database_url)
    for _ in range(2):
        store.judge(engine, 1, 10, 77, "wrong", "a" * 16 + " " + "b" * 16)
    assert store.judged(engine, "b" * 16) == ((1, 10, "wrong"),)
    assert store.judged(engine, "c" * 16) == ()


def test_a_wrong_configuration_leaves_the_last_good_one(database_url: str) -> None:
    engine = store.open(database_url)
    assert store.last_config(engine, 1) is None
    store.remember_config(engine, 1, "explain: {answers: reviewed}")
    store.remember_config(engine, 1, "explain: {answers: nonsense}", "explain.answers: no such value")
    assert store.last_config(engine, 1) == ("explain: {answers: reviewed}", "explain.answers: no such value")
    store.remember_config(engine, 1, None)
    assert store.last_config(engine, 1) == (None, "")


def test_sqlite_waits_and_keeps_a_log(tmp_path: object) -> None:
    engine = store.open(f"sqlite:///{tmp_path}/folder/file.sqlite")
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() >= 5000
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_sqlite_takes_the_write_lock_at_the_start_of_a_write(tmp_path: object) -> None:
    url = f"sqlite:///{tmp_path}/file.sqlite"
    engine = store.open(url)
    impatient = sa.create_engine(url, connect_args={"timeout": 0, "isolation_level": None})
    with store.write(engine), impatient.connect() as other, pytest.raises(sa.exc.OperationalError, match="locked"):
        other.exec_driver_sql("BEGIN IMMEDIATE")
    with engine.connect() as reading, impatient.connect() as other:
        reading.execute(sa.select(answers)).all()
        other.exec_driver_sql("BEGIN IMMEDIATE")
        other.exec_driver_sql("ROLLBACK")


def test_a_bucket_empties_and_fills_again(database_url: str) -> None:
    engine = store.open(database_url)
    assert [store.take(engine, "a", 3, 60.0, now=100.0) for _ in range(4)] == [True, True, True, False]
    assert store.take(engine, "b", 3, 60.0, now=100.0)
    assert not store.take(engine, "a", 3, 60.0, now=119.0)
    assert store.take(engine, "a", 3, 60.0, now=121.0)
    assert not store.take(engine, "a", 3, 60.0, now=50.0)  # a clock put back
    assert [store.take(engine, "a", 3, 60.0, now=9999.0) for _ in range(4)] == [True, True, True, False]


def test_room_in_the_hour(database_url: str) -> None:
    engine = store.open(database_url)
    for at in (1000.0, 1010.0, 1020.0):
        store.count_comment(engine, 1, int(at), 5, "Anna", "p", now=at)
    store.count_comment(engine, 1, 1020, 5, "anna", "p", now=2000.0)  # the same comment again
    store.count_comment(engine, 2, 7, 5, "anna", "p", now=1030.0)
    assert store.seconds_to_room(engine, "repository_id", 1, 4, now=1100.0) == 0.0
    assert store.seconds_to_room(engine, "repository_id", 1, 3, now=1100.0) == pytest.approx(3500.0)
    assert store.seconds_to_room(engine, "partition", "p", 3, now=1100.0) == pytest.approx(3510.0)
    assert store.seconds_to_room(engine, "repository_id", 1, 3, now=4700.0) == 0.0
    assert store.comments_on(engine, 1, 5, since=1005.0) == 2
    assert store.comments_because_of(engine, "ANNA", since=0.0) == 4
    store.forget_counts(engine, 1015.0)
    assert store.comments_because_of(engine, "anna", since=0.0) == 2


def test_a_sweep_is_given_to_one_caller_when_it_is_due(database_url: str) -> None:
    engine = store.open(database_url)
    assert store.claim(engine, "missed", 600.0, now=1000.0) is None  # the first only notes the time
    assert store.claim(engine, "missed", 600.0, now=1599.0) is None
    won: list[float | None] = []
    threads = [threading.Thread(target=lambda: won.append(store.claim(engine, "missed", 600.0, now=1700.0))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won, key=str) == [1000.0, *[None] * 7]
    assert store.claim(engine, "missed", 600.0, now=900.0) == 900.0  # a clock put back does not stop it


def test_a_silent_worker_is_given_to_one_other(database_url: str) -> None:
    engine = store.open(database_url)
    for name, at in (("a", 100.0), ("b", 100.0), ("c", 250.0)):
        store.beat(engine, name, now=at)
    assert store.take_silent(engine, "a", before=200.0) == ("b",)
    assert store.take_silent(engine, "c", before=200.0) == ("a",)
    assert store.take_silent(engine, "c", before=200.0) == ()
    store.leave(engine, "c")
    assert store.take_silent(engine, "d", before=200.0) == ("c",)


def test_the_last_opinion_of_a_comment_counts(database_url: str) -> None:
    engine = store.open(database_url)
    for comment, opinion in ((1, "wrong"), (2, "wrong"), (2, "right"), (3, "right")):
        store.judge(engine, 9, 4, comment, opinion, "aaaa bbbb")
    assert store.tally(engine, "bbbb") == {"wrong": 1, "right": 2}
    assert store.tally(engine, "cccc") == {}


def test_a_correction_takes_the_place_of_the_one_before(database_url: str) -> None:
    engine = store.open(database_url)
    assert store.corrected(engine, 9, 4) == ""
    store.correct(engine, 9, 4, "aaaa", 1)
    store.correct(engine, 9, 4, "bbbb", 2)
    assert store.corrected(engine, 9, 4) == "bbbb"
    assert store.corrected(engine, 9, 5) == ""
