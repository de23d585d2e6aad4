"""How many calls may wait: of one token a share, and all where there are no tokens."""

import pytest

from unimodal.errors import Overloaded
from unimodal.service.campaigns.admission import Admission
from unimodal.service.security.access import ASKING


@pytest.mark.parametrize(("token", "most"), [("", 5), ("0a", 2)])
def test_one_token_has_its_share_and_nobody_all(token, most):
    admission, asking = Admission(5, 2), ASKING.set(token)
    try:
        entered = [admission.enter() for _ in range(most)]
        with pytest.raises(Overloaded):
            admission.enter()
        admission.leave(entered[0])
        assert admission.enter() == token
    finally:
        ASKING.reset(asking)
