"""A comparison: what `unimodal compare` found, by setting and policy."""

from __future__ import annotations

from pathlib import Path

from unimodal import files
from unimodal.studies import study
from unimodal.studies.outcome import Regrets

WHAT = "the comparison.parquet of a comparison"

Comparison = study.Outcomes[Regrets]


def load(path: Path) -> Comparison:
    """The comparison in a file, in which every setting is complete."""
    found: Comparison = study.load(path, expected=WHAT)
    with files.reading(path, WHAT):
        if len(found.complete()) < len(found.settings):
            raise ValueError("other policies than the settings name")
    return found


def finished(found: Comparison) -> Comparison:
    """The same without the settings in which a policy is missing."""
    complete = found.complete()
    kept = [one for by_policy in complete.values() for one in by_policy.values()]
    return study.Outcomes(kept, list(complete), found.made_with)
