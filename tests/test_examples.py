"""The examples run as users run them, and end in a figure and a sentence with numbers."""

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?|\bnan\b|\binf\b")
# What the sentence must speak of, and how many sentences there are.
SENTENCES = {
    "advertising": (("click rate", "UTS", "TS"), 2),
    "pricing": (("visitors", "UTS", "TS"), 1),
    "radio_rates": (("throughput", "UTS", "TS"), 1),
    "tuning": (("jobs", "UTS", "TS"), 1),
}


def numbers(text):
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


# By default the two that take least.
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "pricing" else pytest.mark.full) for name in SENTENCES],
)
def test_an_example_ends_in_a_figure_and_a_sentence(name, tmp_path):
    words, sentences = SENTENCES[name]
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.strip().splitlines()
    assert len(lines) == sentences
    for line in lines:
        assert all(word in line for word in words)
        assert len(numbers(line)) >= 5
        assert all(map(math.isfinite, numbers(line))), line
        # Two trials have no interval worth a word: "21 ± 233 clicks of 100".
        assert "±" not in line and "roughly" in line
    picture = (tmp_path / f"{name}.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000


def test_every_example_is_tested_and_short():
    files = {file.stem: file for file in EXAMPLES.glob("*.py")}
    assert files.keys() == SENTENCES.keys()
    assert all(len(file.read_text("utf-8").splitlines()) < 80 for file in files.values())


def test_the_page_of_examples_shows_each():
    page = (EXAMPLES / "README.md").read_text("utf-8")
    for name in SENTENCES:
        assert f"python examples/{name}.py" in page
        assert (EXAMPLES / "images" / f"{name}.png").is_file()
        assert f"images/{name}.png" in page
