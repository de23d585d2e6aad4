"""The README as a package shows it: pages and pictures of the project are not there.

With the address of the project in `[project.urls]` as Source, relative links become absolute.
Without one, a link becomes its words, and a picture its alternative text.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https?:)([^)\s]+)\)")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


def package_safe(text, source=""):
    """The text with links that lead somewhere from everywhere, or with none."""
    if source:
        text = PICTURE.sub(rf"![\1]({source}/raw/main/\2)", text)
        return LINK.sub(rf"[\1]({source}/blob/main/\2)", text)
    return LINK.sub(r"\1", PICTURE.sub(r"*Picture: \1.*", text))


class PackageReadme(MetadataHookInterface):
    """Puts the README into the metadata."""

    def update(self, metadata):
        """Called by hatchling."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source", "")
        metadata["readme"] = {"content-type": "text/markdown", "text": package_safe(text, source)}
