"""The log of a campaign as a file for other programs: Parquet, or JSON line by line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unimodal import files
from unimodal.campaigns.events import kinds_that
from unimodal.campaigns.history_table import plain
from unimodal.campaigns.reading import Archives, begin_of, load, read_table
from unimodal.campaigns.stores import Place, as_file, as_place
from unimodal.errors import UnimodalError, unknown_name

if TYPE_CHECKING:
    import polars as pl

ROWS = ("events", "decisions")
ENDINGS = (".parquet", ".ndjson")


@dataclass(frozen=True)
class Exported:
    """What `export` wrote; `after` is the event after which the log begins, 0 if it is whole.

    Attributes
    ----------
    path
        The campaign.
    target
        The file that was written.
    rows
        How many rows it has.
    of
        "events" or "decisions".
    after
        The event after which the log begins.

    Examples
    --------
    >>> from unimodal.campaigns import Exported
    >>> Exported("prices.db", "prices.parquet", 3, "events", 0).rows
    3
    """

    path: Place
    target: Path
    rows: int
    of: str
    after: int

    def __str__(self) -> str:
        """One sentence for a person, or two."""
        rest = (
            f" Events 1 to {self.after:,} are in an archive: pass it with --archive to have them."
            if self.after
            else ""
        )
        return f"{self.rows:,} {self.of} of {self.path} were written to {self.target}.{rest}"


def export(
    path: str | Place, target: str | Path, rows: str = "events", archives: Archives = ()
) -> Exported:
    """Write the log of a campaign to a new file, .parquet or .ndjson; others go on meanwhile.

    With one row per event, as in `campaign.history()`; or, with rows="decisions", one per decision,
    with the reward that it got and when.

    Parameters
    ----------
    path
        A file, or the address of a campaign in PostgreSQL.
    target
        The new file; its ending says the format.
    rows
        "events" or "decisions".
    archives
        Files that `compact` wrote.

    Returns
    -------
    Exported
        What was written.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> file = tempfile.mkdtemp() + "/prices.db"
    >>> with um.Campaign.open(file, um.UTS(), um.graphs.line(3), seed=1) as campaign:
    ...     told = campaign.reward(campaign.decide().id, 1.0)
    >>> written = um.campaigns.export(file, file + ".ndjson", rows="decisions")
    >>> written.rows, written.target.read_text()[:32]
    (1, '{"decision":1,"seq":2,"time":...')
    """
    path = as_place(path, "the path of a campaign")
    target = as_file(target, "the target of an export")
    if rows not in ROWS:
        raise unknown_name("kind of rows", rows, ROWS)
    if target.suffix not in ENDINGS:
        raise UnimodalError(
            f"an export is a Parquet file or JSON line by line, got {target}: name it ….parquet or "
            "….ndjson."
        )
    files.check_new(target, "an export")
    loaded = load(archives)
    table = plain(read_table(path, loaded))
    if rows == "decisions":
        table = by_decision(table)
    with files.new_file(target, "an export") as made:
        if target.suffix == ".parquet":
            table.write_parquet(made)
        else:
            table.write_ndjson(made)
    return Exported(path, target, table.height, rows, begin_of(path, loaded))


def by_decision(history: pl.DataFrame) -> pl.DataFrame:
    """One row per decision: what was decided, the reward and the time of it, or that it expired.

    `outcome` is 'reward', 'expire' or null while the decision is open.

    Parameters
    ----------
    history
        What `campaign.history()` returns.

    Returns
    -------
    pl.DataFrame
        One row per decision.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> with um.Campaign.open(
    ...     tempfile.mkdtemp() + "/a.db", um.UTS(), um.graphs.line(3)
    ... ) as campaign:
    ...     told = campaign.reward(campaign.decide().id, 1.0)
    ...     by_decision(campaign.history())["reward"].to_list()
    [1.0]
    """
    import polars as pl

    made = history.filter(pl.col("kind").is_in(kinds_that("decides"))).select(
        "decision", "seq", "time", "arm", "reason", "leader", "near", "propensity"
    )
    closed = history.filter(pl.col("kind").is_in(kinds_that("closes"))).select(
        "decision", "reward", reward_time="time", outcome="kind"
    )
    return made.join(closed, on="decision", how="left", maintain_order="left")
