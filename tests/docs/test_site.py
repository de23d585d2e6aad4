"""The site is built without a warning, the tutorials run, and every link in it leads somewhere."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """The links, the places that can be linked to, and the pictures of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places, self.loaded, self.pictures = [], set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, given):
        given = dict(given)
        self.places |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("img", "script", "iframe") and given.get("src"):
            self.loaded.append(given["src"])
        if tag == "link" and given.get("href") and given.get("rel") != "canonical":
            self.loaded.append(given["href"])
        if tag == "img":
            self.pictures.append((given.get("src", ""), given.get("alt") or ""))


def mistakes(site):
    """Links that lead nowhere, files from elsewhere, pictures without words."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    for path, page in pages.items():
        where = path.relative_to(site)
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    yield f"{where} loads {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{where} links to {link}, which is not there"
                continue
            places = pages[target].places if target in pages else {unquote(parts.fragment)}
            if parts.fragment and unquote(parts.fragment) not in places:
                yield f"{where} links to {link}, where there is no such place"
        for source, words in page.pictures:
            if len(words) < 15 or "/" in words:
                yield f"{where} shows {source} with no more words than {words!r}"


@pytest.mark.full
def test_the_site_is_built_without_a_warning_and_its_links_lead_somewhere(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "auto"]
    done = subprocess.run(
        [*command, str(ROOT / "docs"), str(tmp_path)], capture_output=True, text=True, timeout=900
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(mistakes(tmp_path)) == []
    for path in tmp_path.rglob("tutorials/*.html"):
        text = path.read_text(encoding="utf-8")
        assert "Traceback" not in text
    assert len(list(tmp_path.rglob("*.html"))) > 90
    foot = re.findall(r'class="made-from">(.*?)</p>', (tmp_path / "choosing.html").read_text())
    assert foot and "docs/choosing.md" in foot[0]


def test_mistakes_are_noticed(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html#there">x</a><a href="#gone">x</a><a href="c.html">x</a>'
        '<a href="https://example.org">x</a><img src="b.html" alt="b.png">'
        '<script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    assert sorted(mistakes(tmp_path)) == [
        "a.html links to #gone, where there is no such place",
        "a.html links to c.html, which is not there",
        "a.html loads https://example.org/x.js",
        "a.html shows b.html with no more words than 'b.png'",
    ]
