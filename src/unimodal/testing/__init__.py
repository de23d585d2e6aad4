"""The conformance suites: what every policy, family and store must do, ours and yours.

In a test file of your own:

    import pytest, unimodal as um
    from unimodal.testing import CHECKS, FAMILY_CHECKS, STORE_CHECKS
    from mine import Geometric, Greedy, memory

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_greedy(check):
        check(Greedy())

    @pytest.mark.parametrize("check", FAMILY_CHECKS, ids=lambda check: check.__name__)
    def test_geometric(check):
        check(Geometric())

    @pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
    def test_memory(check):
        check(memory, memory.new_place)

The checks of a family that are statistical have a fixed seed; with other seeds, a family without
fault would fail one of them about once in 100,000 runs, `best_arm_is_found` and `learns` aside.
"""

from unimodal.testing.families import FAMILY_CHECKS, check_family
from unimodal.testing.policies import CHECKS, check_policy
from unimodal.testing.stores import STORE_CHECKS, check_store

__all__ = [
    "CHECKS",
    "FAMILY_CHECKS",
    "STORE_CHECKS",
    "check_family",
    "check_policy",
    "check_store",
]
