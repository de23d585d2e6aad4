"""Agents in production: decisions and rewards that survive crashes, in an SQLite file."""

from unimodal.agents.explanation import Competitor, Explanation
from unimodal.campaigns.campaign import Campaign
from unimodal.campaigns.compacting import Compacted, compact
from unimodal.campaigns.copying import Copied, copy
from unimodal.campaigns.erasing import Erased, erase
from unimodal.campaigns.explain import explain
from unimodal.campaigns.exporting import Exported, by_decision, export
from unimodal.campaigns.migrating import Migrated, migrate
from unimodal.campaigns.reading import Reading, look, recorded
from unimodal.campaigns.restoring import Restored, restore
from unimodal.campaigns.verify import Verdict, sentence, verify

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
