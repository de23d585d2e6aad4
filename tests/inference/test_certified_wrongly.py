"""How often a wrong arm is certified: the study's problems, as many trials again, other seeds."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

from unimodal.results.statistics import share_interval

PATH = Path(__file__).parents[2] / "docs" / "studies" / "certificate" / "study.py"
_spec = importlib.util.spec_from_file_location("certificate_study", PATH)
study = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(study)


@pytest.mark.full
@pytest.mark.parametrize("setting", study.settings(), ids=lambda setting: setting.name)
def test_a_wrong_arm_is_certified_at_most_as_often_as_is_said(setting):
    """The upper end of a 99.99 % interval is below 1 - confidence."""
    task = SimpleNamespace(first=10**6, last=10**6 + study.TRIALS)
    wrong = setting.measure(task)[:, 1]
    assert share_interval(int(wrong.sum()), study.TRIALS, 0.9999)[2] < 1 - setting.confidence
