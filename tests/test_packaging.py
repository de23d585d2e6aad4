"""What goes out: the README of the package, how to cite it, and the workflows of GitHub."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

import unimodal as um

ROOT = Path(__file__).parents[1]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def package_safe():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.package_safe


TEXT = "[a](pages/a.md#b) ![c d](x.png) [e](https://example.org/e) [f](#g)"


def test_a_package_has_no_relative_links(package_safe):
    assert package_safe(TEXT) == "a *Picture: c d.* [e](https://example.org/e) [f](#g)"
    assert not re.search(r"\]\((?!https?:|#)", package_safe(text_of("README.md")))


def test_with_an_address_its_links_are_absolute(package_safe):
    safe = package_safe(TEXT, "https://example.org/u")
    assert "[a](https://example.org/u/blob/main/pages/a.md#b)" in safe
    assert "![c d](https://example.org/u/raw/main/x.png)" in safe
    assert "[e](https://example.org/e)" in safe


def test_the_version_is_the_same_everywhere():
    assert yaml.safe_load(text_of("CITATION.cff"))["version"] == um.__version__
    assert f"version = {{{um.__version__}}}" in text_of("docs/citing.md")
    assert f"unimodal-{um.__version__}-py3" in text_of("README.md")
    assert f"## [{um.__version__}]" in text_of("CHANGELOG.md")


def test_workflows_name_what_is_there():
    for path in (ROOT / ".github").rglob("*.yml"):
        assert yaml.safe_load(path.read_text(encoding="utf-8"))
    jobs = yaml.safe_load(text_of(".github/workflows/test.yml"))["jobs"]
    steps = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert ".ci/run" in steps
    for word in re.findall(r"(?:tests|src|\.ci)/[\w/]+", " ".join(steps)):
        assert (ROOT / word).exists(), word
