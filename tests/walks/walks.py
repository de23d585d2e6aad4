"""The calls of a decision, from the caller to the disk and back, for docs/architecture.md.

    python -m tests.walks.walks     # writes the two walks into the page

Every call of a function of ours is one hop, in whatever thread.
"""

import contextlib
import sys
import tempfile
import threading
import time
from collections import Counter
from itertools import groupby
from pathlib import Path

import httpx

import unimodal as um
from tests.service.running_server import running
from unimodal.service.app import create_app

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
SOURCE = str(Path(um.__file__).parent) + "/"
KEEPER = "unimodal-keeper"  # a thread that looks after campaigns now and then
PRICES = ["9.90", "11.90", "12.90", "14.90", "16.90"]


@contextlib.contextmanager
def hops():
    """The calls within the package that are made meanwhile: file and function."""
    found = []

    def note(frame, event, _):
        is_beside = threading.current_thread().name == KEEPER
        if event == "call" and not is_beside and frame.f_code.co_filename.startswith(SOURCE):
            name = frame.f_code.co_qualname.replace(".<locals>", "")
            if "<" not in name:  # a loop of the function that was called
                found.append((frame.f_code.co_filename.removeprefix(SOURCE), name))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def by_campaign():
    """The walk of `Campaign.decide`, which is always the same."""
    folder = tempfile.mkdtemp()
    with um.Campaign.open(f"{folder}/a.db", um.PeakUTS(), um.graphs.line(PRICES)) as campaign:
        for number in range(30):
            campaign.reward(campaign.decide().id, float(number % 2))
        with hops() as found:
            campaign.decide()
    return [found]


def by_http():
    """The walks of decisions that are asked for over HTTP: threads take turns as they like."""
    folder = Path(tempfile.mkdtemp())
    um.Campaign.open(folder / "a.db", um.PeakUTS(), um.graphs.line(PRICES)).close()
    path = "/v1/campaigns/a/decisions"
    with contextlib.ExitStack() as stack:
        found = stack.enter_context(hops())  # before there are threads
        address = stack.enter_context(running(create_app(folder)))
        client = stack.enter_context(httpx.Client(base_url=address))
        taken = []
        for _ in range(45):
            begin = len(found)
            assert client.post(path, json={}).status_code == 200
            time.sleep(0.02)  # until the server has noted its answer
            taken.append(found[begin:])
    first = ("service/http/middleware.py", "RequestMiddleware.__call__")
    return [walk[walk.index(first) :] for walk in taken[30:] if first in walk]


def most_often(taken):
    """The walk that was taken most often."""
    ((hops, _),) = Counter(tuple(sorted(walk)) for walk in taken).most_common(1)
    return next(walk for walk in taken if tuple(sorted(walk)) == hops)


def drawn(walk):
    """A walk as lines: a file, and what is called in it one after the other."""
    return "\n".join(
        f"{file:42}{', '.join(name for _, name in names)}"
        for file, names in groupby(walk, key=lambda hop: hop[0])
    )


def page_with(walks):
    """The page with these walks in the places of its own."""
    text = PAGE.read_text(encoding="utf-8")
    for title, taken in walks.items():
        walk = most_often(taken)
        begin = text.index(f"<!-- walk: {title} -->")
        end = text.index("<!-- end of walk -->", begin)
        files = len({file for file, _ in walk})
        block = f"{len(walk)} calls in {files} files:\n\n```text\n{drawn(walk)}\n```\n"
        text = f"{text[:begin]}<!-- walk: {title} -->\n{block}{text[end:]}"
    return text


def walks():
    """Both, by their titles."""
    return {"Campaign.decide": by_campaign(), "HTTP": by_http()}


if __name__ == "__main__":
    PAGE.write_text(page_with(walks()), encoding="utf-8")
