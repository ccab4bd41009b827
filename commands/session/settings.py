"""What a session records of how it is run, and the checks of it that need no store.

What shapes results stands at the top level of a session's settings; what does not (concurrency,
names of files, the sandbox's backend) stands under "operational", which the session's digest
leaves out: what files hold counts there by the digests of problems, spaces and answers.
"""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping, Sequence

from ...config import MethodSettings
from ...records import Family, Json, Problem, Proposer, UsageError
from .roles import value_of

PACKAGES = (
    "peirce", "langgraph", "langchain-openai", "z3-solver", "numpy", "duckdb", "docker", "typer",
    "rich",
)  # fmt: skip
REACHED = ("endpoint", "transport")
FILE = "answers_from"  # of a model that reads them from a file: {"name", "sha256"}
# under "operational": files, and how many problems of one were drawn
BY_NAME = ("data", "observations", "sample", "subset", "space", "task_file", "answers")


def session_words(problem: Problem, family: Family, method: MethodSettings) -> dict[str, Json]:
    """The part of a session's settings that says in which words it goes, and by which code: the rule
    of equality, a digest of the prompts, versions of packages."""
    from ... import graphs
    from ...agents.prompts import protocol
    from ...sandbox.inside.canonical import EQUALITY_VERSION
    from ...tasks.custom.words import EQUALITY

    rule = problem.public.get(EQUALITY)
    aim = graphs.method(method.method, family.name).aim
    form = method.answer_format or family.answer_formats[0]
    return {
        "equality": EQUALITY_VERSION,
        **({} if rule is None else {"equality_rule": rule}),
        "prompt": protocol.prompt_hash(family.words, form, aim, method.template),
        "versions": versions(),
    }


def versions() -> dict[str, str | None]:
    """Of Python, of this package and of those it stands on; None where one is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def model_name(model: str | Proposer, model_settings: Json, shown: bool = False) -> str:
    """What the session calls the model: its name at an endpoint; where a file gives the answers,
    the first digits of their digest, or with `shown` what the file says of the model, else the
    file's name."""
    if not isinstance(model, str):
        return str(model_settings.get("model", type(model).__name__))
    scheme, _, rest = model.partition(":")
    if scheme in ("http", "https"):
        return rest.partition("#")[2] or model
    if FILE in model_settings:
        name = model_settings.get("recorded", {}).get("model") or model_settings[FILE]["name"]
        return f"{scheme}:{name if shown else model_settings['digest'][:12]}"
    return model


def split_model(model_settings: Json) -> tuple[dict[str, Json], dict[str, Json]]:
    """A proposer's settings in two: what shapes its answers, and under "reached" and "answers"
    where and how it is reached and whose answers it gives."""
    apart = (*REACHED, FILE)
    shaping = {key: value for key, value in model_settings.items() if key not in apart}
    reached = {key: model_settings[key] for key in REACHED if key in model_settings}
    return shaping, {"reached": reached, "answers": model_settings.get(FILE)}


def role_records(players: Mapping[str, Json]) -> dict[str, Json]:
    """What a session records of who plays its other roles; nothing where the proposer does."""
    if not players:
        return {}
    return {"roles": {name: split_model(told)[0] for name, told in players.items()}}


def shown_model(settings: Json) -> str:
    """What tables call the model of a session."""
    return str(settings.get("operational", {}).get("model_name") or settings.get("model"))


def shown_settings(settings: Json) -> dict[str, Json]:
    """A session's settings as people read them: files and the model by their names."""
    operational = settings.get("operational", {})
    named = {key: operational[key] for key in BY_NAME if key in operational}
    return {**settings, **named, "model": shown_model(settings)}


def model_args_of(given: Sequence[str] | Mapping[str, Json]) -> dict[str, Json]:
    """K=V pairs; V is JSON where it parses as such, else text."""
    if isinstance(given, Mapping):
        return dict(given)
    pairs = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"--model-arg {pair!r}: it must be K=V, as in reasoning_effort=low")
        pairs[key] = value_of(value)
    return pairs


def one_of(name: str, value: str, valid: Sequence[str]) -> None:
    if value not in valid:
        raise UsageError(f"{name} is {value!r}: it must be one of {', '.join(valid)}")
