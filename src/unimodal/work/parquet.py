"""Rows of text and of lists of numbers in one compact Parquet file, with notes in its head."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unimodal import files
from unimodal.errors import UnimodalError


def write(path: Path, rows: list[dict[str, Any]], about: dict[str, str]) -> Path:
    """Write rows whose values are text or lists of numbers; seven digits of these are kept."""
    import polars as pl

    first = rows[0] if rows else {}
    kinds: dict[str, Any] = {
        name: pl.List(pl.Float32) if isinstance(value, list) else pl.String
        for name, value in first.items()
    }
    frame = pl.DataFrame(rows, kinds)
    return files.write(
        path, lambda to: frame.write_parquet(to, compression_level=19, metadata=about)
    )


def read(path: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The rows, and the notes of the head."""
    import polars as pl

    return pl.read_parquet(path).to_dicts(), pl.read_parquet_metadata(path)


@contextlib.contextmanager
def reading(path: Path, expected: str) -> Iterator[None]:
    """Answer whatever goes wrong inside with a sentence that says what the file must be."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError, KeyError, ValueError, TypeError):
        raise UnimodalError(f"{path} must be {expected}; it is not, or is damaged.") from None
