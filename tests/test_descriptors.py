"""The limit of descriptors: it is raised, counted, and named where it is the cause."""

import contextlib
import os

import pytest

import unimodal as um
from unimodal import descriptors
from unimodal.campaigns import verify
from unimodal.errors import StoreError, TooManyOpenFiles

resource = pytest.importorskip("resource")


@pytest.fixture(scope="module", autouse=True)
def imported(tmp_path_factory):
    """What a first campaign and a first look import and compile takes descriptors, too."""
    file = tmp_path_factory.mktemp("first") / "prices.db"
    with um.Campaign.open(file, um.UTS(), um.graphs.line(3)) as campaign:
        campaign.decide()
        um.campaigns.look(file)


@contextlib.contextmanager
def only(more):
    """So many descriptors besides those that are open now."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    kept = [os.open(os.devnull, os.O_RDONLY) for _ in range(8)]  # the lowest are reused first
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(kept) + 1, before[1]))
        with contextlib.suppress(OSError):  # there may be gaps below
            while True:
                kept.append(os.dup(kept[0]))
        for _ in range(more):
            os.close(kept.pop())
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for number in kept:
            os.close(number)


def test_they_are_counted():
    before = descriptors.left()
    with open(os.devnull):
        assert descriptors.left() == before - 1
    for more in (0, 1, 5):
        with only(more):
            assert descriptors.left() == more


def test_the_soft_limit_is_raised_to_the_hard_one():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        assert descriptors.limit() == 256
        assert descriptors.raise_limit() == descriptors.limit() == min(hard, 2**16)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[1] == hard
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("is_new", [True, False])
def test_a_campaign_that_gets_no_descriptor_names_the_cause(tmp_path, is_new):
    """Not the folder's rights, which are as they should be; and it can be opened afterwards."""
    file = tmp_path / "prices.db"
    if not is_new:
        um.Campaign.open(file, um.UTS(), um.graphs.line(3)).close()
    for more in range(4):
        with only(more), pytest.raises(TooManyOpenFiles, match=r"ulimit -n"):
            um.Campaign.open(file, um.UTS(), um.graphs.line(3))
    with only(8), um.Campaign.open(file, um.UTS(), um.graphs.line(3)) as campaign:
        assert campaign.decide().id == 1
    assert bool(verify(file))


@pytest.mark.parametrize("more", [0, 1])
def test_a_reader_that_gets_no_descriptor_names_the_cause(tmp_path, more):
    file = tmp_path / "prices.db"
    with um.Campaign.open(file, um.UTS(), um.graphs.line(3)) as campaign:
        campaign.decide()
        with only(more), pytest.raises(TooManyOpenFiles):
            um.campaigns.look(file)
        assert um.campaigns.look(file).agent.book.made == 1
        assert campaign.decide().id == 2


def test_a_file_that_cannot_be_written_is_told_as_before(tmp_path):
    with pytest.raises(StoreError, match="check the folder") as refused:
        um.Campaign.open(tmp_path / "nowhere" / "prices.db", um.UTS(), um.graphs.line(3))
    assert not isinstance(refused.value, TooManyOpenFiles)
