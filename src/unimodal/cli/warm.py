"""`unimodal warm`."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unimodal.cli.app import MACHINE, app, terminal
from unimodal.errors import UnimodalError, unknown_name

if TYPE_CHECKING:
    from unimodal.families import Family
    from unimodal.policies import Policy

POLICIES = ("peakuts", "uts", "osub", "ts", "klucb")  # the default, and the paper's four
SCALED = "scaled"
USES = ("step", "leap", "agent")


@app.command(rich_help_panel=MACHINE)
def warm(
    policies: Annotated[
        list[str] | None,
        typer.Argument(help=f"Such as uts or osub; by default {', '.join(POLICIES)}"),
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option(
            help="bernoulli (default), gaussian, poisson, exponential, bounded, or for prices "
            "scaled (of bernoulli) or scaled:FAMILY; may be repeated"
        ),
    ] = None,
    engines: Annotated[bool, typer.Option(help="Compile the engines of simulations")] = True,
    agents: Annotated[bool, typer.Option(help="Compile what agents and campaigns use")] = True,
) -> None:
    r"""Compile ahead of first use, for images and servers.

    What is compiled is kept on disk, and processes that find it there start in half a second.
    UNIMODAL_CACHE_DIR says where; by default it is beside the package.

    \b
    Examples:
      unimodal warm
      unimodal warm peakuts --family scaled --no-engines
      unimodal warm uts osub --family bernoulli --family bounded
      UNIMODAL_CACHE_DIR=/opt/kernels unimodal warm
    """
    from unimodal import policies as known
    from unimodal.kernels.cache_folder import this_cache_folder
    from unimodal.kernels.compile_watch import kernels_compiled
    from unimodal.report import progress, tables

    if not engines and not agents:
        raise UnimodalError("there must be something to compile: leave out one of the two --no-….")
    chosen = [known.parse(text, own=False) for text in policies or POLICIES]
    rewards = [_family(text) for text in family or ("bernoulli",)]
    uses = [use for use in USES if (agents if use == "agent" else engines)]
    work = [(policy, each, use) for policy in chosen for each in rewards for use in uses]
    rows = []
    with progress.steps(len(work)) as begin:
        for policy, each, use in work:
            begin(f"{policy.name}, {type(each).__name__} rewards, {use}")
            before, began = kernels_compiled(), time.monotonic()
            why_not = use_once(policy, each, use)
            compiled, took = kernels_compiled() - before, time.monotonic() - began
            done = f"{compiled} compiled in {took:.1f} s" if compiled else "was there already"
            rows.append((policy.name, each.name, use, why_not or done))
    console = terminal()
    console.print(tables.table("Kernels", ("policy", "family", "for", ""), rows))
    folder = this_cache_folder()
    size = sum(file.stat().st_size for file in Path(folder).glob("*") if file.is_file())
    console.print(f"Compiled code is kept in {folder} ({size / 1e6:.1f} MB).")


def _family(text: str) -> Family:
    """A family as --family names it; the factors of a scaled one are not compiled into kernels."""
    from unimodal import families

    name, _, inner = text.lower().partition(":")
    if name == SCALED:
        return families.Scaled(families.parse(inner or "bernoulli"), by=1.0)
    if name not in families.FAMILIES:
        raise unknown_name("family", name, [*families.FAMILIES, SCALED])
    return families.parse(text)


def use_once(policy: Policy, family: Family, use: str) -> str:
    """Play a few rounds, which compiles what is not on disk yet; why not, if it is not possible."""
    import unimodal as um
    from unimodal.engines.capability import why_not_leap

    try:
        problem = um.problems.triangular(5, family=family, low=0.2, high=0.8)
        policy.index_for(family)
    except UnimodalError as error:
        return f"not possible: {error}"
    if use == "agent":
        _campaign_once(policy, family)
    elif use == "leap" and why_not_leap(policy, problem):
        return "steps instead"
    else:
        um.simulate(problem, policy, horizon=100, trials=1, engine=use, workers=1, progress=False)
    return ""


def _campaign_once(policy: Policy, family: Family) -> None:
    """Decide, tell and explain, as a campaign does."""
    import unimodal as um

    with tempfile.TemporaryDirectory(prefix="unimodal-warm-") as folder:
        file, graph = Path(folder) / "warm.db", um.graphs.line(5)
        with um.Campaign.open(file, policy, graph, family, durability="fast") as campaign:
            for decision in campaign.decide(5):
                campaign.reward(decision.id, 0.0)
            campaign.explain(campaign.decide().id)
