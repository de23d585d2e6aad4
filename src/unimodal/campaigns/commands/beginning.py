"""What stands at the beginning of a log, and what an opening writes."""

from __future__ import annotations

from unimodal.agents.past_data import Known, PastData, checked
from unimodal.campaigns.events import NewStream, Opened, PastGiven, event_of
from unimodal.campaigns.events.json_text import as_json
from unimodal.campaigns.log_questions import RowsAmong
from unimodal.campaigns.state import State
from unimodal.errors import OtherCampaign
from unimodal.graphs import Graph
from unimodal.version import __version__


def begin_with(state: State, data: PastData, path: object) -> None:
    """Begin a new log with past data; or compare them with those that the log has."""
    if state.seq == 0:
        known = _checked(state, data)
        state.agent.begin_with(data)
        label_of = state.agent.label_of
        text = as_json(known.to_log(label_of), f"labels such as {label_of(0)!r}")
        state.add(PastGiven(1, state.now(), text))
        return
    rows = state.answers[RowsAmong(1, 1)]
    first = event_of(rows[0]) if rows else None
    given = first.past_data() if isinstance(first, PastGiven) else None
    if given is None or _checked(state, given) != _checked(state, data):
        has = "none" if given is None else "other past data"
        raise OtherCampaign(
            f"{path} is another campaign: past data stand at the beginning of a log, and it has "
            f"{has}. Leave data=… out, and tell rewards that came since with `tell`."
        )


def _checked(state: State, data: PastData) -> Known:
    """Past data on the graph as it was when the log began."""
    graph = state.settings.graph if isinstance(state.settings.graph, Graph) else None
    return checked(data, state.agent.policy, graph, state.agent.family)


def note_opening(state: State) -> None:
    """Say in the log which version opened it."""
    state.add(Opened(state.seq + 1, state.now(), __version__))


def agree_on_stream(state: State) -> None:
    """Begin a new random stream for all who follow the log, if this one may be another.

    Two that differ could be the same numbers at different places, so that two decisions would be
    drawn from the same ones. The new one depends on the seed and the event only.
    """
    if state.may_differ:
        state.add(NewStream(state.seq + 1, state.now()))
        state.begin_stream(state.seq)
