"""HTML pages and static files, with headers by which a browser runs nothing but our own scripts."""

from __future__ import annotations

import functools
import hashlib
from importlib import resources
from typing import Any

from fastapi import Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from unimodal.escape_text import printable
from unimodal.version import __version__

# No script, style or picture but those of this service, none of them inline; no frames, no forms.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_FOREVER = "public, max-age=31536000, immutable"  # the address of a file has a digest


def html(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page."""
    text = _environment().get_template(template).render(version=__version__, **values)
    return HTMLResponse(text, status, dict(_HEADERS))


def static(build: str, path: str) -> Response | None:
    """A static file; None for what is not one of ours."""
    known = _files().get(path)
    if known is None:
        return None
    content, kind = known
    cached = {"Cache-Control": _FOREVER} if build == _build() else {}
    return Response(content, 200, {**_HEADERS, **cached}, kind)


@functools.cache
def _files() -> dict[str, tuple[bytes, str]]:
    """All of them, by path: no path of a request reaches the file system."""
    root = resources.files("unimodal.service.dashboard") / "static"
    found = {}
    for folder, prefix in ((root, ""), (root / "uplot", "uplot/")):
        for file in folder.iterdir():
            kind = _TYPES.get(file.name.rpartition(".")[2])
            if kind is not None:
                found[prefix + file.name] = file.read_bytes(), kind
    return found


@functools.cache
def _build() -> str:
    digest = hashlib.blake2b(digest_size=6)
    for path, (content, _) in sorted(_files().items()):
        digest.update(path.encode() + b"\0" + content)
    return digest.hexdigest()


def address(path: str) -> str:
    """The address of a static file, which changes with any of them, since they name each other."""
    assert path in _files(), path
    return f"/static/{_build()}/{path}"


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("unimodal.service.dashboard"),
        autoescape=True,
        finalize=lambda value: value if hasattr(value, "__html__") else printable(value),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["static"] = address
    return made
