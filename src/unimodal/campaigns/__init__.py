"""Agents in production: decisions and rewards that survive crashes, in an SQLite file."""

from unimodal.agents.explanation import Competitor, Explanation
from unimodal.campaigns.campaign import Campaign
from unimodal.campaigns.explain import explain
from unimodal.campaigns.reading import Reading, look, recorded
from unimodal.campaigns.upkeep.compact import Compacted, compact
from unimodal.campaigns.upkeep.copy import Copied, copy
from unimodal.campaigns.upkeep.erase import Erased, erase
from unimodal.campaigns.upkeep.export import Exported, by_decision, export
from unimodal.campaigns.upkeep.migrate import Migrated, migrate
from unimodal.campaigns.upkeep.restore import Restored, restore
from unimodal.campaigns.upkeep.verify import Verdict, sentence, verify

__all__ = [
    "Campaign",
    "Compacted",
    "Competitor",
    "Copied",
    "Erased",
    "Explanation",
    "Exported",
    "Migrated",
    "Reading",
    "Restored",
    "Verdict",
    "by_decision",
    "compact",
    "copy",
    "erase",
    "explain",
    "export",
    "look",
    "migrate",
    "recorded",
    "restore",
    "sentence",
    "verify",
]
