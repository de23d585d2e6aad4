"""Agents in production: decisions and rewards that survive crashes, in an SQLite file."""

from unimodal.campaigns.campaign import Campaign
from unimodal.campaigns.explain import explain
from unimodal.campaigns.explanation import Competitor, Explanation
from unimodal.campaigns.reading import Reading, look, recorded
from unimodal.campaigns.verify import Verdict, sentence, verify

__all__ = [
    "Campaign",
    "Competitor",
    "Explanation",
    "Reading",
    "Verdict",
    "explain",
    "look",
    "recorded",
    "sentence",
    "verify",
]
