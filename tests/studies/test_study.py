"""One study: it resumes, it is found again, and its file holds what it is of."""

from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

import numpy as np
import pytest

import unimodal as um
from unimodal.studies import tasks
from unimodal.studies.tasks import Task

POLICIES = ("UTS", "KLUCB")
PLAYED = []  # the tasks that `Marked` settings were asked to play


@dataclass(frozen=True)
class Marked:
    """A setting of our own, whose numbers say whose they are."""

    name: str
    policies: tuple[str, ...] = POLICIES
    horizon: int = 10
    graphs: int = 2
    trials: int = 5

    def measure(self, task):
        PLAYED.append(task)
        kind = 100.0 * (1 + self.policies.index(task.policy))
        return np.array([[kind + 10 * task.graph + n, -n] for n in range(task.first, task.last)])

    def seconds_a_trial(self, policy):
        return 2.0  # two trials per task

    def to_data(self):
        return asdict(self)

    @classmethod
    def from_data(cls, data):
        return cls(**{**data, "policies": tuple(data["policies"])})


class Numbers(um.studies.EveryTrial):
    columns = ("value", "minus")


STUDY = um.studies.Study([Marked("one"), Marked("two")], Numbers)


def test_every_trial_is_kept_in_its_place(tmp_path):
    found = STUDY.run(tmp_path)
    assert [(one.setting.name, one.policy) for one in found.all] == [
        (name, policy) for name in ("one", "two") for policy in POLICIES
    ]
    one = found.get(Marked("two"), "KLUCB")
    assert one["value"].tolist() == [[200, 201, 202, 203, 204], [210, 211, 212, 213, 214]]
    assert one["minus"].tolist() == [[0, -1, -2, -3, -4]] * 2
    assert found.table()["value"].to_list() == [107, 207, 107, 207]
    assert list(found.of(Marked("one"))) == list(POLICIES)
    assert list(found.complete()) == list(STUDY.settings)


def test_an_interrupted_study_resumes(tmp_path):
    """Stopped after three tasks, it plays only the others; a third run plays nothing."""

    @contextmanager
    def stopping(work, store):
        told = []

        def tell(task):
            told.append(task)
            if len(told) == 3:
                raise KeyboardInterrupt

        yield tell

    with pytest.raises(KeyboardInterrupt):
        STUDY.run(tmp_path, watch=stopping)
    before = STUDY.finished(tmp_path)
    assert len(before.all) < 4
    kept = um.studies.Study(STUDY.settings, Numbers)
    PLAYED.clear()
    found = kept.run(tmp_path)
    assert len(PLAYED) <= 24 - 3 and len(found.all) == 4
    PLAYED.clear()
    again = kept.run(tmp_path)
    assert PLAYED == []
    assert all(
        (one["value"] == two["value"]).all() for one, two in zip(found.all, again.all, strict=True)
    )


def test_a_study_that_lacks_a_policy_is_not_complete_there(tmp_path):
    um.studies.Study([Marked("one"), Marked("two", ("UTS",))], Numbers).run(tmp_path)
    found = STUDY.finished(tmp_path)
    assert list(found.complete()) == [Marked("one")]
    assert repr(found).startswith("Outcomes(1 of 2 settings complete, made with unimodal ")
    assert list(found.of(Marked("two"))) == ["UTS"]


def test_a_file_holds_the_settings_and_the_numbers(tmp_path):
    found = STUDY.run(tmp_path)
    path = found.save(tmp_path / "data.parquet")
    again = um.studies.load(path, Marked, Numbers)
    assert again.settings == tuple(STUDY.settings) and again.made_with == found.made_with
    assert um.__version__ in again.made_with and tasks.law_hash() in again.made_with
    for one, two in zip(found.all, again.all, strict=True):
        assert (one.setting, one.policy) == (two.setting, two.policy)
        assert (one["value"] == two["value"]).all() and (one["minus"] == two["minus"]).all()
    assert path.read_bytes() == again.save(tmp_path / "again.parquet").read_bytes()


def test_a_file_of_another_study_gets_a_sentence(tmp_path):
    path = STUDY.run(tmp_path).save(tmp_path / "data.parquet")
    with pytest.raises(um.UnimodalError, match="must be the saved outcomes of a study"):
        um.studies.load(path)


def test_the_file_that_defines_a_setting_is_part_of_the_key(monkeypatch):
    """It decides the problems and what is measured, so an edit there makes the task anew."""
    task = Task(Marked("one"), "UTS", 0, 0, 2)
    key = task.key("law")
    assert key == Task(replace(Marked("one"), trials=9), "UTS", 0, 0, 2).key("law")
    monkeypatch.setattr(tasks, "_source_of", lambda kind: "edited")
    assert task.key("law") != key


def test_the_default_outcome_has_the_regrets_of_simulate(tmp_path):
    setting = um.studies.Setting("line", "line:9", "smooth", ("UTS",), 500, 2, 3)
    one = um.studies.Study([setting]).run(tmp_path).get(setting, "UTS")
    for graph in range(2):
        result = um.simulate(
            setting.problem(graph),
            um.UTS(),
            horizon=500,
            trials=3,
            seed=setting.seed(graph),
            checkpoints=61,
        )
        assert np.allclose(one.final[graph], result["UTS"].regret[:, -1], rtol=1e-6)
    assert one.curve.shape == one.rounds.shape and one.rounds[-1] == 500
    assert one.curve[-1] == pytest.approx(one.final.mean(), rel=1e-6) and one.milliseconds > 0
