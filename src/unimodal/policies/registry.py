"""Policies as text (`osub(c=0)`, for the command line) and as data (for saved files)."""

from __future__ import annotations

import ast
import importlib.util
import sys
import warnings
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

from unimodal.errors import UnimodalError, unknown_name
from unimodal.policies.forgetting import Discounted, Forgetful, Restarting, Windowed
from unimodal.policies.imed import IMED, IMEDUB
from unimodal.policies.klucb_ub import KLUCBUB
from unimodal.policies.mints import MINTS
from unimodal.policies.npts import NPTS
from unimodal.policies.paper import KLUCB, OSUB, TS, UTS
from unimodal.policies.peak import PeakUTS
from unimodal.policies.policy import Policy, is_by_arm
from unimodal.policies.scout import ScoutUTS
from unimodal.policies.unitt import UniTT

# A registry is a dict. To add a policy: its class, and its name here.
POLICIES: dict[str, type[Policy]] = {
    "uts": UTS,
    "osub": OSUB,
    "ts": TS,
    "klucb": KLUCB,
    "peakuts": PeakUTS,
    "scoututs": ScoutUTS,
    "imed": IMED,
    "imedub": IMEDUB,
    "klucbub": KLUCBUB,
    "npts": NPTS,
    "unitt": UniTT,
    "mints": MINTS,
}
# Those that wrap another policy, their parameter `policy`.
WRAPPERS: dict[str, type[Forgetful]] = {
    "windowed": Windowed,
    "discounted": Discounted,
    "restarting": Restarting,
}

_DEEPEST = 50  # parts of a policy's text in parts of it


def parse(text: str, own: bool = True) -> Policy:
    """A policy from its form on the command line.

    A name, with parameters in parentheses if they differ from the defaults; or a file of your own,
    a colon, and the class in it: `mine.py:Greedy(epsilon=0.2)`. Such a file is run, so what a
    stranger wrote is parsed with `own=False`, which knows this package's policies only.

    Parameters
    ----------
    text
        As in "uts", "osub(c=0)" or "mine.py:Greedy".
    own
        Whether files of your own may be named.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    UnimodalError
        If there is no such policy; the closest name is given.

    Examples
    --------
    >>> parse("osub(c=0, start=literal)")
    OSUB(c=0.0, start='literal', name='OSUB(c=0, start=literal)')
    >>> parse("windowed(policy=uts, window=500)").policy
    UTS()
    """
    path, is_file, call = str(text).rpartition(".py:") if own else ("", "", str(text))
    name, given = _taken_apart(call)
    cls = _from_file(f"{path}.py", name) if is_file else _known(name)
    if cls is None:
        raise unknown_name("policy", name, (*POLICIES, *WRAPPERS))
    values = dict(_argument(cls, node, own) for node in given)
    if given:
        arguments = call.partition("(")[2].rstrip().removesuffix(")").strip()
        values.setdefault("name", f"{cls.__name__}({arguments})")
    needed = [field for field in fields(cls) if field.default is field.default_factory is MISSING]
    missing = ", ".join(f"{field.name}=…" for field in needed if field.name not in values)
    if missing:
        raise UnimodalError(f"{cls.__name__} must be given {missing}, got '{text}'.")
    return cls(**values)


def _taken_apart(text: str) -> tuple[str, list[ast.expr | ast.keyword]]:
    """The name and the arguments of a policy's text, which is read as a call in Python."""
    if not text.strip():
        raise UnimodalError("a policy must have a name, such as uts or osub(c=0), got nothing.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as 1if: a stranger's text says nothing here
            node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        node = None
    if node is not None and _is_deep(node):
        raise UnimodalError(
            f"a policy must be nested at most {_DEEPEST} deep, got '{text.strip():.80}': write it "
            "with fewer parentheses and signs."
        )
    if isinstance(node, ast.Name):
        return node.id, []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id, [*node.args, *node.keywords]
    raise unknown_name("policy", text.strip(), (*POLICIES, *WRAPPERS))


def _is_deep(node: ast.AST) -> bool:
    """Whether functions of `ast`, which call themselves, might run out of stack on it."""
    layer: list[ast.AST] = [node]
    for _ in range(_DEEPEST):
        layer = [child for each in layer for child in ast.iter_child_nodes(each)]
    return bool(layer)


def split(text: str) -> list[str]:
    """Split at the commas that stand outside parentheses.

    Parameters
    ----------
    text
        Policies, separated by commas.

    Returns
    -------
    list[str]
        The text of each.

    Examples
    --------
    >>> split("uts, osub(c=0, start=literal)")
    ['uts', 'osub(c=0, start=literal)']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _known(name: str) -> type[Policy] | None:
    return POLICIES.get(name.lower()) or WRAPPERS.get(name.lower())


def _argument(cls: type[Policy], node: ast.expr | ast.keyword, own: bool) -> tuple[str, Any]:
    if not isinstance(node, ast.keyword) or node.arg is None:
        raise UnimodalError(
            f"a parameter is written name=value, got '{_written(node)}' for {cls.__name__}."
        )
    known = [field.name for field in fields(cls)]
    if node.arg not in known:
        raise unknown_name(f"parameter of {cls.__name__}", node.arg, known)
    written = _written(node.value)
    if node.arg == "policy" and issubclass(cls, Forgetful):
        return node.arg, parse(written, own)
    try:
        return node.arg, ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):  # or nested too deep
        return node.arg, written  # a word such as literal, or probe(8)


def _written(node: ast.AST) -> str:
    """The text of a part."""
    try:
        return ast.unparse(node)
    except ValueError:  # a hexadecimal one, of which Python makes no decimal one
        raise UnimodalError(
            "a number in a policy must have at most 4,300 digits, got more: write a smaller one."
        ) from None


def _from_file(path: str, name: str) -> type[Policy]:
    # A name of its own, so that a user's random.py does not stand in for Python's.
    spec = importlib.util.spec_from_file_location(f"own_policy_{Path(path).stem}", path)
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise UnimodalError(
            f"the policy '{path}:{name}' names the file {path}, which does not exist."
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UnimodalError(f"{path} cannot be run: {type(error).__name__}: {error}.") from None
    cls = getattr(module, name, None)
    if not (isinstance(cls, type) and issubclass(cls, Policy)):
        raise UnimodalError(f"{path} must define a class {name} that subclasses unimodal.Policy.")
    return cls


def to_data(policy: Policy) -> dict[str, Any]:
    """A policy as plain JSON data.

    Parameters
    ----------
    policy
        A policy.

    Returns
    -------
    dict[str, Any]
        A dict for JSON.

    Examples
    --------
    >>> import unimodal as um
    >>> from_data(to_data(um.UTS(period=2)))
    UTS(period=2)
    """
    return {
        "policy": type(policy).__name__,
        "name": policy.name,
        "own": policy.is_own,
        "parameters": {
            name: to_data(value) if isinstance(value, Policy) else value
            for name, value in policy.parameters().items()
            if name != "prior_leads" or is_by_arm(policy.beliefs)
        },
    }


def from_data(data: dict[str, Any]) -> Policy:
    """The policy that `to_data` described.

    Parameters
    ----------
    data
        What `to_data` returned.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    UnimodalError
        If it is one of your own, which has to be passed again.

    Examples
    --------
    >>> import unimodal as um
    >>> from_data(to_data(um.OSUB(c=0)))
    OSUB(c=0.0)
    """
    cls = _known(data["policy"])
    if data["own"] or cls is None:
        raise UnimodalError(
            f"the file was made with a policy of your own, {data['policy']}: pass it again "
            "(policy=… of an agent or a campaign, policies=… of um.load), since its code is not "
            "saved."
        )
    parameters = dict(data["parameters"])
    if issubclass(cls, Forgetful):
        parameters["policy"] = from_data(parameters["policy"])
    return as_saved(cls(name=data["name"], **parameters), data)


def as_saved(policy: Any, data: dict[str, Any]) -> Policy:
    """A policy as a file means it: `data` is what `to_data` wrote of it, perhaps long ago.

    Files without `prior_leads` are from before priors counted for the lead.

    Parameters
    ----------
    policy
        The policy as it was passed.
    data
        What the file says of it.

    Returns
    -------
    Policy
        The policy as the file means it.

    Examples
    --------
    >>> import unimodal as um
    >>> as_saved(um.UTS(), to_data(um.UTS())) == um.UTS()
    True
    """
    inner = data["parameters"].get("policy")
    if isinstance(policy, Forgetful) and isinstance(inner, dict):
        return replace(policy, policy=as_saved(policy.policy, inner))
    is_older = "prior_leads" in policy.parameters() and "prior_leads" not in data["parameters"]
    saved: Policy = replace(policy, prior_leads=False) if is_older else policy
    return saved


def to_older_data(policy: Policy, data: dict[str, Any]) -> dict[str, Any]:
    """A policy as plain JSON data with what files of the age of `data` have, to be compared.

    Parameters
    ----------
    policy
        A policy.
    data
        What a file has.

    Returns
    -------
    dict[str, Any]
        A dict that can be compared with it.

    Examples
    --------
    >>> import unimodal as um
    >>> to_older_data(um.UTS(), to_data(um.UTS())) == to_data(um.UTS())
    True
    """
    made = to_data(policy)
    inner = data["parameters"].get("policy")
    if isinstance(policy, Forgetful) and isinstance(inner, dict):
        made["parameters"]["policy"] = to_older_data(policy.policy, inner)
    if "prior_leads" not in data["parameters"]:
        made["parameters"].pop("prior_leads", None)
    return made
