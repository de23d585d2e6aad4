"""Agents in production: decisions and rewards that survive crashes, in an SQLite file."""

from unimodal.campaign.campaign import Campaign
from unimodal.campaign.reading import Reading, look, recorded
from unimodal.campaign.verifying import Verdict, sentence, verify

__all__ = ["Campaign", "Reading", "Verdict", "look", "recorded", "sentence", "verify"]
