"""test_lifetime.py - the life of a block through realloc and across threads, exact at rate 1."""
import unittest

from mprof_test import ProgramTest, Values


def alive(count: int, size: int) -> dict[int, Values]:
    return {size: Values(count, count * size, count, count * size)}


def dead(count: int, size: int) -> dict[int, Values]:
    return {size: Values(count, count * size, 0, 0)}


class Lifetime(ProgramTest):
    """A realloc is the death of the old block and the birth of a new one where realloc was called, in place or not."""

    def setUp(self):
        super().setUp()
        self.profile = self.exact_profile("lifetime")

    def assert_site(self, site: str, expected: dict[int, Values]) -> None:
        self.assertEqual(self.profile.at(site), expected)

    def test_allocations_by_other_names_count_once(self):
        self.assert_site("site_realloc_null", alive(10, 123))
        self.assert_site("site_calloc", alive(10, 861))
        self.assert_site("site_reallocarray_null", alive(10, 861))

    def test_chains(self):
        sizes = [16 << n for n in range(17)]
        self.assert_site("site_realloc_freed", dead(1, 8) | dead(1, 16))
        self.assert_site("site_grow", {size: values for n in sizes for size, values in dead(1, n).items()} | alive(1, 1 << 20))
        self.assert_site("site_shrink", {size: values for n in sizes for size, values in dead(1, n).items()} | alive(1, 16))
        self.assert_site("site_in_place", dead(1, 1001) | alive(1, 1002))

    def test_failures_change_nothing(self):
        self.assert_site("site_failed", alive(1, 77))
        self.assert_site("site_impossible", alive(1, 33))

    def test_realloc_to_nothing_frees(self):
        self.assert_site("site_to_zero", dead(1, 55))

    def test_other_threads(self):
        self.assert_site("site_handed_over", {200: Values(20, 4000, 10, 2000)})
        self.assert_site("site_grown_elsewhere", dead(1, 300))
        self.assert_site("site_other_thread_grows", alive(1, 3000))


if __name__ == "__main__":
    unittest.main()
