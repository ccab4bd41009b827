"""The roles that models play, each with a model string and settings of its own.

The proposer makes hypotheses, judge labels texts, literature reads papers; where these two are not named
the proposer plays them. The scorer rates what sessions hold: `peirce rate` asks it, no session does.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...secrecy import SECRET_NAME, scrubbed

if TYPE_CHECKING:
    from ...config import RaterConfig, RolesConfig
    from ...records import Json, UsageError

ROLES = ("proposer", "judge", "literature")  # of a session
SCORER = "scorer"  # of `peirce rate`
NOT_HERE = {  # why a role that there is cannot be set up
    "proposer": "the options of the command itself set it up",
    "judge": "`peirce rate` does not ask it",
    "literature": "`peirce rate` does not ask it",
    SCORER: "`peirce rate` alone asks it",
}
BODY = ("reasoning_effort",)  # fields of the request that have an option of their own
PRICES = ("price_in", "price_out", "price_cached")  # settings of the session, one set a role


@functools.cache
def role_keys() -> frozenset[str]:
    """What may be set of a role: every setting of every kind of model, and the model itself."""
    from ...agents import schemes, settings_of

    known = {"model", "model_arg", *BODY, *PRICES}
    for scheme in schemes():
        known.update(settings_of(scheme).names())
    return frozenset(known - {"model_args", "workers"})


def adapter_settings(spec: str) -> frozenset[str]:
    """The settings that this kind of model takes of its own, beside the fields of a request."""
    from ...agents import settings_of

    return frozenset(settings_of(spec).names()) - {"model_args", "workers"}


def drop_unsupported(
    model: str, options: Mapping[str, Any], standing: Collection[str], pairs: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """`options` and K=V `pairs` of file and environment without those that this kind of model does
    not take: they were written for another one. standing: the options that come from there; what
    a flag says is never left out."""
    taken = adapter_settings(model)
    fields = taken_fields(model)
    if not standing and not pairs:
        return dict(options), []
    shaping = role_keys() - {"model", "model_arg", *PRICES} - taken - fields
    kept = {key: one for key, one in options.items() if key not in standing or key not in shaping}
    return kept, [pair for pair in pairs if fields or pair.partition("=")[0] in taken]


def taken_fields(spec: str) -> frozenset[str]:
    """The fields of a request with an option of their own, where this kind of model takes any."""
    from ...agents import settings_of

    return frozenset(BODY if "model_args" in settings_of(spec).names() else ())


def value_of(text: str) -> Json:
    """JSON where it parses as such, else the text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def model_options(
    model: Any, arguments: Mapping[str, Json], own: Mapping[str, Json]
) -> dict[str, Json]:
    """The options that open the proposer: `own`, and what --model-arg gives; of that, the names of
    settings of this kind of model become settings, the others fields of the request."""
    apart = adapter_settings(model) if isinstance(model, str) else frozenset()
    options = {key: value for key, value in own.items() if value is not None and key not in BODY}
    fields = {key: own[key] for key in BODY if own.get(key) is not None}
    for key, value in arguments.items():
        into = options if key in apart else fields
        if key in into and into[key] != value and key in own:
            flag = key.replace("_", "-")
            raise _wrong(f"--{flag} {into[key]} and --model-arg {key}={value} contradict")
        into[key] = value
    return options | ({"model_args": fields} if fields else {})


def role_settings(config: RolesConfig | RaterConfig) -> dict[str, dict[str, Json]]:
    """{role: {"model": …, key: value}} of the roles that are set up: tables before --role
    ROLE.KEY=VALUE before --judge-model and its like. Raises UsageError."""
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
        roles.setdefault(role, {})[key.replace("-", "_")] = value_of(text)
    for role in names:
        if (model := getattr(config, f"{role}_model")) is not None:
            roles.setdefault(role, {})["model"] = model
    for role, settings in roles.items():
        if role not in names:
            why = NOT_HERE.get(role, "unknown")
            raise _wrong(f"role {role!r}: {why}; it must be {' or '.join(names)}")
        _check(role, settings)
    return {role: roles[role] for role in names if roles.get(role)}


def _check(role: str, settings: Mapping[str, Json]) -> None:
    for key in settings:
        if key not in role_keys():
            near = get_close_matches(key, role_keys(), 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise _wrong(f"role {role} has no setting {key!r}{hint}")
    _check_secrets(role, settings)
    _check_kinds(role, settings)
    model = settings.get("model")
    if model is not None:
        _check_model(role, model)
        taken = adapter_settings(model)
        for key in settings.keys() - {"model", "model_arg", *BODY, *PRICES} - taken:
            raise _wrong(f"role {role}: model {model!r} takes no setting {key!r}")
        _check_own(role, model, {key: settings[key] for key in settings.keys() & taken})


def _check_kinds(role: str, settings: Mapping[str, Json]) -> None:
    """What is a setting of the proposer too is of the same kind as there."""
    from ...config import BudgetConfig, ModelConfig
    from ...records import UsageError

    for key, value in settings.items():
        if key == "model" and not isinstance(value, str | None):
            raise _wrong(f"the model of role {role} must be a text")
        for part in (ModelConfig, BudgetConfig):
            if key in part.model_fields and key != "model" and value is not None:
                try:
                    part.check_field(key, value)
                except UsageError as error:
                    raise _wrong(f"role {role}: {error}") from None


def _check_own(role: str, model: str, settings: Mapping[str, Json]) -> None:
    """What this kind of model says of settings of its own."""
    from ...agents import settings_of
    from ...records import UsageError

    try:
        settings_of(model).of(model, settings)
    except UsageError as error:
        raise _wrong(f"role {role}: {error}") from None


def _check_model(role: str, model: str) -> None:
    from ...agents import scheme_of

    if scheme_of(model) in ("http", "https"):
        try:
            parts = urlsplit(model)
        except ValueError:
            raise _wrong(
                f"the model of role {role} is no URL: write http://host:port/v1#NAME"
            ) from None
        if parts.username or parts.password or parts.query:
            raise _wrong(  # without the URL: it may hold a secret
                f"the model of role {role} must be a plain URL: a key belongs into the environment"
            )


def _check_secrets(role: str, value: Json) -> None:
    """Settings are recorded in the session, so a secret must not come in by them."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            if key != "api_key_env" and SECRET_NAME.search(str(key)):
                raise _wrong(f"role {role} must not hold {key!r}: settings are recorded")
            _check_secrets(role, one)
    elif isinstance(value, list | tuple):
        for one in value:
            _check_secrets(role, one)
    elif isinstance(value, str) and scrubbed(value) != value:
        raise _wrong(f"role {role} must not hold a key of the environment: it is recorded")


def _wrong(sentence: str) -> UsageError:
    from ...records import UsageError  # with numpy: not at the start of the command line

    return UsageError(sentence)
