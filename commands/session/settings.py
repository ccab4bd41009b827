"""The settings that a session records, and the checks of settings that need no store.

Settings that affect results are at the top level of a session's settings. All other settings
(concurrency, names of files, the sandbox backend) are under "operational", which does not affect
the session's digest. The contents of files affect the digest through the digests of problems,
spaces and answers.
"""

from __future__ import annotations

import functools
import importlib.metadata
import json
import platform
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...config import MethodSettings
from ...records import PRICES, ROLE_PRICES, Family, Json, Problem, Proposer, Repairer, UsageError
from ...secrecy import SECRET_NAME, redact_secrets

if TYPE_CHECKING:
    from ...config import RaterConfig, RolesConfig, RunConfig


PACKAGES = (
    "peirce", "langgraph", "langchain-openai", "z3-solver", "numpy", "duckdb", "docker", "typer",
    "rich",
)  # fmt: skip
ENDPOINT_FIELDS = ("endpoint", "transport")
ANSWERS_FILE = (
    "answers_from"  # present for a model that reads answers from a file: {"name", "sha256"}
)
# Keys of "operational" that name files, or the number of problems drawn from one.
NAMED_SOURCES = ("data", "observations", "sample", "subset", "space", "task_file", "answers")


def version_record(problem: Problem, family: Family, method: MethodSettings) -> dict[str, Json]:
    """Return the settings that identify the wording of the prompts and the version of the code.

    They are the version of the equality rule, a hash of the prompts, and the versions of packages.
    """
    from ... import graphs
    from ...agents.prompts import protocol
    from ...sandbox.inside.canonical import EQUALITY_VERSION
    from ...tasks.custom.words import EQUALITY

    rule = problem.public.get(EQUALITY)
    aim = graphs.find_method(method.method, family.name).aim
    form = method.answer_format or family.answer_formats[0]
    return {
        "equality": EQUALITY_VERSION,
        **({} if rule is None else {"equality_rule": rule}),
        "prompt": protocol.prompt_hash(family.words, form, aim, method.template),
        "versions": versions(),
    }


def versions() -> dict[str, str | None]:
    """Return the versions of Python, of this package and of its dependencies, by name.

    The version of a package that is not installed is None.
    """
    return {"python": platform.python_version(), **{one: _version(one) for one in PACKAGES}}


@functools.cache  # Reading the metadata of each package takes milliseconds.
def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def model_name(model: str | Proposer, model_settings: Json, for_display: bool = False) -> str:
    """Return the name that a session records for its model.

    Args:
        model: the model string, or a proposer object.
        model_settings: what the opened model reports about itself.
        for_display: for answers from a file, return a name for people: the model that the file
            names, else the name of the file. Otherwise the name contains the first digits of the
            digest of the answers.
    """
    if not isinstance(model, str):
        return str(model_settings.get("model", type(model).__name__))
    scheme, _, rest = model.partition(":")
    if scheme in ("http", "https"):
        return rest.partition("#")[2] or model
    if ANSWERS_FILE in model_settings:
        name = (
            model_settings.get("recorded", {}).get("model") or model_settings[ANSWERS_FILE]["name"]
        )
        return f"{scheme}:{name if for_display else model_settings['digest'][:12]}"
    return model


def split_model_settings(model_settings: Json) -> tuple[dict[str, Json], dict[str, Json]]:
    """Divide a model's settings into settings that affect its answers and other settings.

    Returns:
        The settings that affect answers, and a dictionary of the other settings with the keys
            "reached"
        (endpoint and transport) and "answers" (the file that the answers come from).
    """
    apart = (*ENDPOINT_FIELDS, ANSWERS_FILE)
    shaping = {key: value for key, value in model_settings.items() if key not in apart}
    reached = {key: model_settings[key] for key in ENDPOINT_FIELDS if key in model_settings}
    return shaping, {"reached": reached, "answers": model_settings.get(ANSWERS_FILE)}


def role_records(players: Mapping[str, Json]) -> dict[str, Json]:
    """Return the settings that a session records for the models of its roles; empty if there are
    none.

    Args:
        players: settings of the opened models, by role.
    """
    if not players:
        return {}
    return {"roles": {name: split_model_settings(told)[0] for name, told in players.items()}}


def repair_record(repair: str | Repairer | None, settings: Json) -> dict[str, Json]:
    """Return what a session records about its repairer, whose own report is `settings`."""
    if repair is None:
        return {}
    name = repair if isinstance(repair, str) else str(settings.get("model", type(repair).__name__))
    return {"repair": name, "repairer_settings": split_model_settings(settings)[0]}


def display_model_name(settings: Json) -> str:
    """Return the name of a session's model, as tables show it.

    Args:
        settings: the settings of the session.
    """
    return str(settings.get("operational", {}).get("model_name") or settings.get("model"))


def display_settings(settings: Json) -> dict[str, Json]:
    """Return a session's settings in readable form, with the names of files and of the model."""
    operational = settings.get("operational", {})
    named = {key: operational[key] for key in NAMED_SOURCES if key in operational}
    shown: dict[str, Json] = settings | named | {"model": display_model_name(settings)}
    return shown


def plugin_settings(method: str) -> frozenset[str]:
    """Return the names of settings that only a method from another package has.

    Users set them with `--method-arg`, because they have no command-line flag of their own.

    Raises:
        UsageError: there is no such method.
    """
    from ... import graphs
    from ..option_types import RunOptions

    options = graphs.settings_of(method).iter_options()
    return frozenset(name for name, _, _ in options) - RunOptions.__annotations__.keys()


def parse_key_values(
    values: Sequence[str] | Mapping[str, Json], option: str = "--model-arg"
) -> dict[str, Json]:
    """Parse K=V pairs into a dict. A value is parsed as JSON if possible, and otherwise kept as
    text.

    Args:
        values: the pairs, or a mapping, which is returned as a dict.
        option: the option that the error message names.

    Raises:
        UsageError: a text in `values` is not a K=V pair.
    """
    if isinstance(values, Mapping):
        return dict(values)
    pairs = {}
    for pair in values:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"{option} {pair!r}: it must have the form K=V")
        pairs[key] = parse_value(value)
    return pairs


def check_choice(name: str, value: str, valid: Sequence[str]) -> None:
    """Raise UsageError if `value` is not in `valid`.

    Args:
        name: the name of the setting, for the message.
        value: the value of the setting.
        valid: the valid values.
    """
    if value not in valid:
        raise UsageError(f"{name} is {value!r}: it must be one of {', '.join(valid)}")


# --- Roles that models play, each with a model string and settings of its own. The proposer makes
# hypotheses. The judge labels texts, and judge2 those on which the judge is unsure. literature reads
# papers, and the namer names themes. The proposer plays the judge and literature where no other model
# is named. The second proposer (then) continues problems that the proposer leaves without a
# hypothesis. The scorer rates the hypotheses of stored sessions; only `peirce rate` calls it.

JUDGE = "judge"
NAMER = "namer"
SECOND_JUDGE = "judge2"
THEN = "then"
SEEDER = "seeder"  # the search that gives hypotheses before the first request
ROLES = ("proposer", JUDGE, SECOND_JUDGE, "literature", NAMER, THEN)  # the roles of a session
OPTIONAL_ROLES = (SECOND_JUDGE, NAMER, THEN)  # roles that the proposer does not play
SCORER = "scorer"  # the role of `peirce rate`
ROLE_ERRORS = {  # why a known role cannot be set in a command
    "proposer": "the options of the command itself set it up",
    JUDGE: "`peirce rate` does not use it",
    SECOND_JUDGE: "`peirce rate` does not use it",
    "literature": "`peirce rate` does not use it",
    NAMER: "`peirce rate` does not use it",
    THEN: "`peirce rate` does not use it",
    SCORER: "only `peirce rate` uses it",
}
REQUEST_FIELDS = ("reasoning_effort",)  # fields of a request that have an option of their own


@functools.cache
def role_setting_names() -> frozenset[str]:
    """Return the names of all settings that a role may have: its model, and settings of any model
    kind.
    """
    from ...agents import schemes, settings_of

    known = {"model", "model_arg", *REQUEST_FIELDS, *PRICES}
    for scheme in schemes():
        known.update(settings_of(scheme).setting_names())
    return frozenset(known - {"model_args", "workers"})


def model_setting_names(spec: str) -> frozenset[str]:
    """Return the names of the settings that this kind of model has, without request fields.

    Args:
        spec: the model string.
    """
    from ...agents import settings_of

    return frozenset(settings_of(spec).setting_names()) - {"model_args", "workers"}


def drop_unsupported_model_options(
    model: str, options: Mapping[str, Any], inherited: Collection[str], pairs: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the options and pairs without those that this kind of model does not support.

    Only options and pairs from the configuration file and the environment are dropped, because they
    may be meant for another model. Options that were set by flags are always kept.

    Args:
        model: the model string.
        options: all options by name.
        inherited: names of the options that come from the configuration file or the environment.
        pairs: the K=V pairs that come from the configuration file or the environment.
    """
    taken = model_setting_names(model)
    fields = supported_request_fields(model)
    if not inherited and not pairs:
        return dict(options), []
    shaping = role_setting_names() - {"model", "model_arg", *PRICES} - taken - fields
    kept = {key: one for key, one in options.items() if key not in inherited or key not in shaping}
    return kept, [pair for pair in pairs if fields or pair.partition("=")[0] in taken]


def supported_request_fields(spec: str) -> frozenset[str]:
    """Return the names of the request fields that have an option and that this kind of model
    supports.

    Args:
        spec: the model string.
    """
    from ...agents import settings_of

    return frozenset(REQUEST_FIELDS if "model_args" in settings_of(spec).setting_names() else ())


def parse_value(text: str) -> Json:
    """Return the value of a JSON text, or the text itself if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def model_options(
    model: Any, arguments: Mapping[str, Json], own: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the options with which a model is opened.

    Args:
        model: the model string, or a proposer object.
        arguments: the pairs of --model-arg. Pairs that name a setting of this kind of model become
            settings. All other pairs become fields of the requests.
        own: the options that have a command-line flag of their own.

    Raises:
        UsageError: a pair contradicts a flag.
    """
    apart = model_setting_names(model) if isinstance(model, str) else frozenset()
    options = {
        key: value for key, value in own.items() if value is not None and key not in REQUEST_FIELDS
    }
    fields = {key: own[key] for key in REQUEST_FIELDS if own.get(key) is not None}
    for key, value in arguments.items():
        into = options if key in apart else fields
        if key in into and into[key] != value and key in own:
            flag = key.replace("_", "-")
            raise _wrong(
                f"--{flag} {into[key]} and --model-arg {key}={value} contradict each other: keep"
                " one of them"
            )
        into[key] = value
    return options | ({"model_args": fields} if fields else {})


def role_settings(config: RolesConfig | RaterConfig) -> dict[str, dict[str, Json]]:
    """Return the configured roles as {role: {"model": ..., key: value}}.

    `--judge-model` and similar flags take precedence over --role ROLE.KEY=VALUE. --role takes
    precedence over tables of the configuration file.

    Raises:
        UsageError: a role or a setting is unknown or invalid.
    """
    names = [
        name.removesuffix("_model") for name in type(config).model_fields if name.endswith("_model")
    ]
    roles: dict[str, dict[str, Json]] = {}
    for role, settings in (config.roles or {}).items():
        if not isinstance(settings, Mapping):
            raise _wrong(f"role {role} is {settings!r}: it must be a mapping of its settings")
        roles[role] = dict(settings)
    for flag in config.role:
        name, equals, text = flag.partition("=")
        role, dot, key = name.partition(".")
        if not (equals and dot and key):
            raise _wrong("--role must be ROLE.KEY=VALUE, as in judge.temperature=0")
        roles.setdefault(role, {})[key.replace("-", "_")] = parse_value(text)
    for role in names:
        if (model := getattr(config, f"{role}_model")) is not None:
            roles.setdefault(role, {})["model"] = model
    for role, settings in roles.items():
        if role not in names:
            why = ROLE_ERRORS.get(role, "unknown")
            raise _wrong(f"role {role!r}: {why}; it must be {' or '.join(names)}")
        _check(role, settings)
    return {role: roles[role] for role in names if roles.get(role)}


def describe_spending(config: RunConfig) -> dict[str, Json]:
    """Return the budget and the prices of a session, with the prices of roles under "role_prices".

    Raises:
        UsageError: a role has prices, and the session has none.
    """
    limits = config.budget.explicit_values()
    own = {
        role: found
        for role, settings in role_settings(config.roles).items()
        if (found := {key: one for key, one in settings.items() if key in PRICES})
    }
    if own and "price_in" not in limits:
        role, prices = next(iter(own.items()))
        raise _wrong(
            f"{role}.{next(iter(prices))} is the price of one role: also set price_in and price_out,"
            " which hold for the other models"
        )
    return limits | ({ROLE_PRICES: own} if own else {})


def _check(role: str, settings: Mapping[str, Json]) -> None:
    for key in settings:
        if key not in role_setting_names():
            near = get_close_matches(key, role_setting_names(), 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise _wrong(f"role {role} has no setting {key!r}{hint}")
    _check_secrets(role, settings)
    _check_kinds(role, settings)
    model = settings.get("model")
    if model is not None:
        _check_model(role, model)
        taken = model_setting_names(model)
        for key in settings.keys() - {"model", "model_arg", *REQUEST_FIELDS, *PRICES} - taken:
            raise _wrong(f"role {role}: model {model!r} does not take a setting {key!r}")
        _check_own(role, model, {key: settings[key] for key in settings.keys() & taken})


def _check_kinds(role: str, settings: Mapping[str, Json]) -> None:
    """Check settings that the proposer has too by the same rules."""
    from ...config import BudgetConfig, ModelConfig
    from ...records import UsageError

    for key, value in settings.items():
        if key == "model" and not isinstance(value, str | None):
            raise _wrong(f"the model of role {role} must be a string")
        for part in (ModelConfig, BudgetConfig):
            if key in part.model_fields and key != "model" and value is not None:
                try:
                    part.check_field(key, value)
                except UsageError as error:
                    raise _wrong(f"role {role}: {error}") from None


def _check_own(role: str, model: str, settings: Mapping[str, Json]) -> None:
    """Check the settings of this kind of model itself by the model's own rules."""
    from ...agents import settings_of
    from ...records import UsageError

    try:
        settings_of(model).from_options(model, settings)
    except UsageError as error:
        raise _wrong(f"role {role}: {error}") from None


def _check_model(role: str, model: str) -> None:
    from ...agents import scheme_of

    if scheme_of(model) in ("http", "https"):
        try:
            parts = urlsplit(model)
        except ValueError:
            raise _wrong(
                f"the model of role {role} is not a URL: write http://host:port/v1#NAME"
            ) from None
        if parts.username or parts.password or parts.query:
            raise _wrong(  # The message leaves out the URL because it may hold a secret.
                f"the model of role {role} must be a URL without credentials: put the key into"
                " an environment variable"
            )


def _check_secrets(role: str, value: Json) -> None:
    """Refuse secrets in settings, because the session records them."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            if key != "api_key_env" and SECRET_NAME.search(str(key)):
                raise _wrong(f"role {role} must not contain {key!r}, because settings are recorded")
            _check_secrets(role, one)
    elif isinstance(value, list | tuple):
        for one in value:
            _check_secrets(role, one)
    elif isinstance(value, str) and redact_secrets(value) != value:
        raise _wrong(
            f"role {role} must not contain a key of the environment, because settings are recorded"
        )


def _wrong(sentence: str) -> UsageError:
    # It imports numpy, which the command line must not load at its start.
    from ...records import UsageError

    return UsageError(sentence)
