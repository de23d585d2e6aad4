"""Agents in production: decisions and rewards that survive crashes, in an SQLite file."""

from unimodal.campaign.campaign import Campaign
from unimodal.campaign.verifying import Verdict, sentence, verify
from unimodal.campaign.viewing import View, look

__all__ = ["Campaign", "Verdict", "View", "look", "sentence", "verify"]
