"""Every relative link of every page leads to a file of the project, and to a heading of it."""

import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
MARKDOWN = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)>?[^)]*\)")
HTML = re.compile(r"<(?:a|img|link|script)\b[^>]*?\b(?:href|src)=[\"']([^\"']+)[\"']")
CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^```.*?^```|^(?: {4}).*?$|`[^`\n]+`", re.DOTALL | re.MULTILINE)


def pages():
    """Markdown and HTML of the project, as git knows it; without git, those that are there."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    names = listed.stdout.decode().split("\0") if listed.returncode == 0 else []
    files = [ROOT / name for name in names] or list(ROOT.rglob("*"))
    return sorted(
        path
        for path in files
        if path.suffix in (".md", ".html") and path.is_file() and ".venv" not in path.parts
    )


def links(path):
    """The relative links of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        found = HTML.findall(text)
    else:
        text = FENCED.sub("", text)
        found = MARKDOWN.findall(text) + HTML.findall(text)
    return [unquote(link) for link in found if not re.match(r"[a-z]+:|//", link)]


def anchors(path):
    """The places in a page that a link can name: as GitHub names headings."""
    text = path.read_text(encoding="utf-8")
    named = set(re.findall(r"\bid=[\"']([^\"']+)[\"']", text))
    if path.suffix == ".md":
        for heading in re.findall(r"^#+ +(.*)$", CODE.sub("", text), re.MULTILINE):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
            named.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return named


def leads_somewhere(path, link):
    """Whether a link of a page leads to a file of the project, and to a heading of it."""
    file, _, anchor = link.partition("#")
    target = (path.parent / file).resolve() if file else path
    if not target.exists() or not target.is_relative_to(ROOT.resolve()):
        return False
    return not anchor or target.suffix not in (".md", ".html") or anchor in anchors(target)


def broken(path):
    """The links of a page that lead nowhere."""
    return [link for link in links(path) if not leads_somewhere(path, link)]


@pytest.mark.parametrize("path", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    assert broken(path) == []


def test_there_are_pages_and_links():
    assert len(pages()) > 25 and sum(len(links(path)) for path in pages()) > 60


def test_a_broken_link_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    (tmp_path / "other.md").write_text("# One, two!\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](other.md) [b](other.md#one-two) [c](https://example.org/x) `[d](code.md)`\n"
        "[e](nowhere.md) ![f](x.png) [g](other.md#three) [h](#absent) [i](../outside.md)\n"
    )
    assert list(broken(page)) == [
        "nowhere.md",
        "x.png",
        "other.md#three",
        "#absent",
        "../outside.md",
    ]
    html = tmp_path / "page.html"
    html.write_text("<p id='here'><a href='#here'>a</a> <a href=\"gone.html\">b</a>")
    assert broken(html) == ["gone.html"]


def test_paths_of_docs_in_the_code_exist():
    """Docstrings and comments name pages by their path: docs/theory/method.md."""
    named = re.compile(r"\bdocs/[\w./-]+?\.(?:md|py|html|parquet|png)\b")
    lost = []
    for folder in ("src", "tests", "examples", "benchmarks", "docs"):
        for path in (ROOT / folder).rglob("*.py"):
            lost += [
                f"{path.relative_to(ROOT)}: {name}"
                for name in named.findall(path.read_text(encoding="utf-8"))
                if "NNNN" not in name and not (ROOT / name).exists() and path != Path(__file__)
            ]
    assert lost == []
