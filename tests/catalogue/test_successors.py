"""What a text that is gone became in the next release."""

from bot.catalogue.successors import Place, follow

LEAK = Place("old", "ValueError", "token_to_kv_pool_allocator memory leak detected! {}", "a/scheduler.py", "Scheduler.check_memory")


def test_a_text_that_became_more_general_elsewhere_is_followed() -> None:
    general = Place("new", "ValueError", "{} memory leak detected! {}", "a/invariants.py", "Checker._report_leak")
    assert follow([LEAK], [general])["old"][0] == "new"


def test_a_more_general_text_of_another_type_or_of_too_few_words_is_not_its_successor() -> None:
    other = Place("a", "RuntimeError", "{} memory leak detected! {}", "a/invariants.py", "f")
    short = Place("b", "ValueError", "{} memory {}", "a/invariants.py", "f")
    assert follow([LEAK], [other, short]) == {}


def test_a_method_that_became_a_function_of_another_file_is_followed() -> None:
    old = Place("old", "RuntimeError", "slots run out of memory. self.pool={}, reqs={}", "a/batch.py", "Batch.alloc_slots")
    new = Place("new", "RuntimeError", "slots run out of memory. pool={}, reqs={}", "b/allocation.py", "alloc_slots")
    assert follow([old], [new])["old"][0] == "new"


def test_a_text_alike_in_the_same_function_goes_before_a_more_general_one() -> None:
    general = Place("general", "ValueError", "{} memory leak detected! {}", "a/scheduler.py", "Scheduler.other")
    same = Place("same", "ValueError", "kv_pool_allocator memory leak detected! {}", "a/scheduler.py", "Scheduler.check_memory")
    assert follow([LEAK], [general, same])["old"][0] == "same"
