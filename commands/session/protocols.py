"""Take over the options of a published protocol (`--protocol NAME`), and say what differs from it.

The options of a protocol are set as if a user had set them, before a run is planned
(`expand_protocol`). A stored session has all of them, so `resume` does not expand a protocol again, and
a later change of a preset does not change stored sessions.

What differs is computed from the configuration of the session (`describe_protocol`), so that it is
complete wherever an option came from: a flag, the environment, peirce.toml, or `peirce import`, which
sets a method of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...config import MethodSettings, RunConfig, RunProtocol, find_protocol
from ...records import PRICES, Json, UsageError
from ...records.settings import is_object, is_option, option_name
from .settings import OPTIONAL_ROLES, THEN, model_setting_names, parse_key_values, role_settings
from .text_planning import is_language_model

METHOD_ARG, MODEL_ARG = "method_arg", "model_arg"
MODEL_OPTIONS = ("temperature", "top_p", "max_tokens")  # not every kind of model takes these
SHAPING_PARTS = ("model", "method", "text")  # the parts of a configuration that can change answers
# Settings of these parts that change no answer: how requests are sent and where they are computed, which
# rows are predicted, and options that hold other settings.
WITHOUT_EFFECT = frozenset({
    "timeout_s", "retries", "backoff_s", "max_wait_s", "requests_per_minute", "tokens_per_minute",
    "outage_s", "batch_files", "batch_wait_s", "batch_poll_s", "stream", "cache_key", "api_key_env",
    "batch", "device", "workers", "split", "model_arg", "method_arg", *PRICES,
})  # fmt: skip
# The choice of the model itself, which no protocol makes: the embedded search has two settings for it.
OF_THE_MODEL = frozenset({"model", "budget_expansions", "preset"})


def protocol_name(config: RunConfig | None, options: Mapping[str, Any]) -> str | None:
    """Return the name of the chosen protocol; None for none.

    Args:
        config: the configuration; None for the defaults.
        options: single settings by name, which take precedence.
    """
    named: str | None = options.get("protocol")
    return named if named is not None or config is None else config.protocol.protocol


def chosen_method(config: RunConfig | None, options: Mapping[str, Any]) -> Any:
    """Return the method that a run will have: the one that is set, that of the protocol, or the default.

    Args:
        config: the configuration; None for the defaults.
        options: single settings by name, which take precedence.

    Raises:
        UsageError: there is no such protocol.
    """
    if options.get("method") is not None:
        return options["method"]
    name = protocol_name(config, options)
    explicit = {} if config is None else config.method.explicit_values()
    if isinstance(name, str) and "method" not in explicit:
        return find_protocol(name).options.get("method", MethodSettings().method)
    return (config or RunConfig()).method.method


def expand_protocol(config: RunConfig | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with those of the chosen protocol; without a protocol, the options themselves.

    An option that is set explicitly is kept. An option of the protocol that the method or the kind of
    model does not take is left out.

    Args:
        config: the configuration that the options are added to; None for the defaults.
        options: single settings by name. None counts as not set.

    Raises:
        UsageError: there is no such protocol.
    """
    name = protocol_name(config, options)
    if not isinstance(name, str):
        return dict(options)
    protocol = find_protocol(name)
    explicit = dict(_explicit_options(config)) if config is not None else {}
    explicit |= {key: one for key, one in options.items() if one is not None}
    for pairs_option in (METHOD_ARG, MODEL_ARG):
        explicit |= parse_key_values(explicit.get(pairs_option) or ())
    model = explicit.get("model", RunConfig().model.model)
    taken = _taken_options(chosen_method(config, options), model)
    found = dict(options)
    pairs: dict[str, dict[str, Json]] = {METHOD_ARG: {}, MODEL_ARG: {}}
    for option, value in protocol.options_for(_scheme(model)).items():
        if value is None or option in explicit or option not in taken:
            continue
        if taken[option] in pairs:
            pairs[taken[option]][option] = value
        else:
            found[option] = value
    for name, arguments in pairs.items():
        if arguments:
            given = parse_key_values(explicit.get(name) or (), f"--{name.replace('_', '-')}")
            found[name] = {**arguments, **given}
    return found


def describe_protocol(config: RunConfig) -> dict[str, Json] | None:
    """Return what a session records about its protocol; None without a protocol.

    Args:
        config: the configuration of the session, with the options of the protocol.

    Returns:
        {"name", "changed", "unused"}: the settings that can change answers and whose value is neither
        that of the protocol nor, where the protocol has none, the default, with their value; and the
        options of the protocol that the method or the kind of model does not take.

    Raises:
        UsageError: there is no such protocol.
    """
    if config.protocol.protocol is None:
        return None
    protocol = find_protocol(config.protocol.protocol)
    preset = protocol.options_for(_scheme(config.model.model))
    taken = _taken_options(config.method.method, config.model.model)
    defaults = {key: _as_json(one) for key, one in _defaults(config)}
    given = {key: _as_json(one) for key, one in _given_options(config, preset)}
    wanted = {**defaults, **{key: one for key, one in preset.items() if one is not None}}
    changed = {key: one for key, one in given.items() if one != wanted.get(key)}
    changed |= _changed_roles(config, protocol, {**wanted, **given})
    unused: list[str] = []
    for option, value in preset.items():
        if value is None or option in given:
            continue
        if option not in taken:
            unused.append(option)
        elif defaults.get(option) != value:
            changed[option] = defaults.get(option)
    # A store sorts keys, so they have the same order before and after.
    changed = dict(sorted(changed.items()))
    return {"name": protocol.name, "changed": changed, "unused": list[Json](sorted(unused))}


def check_protocol(name: str | None, family: str) -> None:
    """Raise UsageError if there is no such protocol, or if it is not for tasks of this family.

    Args:
        name: the name of the protocol; None for none.
        family: the name of the family of the task.
    """
    if name is None:
        return
    protocol = find_protocol(name)
    if family not in protocol.families:
        raise UsageError(
            f"protocol is {name!r}: {protocol.about} is about {' and '.join(protocol.families)}, and"
            f" this task is about {family}{_suggest(family)}"
        )


def _suggest(family: str) -> str:
    from ...records import registry

    able = [
        name
        for name in registry.component_names("protocols")
        if family in find_protocol(name).families
    ]
    return f"; the protocol for it is {' or '.join(able)}" if able else ""


def protocol_advice(config: RunConfig) -> str:
    """Return what the protocol advises for scoring the results; "" for nothing."""
    name = config.protocol.protocol
    protocol: RunProtocol | None = None if name is None else find_protocol(name)
    return "" if protocol is None else protocol.advice


def _scheme(model: Any) -> str:
    return model.partition(":")[0] if isinstance(model, str) else ""


def _explicit_options(config: RunConfig) -> Iterator[tuple[str, Any]]:
    """Yield (option, value) of each option that is set in a configuration."""
    for name in type(config).model_fields:
        part = getattr(config, name)
        for field, value in part.explicit_values().items():
            yield option_name(field, type(part).model_fields[field]), value


def _taken_options(method: Any, model: Any) -> dict[str, str]:
    """Return the options that a run with this method and model takes, each with how it is set.

    The value is "" for an option of its own. Settings of labelled text without a flag are set by
    "method_arg", and settings of one kind of model by "model_arg".
    """
    from ... import graphs

    parts = {**RunConfig.part_classes(), "method": graphs.settings_of(method)}
    found: dict[str, str] = {}
    for name, part in parts.items():
        for field, told in part.model_fields.items():
            if is_option(told) or (name == "text" and told.description):
                found.setdefault(option_name(field, told), "" if is_option(told) else METHOD_ARG)
    of_model = model_setting_names(model) if isinstance(model, str) else frozenset[str]()
    for option in MODEL_OPTIONS:
        if option not in of_model:
            del found[option]
    return dict.fromkeys(of_model, MODEL_ARG) | found


def _given_options(config: RunConfig, preset: Mapping[str, Json]) -> Iterator[tuple[str, Any]]:
    """Yield (option, value) of what is set explicitly and is in `preset` or can change answers.

    The settings of roles are left out.
    """
    for name in type(config).model_fields:
        part = getattr(config, name)
        for field, value in part.explicit_values().items():
            option = option_name(field, type(part).model_fields[field])
            shapes = name in SHAPING_PARTS and option not in WITHOUT_EFFECT | OF_THE_MODEL
            unset = name == "model" and value is None
            if name != "roles" and not unset and (shapes or option in preset):
                yield option, value
    yield from parse_key_values(config.text.method_arg, "--method-arg").items()
    every = is_language_model(config.model.model)
    for option, value in parse_key_values(config.model.model_arg).items():
        if option in preset or (every and option not in WITHOUT_EFFECT):
            yield option, value


def _defaults(config: RunConfig) -> Iterator[tuple[str, Any]]:
    """Yield (option, default) for the method and the kind of model; the last one of an option counts."""
    from ... import graphs

    of_text = graphs.get_method(config.method.method).text
    names = [one for one in type(config).model_fields if one != "method"]
    for name in (*names, "method"):
        for field, told in type(getattr(config, name)).model_fields.items():
            default = told.get_default(call_default_factory=True)
            own = of_text.get(field, default) if name == "text" else default
            yield option_name(field, told), own
    if isinstance(config.model.model, str):
        yield from _kind_defaults(config.model.model).items()


def _kind_defaults(model: str) -> dict[str, Any]:
    """Return the defaults of the settings that this kind of model has, by name."""
    from ...agents import settings_of

    fields = settings_of(model).model_fields.items()
    return {
        key: one.get_default(call_default_factory=True) for key, one in fields if key != "model"
    }


def _changed_roles(
    config: RunConfig, protocol: RunProtocol, of_proposer: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the settings of roles that can change answers, as {option or "role.key": value}.

    A role that has the proposer's model takes over its settings, so that repeating one changes nothing.

    Args:
        config: the configuration of the session.
        protocol: the protocol.
        of_proposer: the values of the session's options, by name.
    """
    changed: dict[str, Json] = {}
    for role, settings in role_settings(config.roles).items():
        if role != THEN and "text" not in protocol.families:
            continue  # nothing calls it
        told = {**settings, **parse_key_values(settings.get("model_arg") or ())}
        model = told.pop("model", None)
        told.pop("model_arg", None)
        flag = f"{role}_model"
        option = option_name(flag, type(config.roles).model_fields[flag])
        played = config.model.model if role not in OPTIONAL_ROLES else None
        if model is not None and model not in (played, protocol.options.get(option)):
            changed[option if getattr(config.roles, flag) is not None else f"{role}.model"] = model
        same = model is None or model == config.model.model
        own = of_proposer if same else _kind_defaults(model)
        for key, value in told.items():
            if key not in WITHOUT_EFFECT and value != own.get(key):
                changed[f"{role}.{key}"] = value
    return changed


def _as_json(value: Any) -> Json:
    """Return a value of a setting as a session can store it: an object by the name of its type."""
    if is_object(value):
        return type(value).__name__
    if isinstance(value, Path):
        return str(value)
    return [_as_json(one) for one in value] if isinstance(value, list | tuple) else value
