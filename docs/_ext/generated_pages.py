"""Parts of pages that are made from the code: the command line, and the addresses of the service.

A page asks for one with a comment, `<!-- generated: commands -->`, so it cannot go out of date.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

MARK = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)
WIDTH = 100


def commands() -> Iterator[str]:
    """Every command with its help, as the terminal shows it."""
    import typer

    from unimodal.cli import app

    root = typer.main.get_command(app)
    context = typer.Context(root, info_name="unimodal", terminal_width=WIDTH)
    for name in root.list_commands(context):  # type: ignore[attr-defined]
        command = root.commands[name]  # type: ignore[attr-defined]
        below = getattr(command, "commands", None)
        inner = typer.Context(command, parent=context, info_name=name, terminal_width=WIDTH)
        if below is None:
            yield from _command(f"unimodal {name}", command, inner)
        for part, leaf in (below or {}).items():
            deep = typer.Context(leaf, parent=inner, info_name=part, terminal_width=WIDTH)
            yield from _command(f"unimodal {name} {part}", leaf, deep)


def _command(title: str, command: Any, context: Any) -> Iterator[str]:
    yield f"## {title}\n\n```text\n{command.get_help(context)}\n```\n"


def addresses() -> Iterator[str]:
    """Every address of the service, from the description that it serves at /openapi.json."""
    from unimodal.service.app import create_app

    with tempfile.TemporaryDirectory() as folder:
        described = create_app(folder).openapi()
    shapes = described["components"]["schemas"]
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            yield f"## {method.upper()} {path}\n\n{operation['description']}\n"
            yield from _parameters(operation)
            content = operation.get("requestBody", {}).get("content", {})
            for kind in content.values():
                yield from _fields("The body", kind["schema"], shapes)
            for status, answer in operation["responses"].items():
                if status.startswith("2"):
                    for kind in answer.get("content", {}).values():
                        yield from _fields(f"The answer, {status}", kind["schema"], shapes)
            errors = [status for status in operation["responses"] if not status.startswith("2")]
            if errors:
                yield f"Errors: {', '.join(errors)}.\n"
    yield from _types(described["paths"], shapes)


def _types(paths: dict[str, Any], shapes: dict[str, Any]) -> Iterator[str]:
    """The types that fields of bodies and answers have, and those that fields of these have."""
    yield "## Types\n\nWhat fields above have as their type:\n"
    whole = set(_named(paths))  # whose fields stand with their address
    inner = {name for one in whole for name in _named(shapes[one].get("properties", {}))}
    described: set[str] = set()
    while inner - described:
        described |= inner
        inner = {name for one in described for name in _named(shapes[one].get("properties", {}))}
    for name in sorted(described):
        about = " ".join(shapes[name].get("description", "").split())
        yield f"### {name}\n\n{about}\n"
        yield from _fields("It has", {"$ref": f"#/{name}"}, shapes)


def _named(part: Any) -> Iterator[str]:
    """The names of all types that a part of the description refers to."""
    if isinstance(part, dict):
        if "$ref" in part:
            yield _name(part)
        for inner in part.values():
            yield from _named(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _named(inner)


def _parameters(operation: dict[str, Any]) -> Iterator[str]:
    given = operation.get("parameters", [])
    if given:
        yield "| parameter | in | what it is |\n|---|---|---|"
        for one in given:
            about = one.get("description", "") or _kind(one["schema"])
            example = f", as `{one['example']}`" if "example" in one else ""
            yield f"| `{one['name']}` | {one['in']} | {about}{example} |"
        yield ""


def _fields(title: str, shape: dict[str, Any], shapes: dict[str, Any]) -> Iterator[str]:
    several = [_name(part) for part in shape.get("anyOf", [shape]) if "$ref" in part]
    for name in several:
        fields = shapes[name].get("properties", {})
        needed = shapes[name].get("required", [])
        also = f", as {name}" if len(several) > 1 else ""
        rows = []
        for field, told in fields.items():
            about = " ".join(str(told.get("description", "")).split()).replace("|", "\\|")
            kind = _kind(told).replace("|", "\\|")
            kind += "" if field in needed or title.startswith("The answer") else ", optional"
            rows.append([f"`{field}`", kind, about])
        columns = 3 if any(about for *_, about in rows) else 2  # none that is empty
        yield f"{title}{also}:\n"
        for row in (["field", "type", "meaning"], ["---"] * 3, *rows):
            yield f"| {' | '.join(row[:columns])} |"
        yield ""


def _name(part: dict[str, Any]) -> str:
    return str(part["$ref"]).rsplit("/", 1)[1]


def _kind(told: dict[str, Any]) -> str:
    """What a value may be, in words."""
    if "$ref" in told:
        return _name(told)
    if "anyOf" in told or "oneOf" in told:
        return " or ".join(
            dict.fromkeys(_kind(part) for part in told.get("anyOf", told.get("oneOf")))
        )
    if "const" in told:
        return repr(told["const"])
    if "enum" in told:
        return " or ".join(map(repr, told["enum"]))
    if told.get("type") == "array":
        return f"list of {_kind(told.get('items', {}))}"
    return str(told.get("type", "any JSON"))


PARTS = {"commands": commands, "addresses": addresses}


def generate(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the generated parts into a page."""
    source[0] = MARK.sub(lambda found: "\n".join(PARTS[found[1]]()), source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", generate)
    return {"parallel_read_safe": True}
