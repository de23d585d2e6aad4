"""What requests and answers look like; the descriptions and examples are those of /openapi.json."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from unimodal.service.limits import (
    LARGEST,
    LONGEST_LABEL,
    LONGEST_TEXT,
    MOST_DECISIONS,
    MOST_LABELS,
    MOST_REWARDS,
    NAME,
)

_Text = Annotated[StrictStr, Field(max_length=LONGEST_LABEL)]
_Whole = Annotated[StrictInt, Field(ge=-LARGEST, le=LARGEST)]
_Real = Annotated[StrictFloat, Field(allow_inf_nan=False)]
_Scalar = _Text | _Whole | _Real
Label = Annotated[
    _Scalar | Annotated[list[_Scalar], Field(min_length=1, max_length=16)],
    Field(description="What an arm is called, as in the graph: text, a number, or a list of them"),
]
Name = Annotated[str, Field(pattern=NAME, description="Of a campaign", examples=["prices"])]
Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]
DecisionId = Annotated[StrictInt, Field(ge=1, le=LARGEST, examples=[17])]
Edge = Annotated[list[Label], Field(min_length=2, max_length=2, examples=[["9.90", "12.90"]])]
Labels = Annotated[list[Label], Field(min_length=1, max_length=MOST_LABELS, fail_fast=True)]


class Body(BaseModel):
    """A request: nothing that is not named here."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Edges(Body):
    """A graph as pairs of labels."""

    edges: Annotated[list[Edge], Field(min_length=1, fail_fast=True)]
    labels: Annotated[
        Annotated[list[Label], Field(fail_fast=True)] | None,
        Field(description="All arms, where their order is to be another"),
    ] = None


class Generator(Body):
    """A graph by the text of a generator, as on the command line: `line:17`, `grid:4x5`."""

    generator: Annotated[str, Field(max_length=LONGEST_TEXT, examples=["line:17"])]
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0


class EdgeFile(Body):
    """A graph as the text of a CSV file with one edge per line."""

    csv: Annotated[str, Field(min_length=1, examples=["ann,bob\nbob,cy\n"])]


class Past(Body):
    """Rewards from before: rows [arm, reward] or [arm, count, total]."""

    rows: Annotated[
        list[Annotated[list[Label], Field(min_length=2, max_length=3)]],
        Field(max_length=100_000, fail_fast=True),
    ]
    weight: Annotated[Number, Field(ge=0, le=1)] = 1.0
    certify: bool = False
    one_peak: bool | None = None


class NewCampaign(Body):
    """What a campaign is about."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "prices",
                    "graph": {"edges": [["9.90", "12.90"], ["12.90", "14.90"]]},
                    "policy": "peakuts",
                    "family": "bernoulli",
                    "scaled_by": "label",
                    "time_to_live": 86400,
                }
            ]
        }
    )

    name: Name
    graph: Edges | Generator | EdgeFile
    policy: Annotated[str, Field(max_length=LONGEST_TEXT, examples=["peakuts", "osub(c=0)"])] = (
        "peakuts"
    )
    family: Annotated[str, Field(max_length=LONGEST_TEXT, examples=["gaussian:0.5"])] = "bernoulli"
    scaled_by: Annotated[
        Literal["label"] | Number | Annotated[list[Edge], Field(fail_fast=True)] | None,
        Field(description="What a reward of each arm is worth: its label, a number, or pairs"),
    ] = None
    seed: Annotated[int, Field(ge=0, le=LARGEST)] | None = None
    time_to_live: Annotated[Number, Field(gt=0, description="Seconds")] | None = None
    on_expiry: Literal["drop", "zero"] = "drop"
    data: Past | None = None


class CapBody(Body):
    """At most this share of the last decisions for an arm that does not lead."""

    share: Annotated[Number, Field(gt=0, le=1)]
    over: Annotated[int, Field(ge=1, le=10**6)] = 100


class Change(Body):
    """What may be changed of a campaign; what is left out stays."""

    cap: CapBody | None = None
    ended: Annotated[
        bool, Field(description="An ended campaign decides no more; it still takes rewards")
    ] = False


class DecisionsBody(Body):
    """How many decisions are wanted."""

    n: Annotated[int, Field(ge=1, le=MOST_DECISIONS)] = 1
    propensity: Annotated[bool, Field(description="Tell the probability of each choice")] = False


class RewardBody(Body):
    """The reward of one decision."""

    decision: DecisionId
    reward: Annotated[Number, Field(examples=[1.0])]


class RewardsBody(Body):
    """The rewards of several decisions; each is answered by itself by default."""

    rewards: Annotated[
        list[RewardBody], Field(min_length=1, max_length=MOST_REWARDS, fail_fast=True)
    ]
    all_or_none: Annotated[
        bool, Field(description="Refuse all of them with a problem if one is refused")
    ] = False


class TellBody(Body):
    """A reward of an arm that was not decided here."""

    arm: Label
    reward: Number


class TellsBody(Body):
    """Rewards of arms that were not decided here: all of them count, or none."""

    rewards: Annotated[list[TellBody], Field(min_length=1, max_length=MOST_REWARDS, fail_fast=True)]


class ArmsBody(Body):
    """The labels of some arms."""

    arms: Labels


class InsertBody(Body):
    """A new arm between two that are joined."""

    arm: Label
    between: Edge


class EdgesBody(Body):
    """Edges between arms."""

    edges: Annotated[list[Edge], Field(min_length=1, max_length=MOST_LABELS, fail_fast=True)]


class SessionBody(Body):
    """A token, to be exchanged for a cookie."""

    token: Annotated[str, Field(max_length=200)]


# Answers.


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    type: Annotated[str, Field(examples=["urn:unimodal:error:UnknownDecision"])]
    title: str
    status: int
    detail: Annotated[str, Field(examples=["there is no decision 7: the agent made none yet."])]


class DecisionAnswer(BaseModel):
    """An arm to pull now, and the id under which its reward is to be told."""

    id: int
    arm: Any
    reason: Annotated[str, Field(examples=["contest"])]
    leader: Any
    near: int
    time: float
    propensity: float | None


class DecisionsAnswer(BaseModel):
    """The decisions, in their order."""

    decisions: list[DecisionAnswer]


class RewardAnswer(BaseModel):
    """What became of one reward: counted now, known already, or refused with a problem."""

    decision: int
    outcome: Literal["counted", "known", "refused"]
    problem: Problem | None = None


class RewardsAnswer(BaseModel):
    """What became of each reward, in their order."""

    rewards: list[RewardAnswer]


class GraphAnswer(BaseModel):
    """The graph in short."""

    kind: str
    arms: int
    edges: int | None


class CapAnswer(BaseModel):
    """The cap that is in force."""

    share: float
    over: int


class CampaignAnswer(BaseModel):
    """A campaign as it is now."""

    name: str
    policy: str
    family: str
    graph: GraphAnswer
    leader: Any
    decisions: int
    outstanding: int
    round: int
    paused: list[Any]
    cap: CapAnswer | None
    time_to_live: float | None
    on_expiry: str
    ended: bool
    reports: list[str]


class ListedCampaign(BaseModel):
    """A campaign in the list."""

    name: str
    ended: bool


class CampaignsAnswer(BaseModel):
    """Campaigns in the order of their names; `next` is the `after` of the next page."""

    campaigns: list[ListedCampaign]
    next: str | None


class ArmAnswer(BaseModel):
    """What is known of an arm; `low` to `high` has its mean with probability 95 %."""

    arm: Any
    pulls: float
    mean: float | None
    low: float | None
    high: float | None
    leads: float
    past: float | None
    paused: bool


class ArmsAnswer(BaseModel):
    """The arms that have led or have rewards, the most pulled first."""

    arms: list[ArmAnswer]


class DoneAnswer(BaseModel):
    """The change is kept."""

    done: Literal[True] = True


class ExpiredAnswer(BaseModel):
    """How many decisions were closed."""

    expired: int


class Readings(BaseModel):
    """Further fields are those of the object of the same name in Python."""

    model_config = ConfigDict(extra="allow")


class CertificateAnswer(Readings):
    """Which arm is the peak, with which confidence; or what cannot be told yet."""

    leader: Any
    peak: Any
    certified: bool
    confidence: float
    sentence: str
    obstacle: str | None = None


class ExplanationAnswer(Readings):
    """Why a decision fell on its arm."""

    id: int
    arm: Any
    because: str


class AlarmAnswer(Readings):
    """Something that the owner should look at."""

    kind: str
    sentence: str


class AlarmsAnswer(BaseModel):
    """What is wrong; an empty list if nothing shows."""

    alarms: list[AlarmAnswer]


class LogStartAnswer(BaseModel):
    """The event after which a compacted log begins; decisions made by then, and the open ones."""

    seq: int
    made: int
    open: list[tuple[int, str]]


class EventsAnswer(BaseModel):
    """Events in their order; `next` is the `after` of the next page, null at the end.

    `start` is what was before the first event, where these are in an archive; null elsewhere.
    """

    events: list[dict[str, Any]]
    next: int | None
    start: LogStartAnswer | None = None


class SessionAnswer(BaseModel):
    """Who has logged in; `csrf` goes into the header X-CSRF-Token of every change."""

    name: str
    roles: list[str]
    csrf: str
    expires: float


class HealthAnswer(BaseModel):
    """The service answers."""

    status: str
