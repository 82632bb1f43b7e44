from bot.work.turns import MOST_KNOWN, SECONDS, Turns


def test_who_puts_much_in_line_stands_behind_who_puts_in_little() -> None:
    turns = Turns()
    assert [turns.take("line", "mallory", now=0.0) for _ in range(4)] == [0, 1, 2, 3]
    assert turns.take("line", "anna", now=0.0) == 0
    assert turns.take("other line", "mallory", now=0.0) == 0


def test_what_was_put_in_long_ago_is_forgotten() -> None:
    turns = Turns()
    for _ in range(10):
        turns.take("line", "mallory", now=0.0)
    assert turns.take("line", "mallory", now=4 * SECONDS) == 6
    assert turns.take("line", "mallory", now=100 * SECONDS) == 0


def test_many_people_do_not_fill_the_memory() -> None:
    turns = Turns()
    for number in range(MOST_KNOWN):
        turns.take("line", f"user-{number}", now=0.0)
    for _ in range(9):
        turns.take("line", "user-0", now=0.0)
    turns.take("line", "one more", now=0.0)
    assert len(turns._known) <= MOST_KNOWN
