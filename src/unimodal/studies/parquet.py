"""Rows of text and of lists of numbers in one compact Parquet file, with notes in its header."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from unimodal import checksums, files


def write(path: Path, rows: list[dict[str, Any]], about: dict[str, str]) -> Path:
    """Write rows whose values are text or lists of numbers; seven digits of these are kept."""
    import polars as pl

    first = rows[0] if rows else {}
    kinds: dict[str, Any] = {
        name: pl.List(pl.Float32) if isinstance(value, list) else pl.String
        for name, value in first.items()
    }
    frame = pl.DataFrame(rows, kinds)

    def fill(to: Path) -> None:
        frame.write_parquet(to, compression_level=19, metadata={**about, **checksums.BLANK})
        checksums.fill_in(to)

    return files.write(path, fill)


def read(path: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The rows and the notes in the header; a ValueError if they are of another kind."""
    import polars as pl

    with path.open("rb") as handle:  # a path may be a pattern, or a place on the web, to Polars
        checksums.check(handle)
        about = pl.read_parquet_metadata(handle)
        handle.seek(0)
        kinds = pl.read_parquet_schema(handle)
        if not all(kind in (pl.String, pl.List(pl.Float32)) for kind in kinds.values()):
            raise ValueError("columns of another kind")
        handle.seek(0)
        return pl.read_parquet(handle).to_dicts(), about


def numbers(values: Any, *shape: int, above: float = -math.inf) -> Any:
    """A list of numbers as an array, or a ValueError if one is infinite or the shape is wrong."""
    array = np.asarray(values, dtype=np.float64).reshape(shape)
    if not (np.isfinite(array) & (array > above)).all():
        raise ValueError("a number that cannot be")
    return array
