"""A copy of what was looked up stays what it was."""

from unimodal.lookup.cache import LookUpCache


def test_a_copy_of_the_answers_stays_what_it_was():
    cache = LookUpCache(8, lambda label: True, lambda other, label: None)
    cache.learn("a", ("b",))
    twin = cache.copied()
    cache.learn("b", ("a",))
    cache.learn("c", None)
    assert twin.counts["look_ups"] == 1 and twin.counts["failed"] == 0
    assert cache.counts["look_ups"] == 3 and list(dict(twin.kept())) == ["a"]
