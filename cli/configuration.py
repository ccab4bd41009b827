"""Read settings from flags, environment variables and a configuration file, in this order of
precedence.

The variable PEIRCE_SEED sets --seed. Other options have variables with names of the same form. The
file is $PEIRCE_CONFIG, or peirce.toml in the working folder. Its keys are the names of options with
underscores or hyphens, as in `seed = 1`. A table of the file configures the model of one role
([proposer], [judge], [scorer], [literature], [namer], [then]). The variable PEIRCE_JUDGE_TEMPERATURE sets the key
`temperature` of [judge]. Keys of [proposer] that are not options are passed as --model-arg.
Settings of a training are in a separate YAML file (`train --config`) and are not read here, nor are
those of an experiment (`reproduce`).

`peirce mcp` does not read the file in the working folder: a coding agent starts the server in the
folder of a project, which may be somebody else's, and its file must not decide what the agent may do.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..commands.session.settings import ROLES, SCORER, THEN, parse_value, role_setting_names
from ..secrecy import redact_setting, refuse_file_origins, unnamed_key_variables
from .groups import SEPARATE_PANELS

CONFIG_FILE = Path("peirce.toml")
CONFIG_VARIABLE = "PEIRCE_CONFIG"
MODEL_ARG = "model_arg"
ROLE_TABLES = (*ROLES, SCORER)
WITHOUT_FOLDER_FILE = ("mcp",)  # commands that do not read the file in the working folder
FILE_BYTES, LINE_DOTS = 256_000, 500  # limits of the file
# Variables of Peirce that are not settings.
RESERVED_VARIABLES = frozenset(
    {"PEIRCE_API_KEY", "PEIRCE_MCP_TOKEN", "PEIRCE_SHARED", CONFIG_VARIABLE}
)


class ConfigurationError(Exception):
    """A setting in the file or the environment cannot be used. The message is one sentence."""


@dataclass
class Configuration:
    """Settings from the configuration file and the environment.

    Args:
        defaults: Defaults of each command's options, in the form of click's default_map.
        model_args: K=V arguments of the proposer. Flags take precedence.
        roles: {role: {key: value}} for all other roles of a session.
        scorer: {role: {key: value}} for the role scorer, which only `rate` reads.
        settings: (key, value, source) of every setting.
    """

    defaults: dict[str, Any] = field(default_factory=dict)
    model_args: list[str] = field(default_factory=list)
    roles: dict[str, dict[str, Any]] = field(default_factory=dict)
    scorer: dict[str, dict[str, Any]] = field(default_factory=dict)
    settings: list[tuple[str, Any, str]] = field(default_factory=list)

    def list_settings(self) -> list[dict[str, Any]]:
        """Return every setting as {key, value, source}. Values that may be secrets are shown as
        ***.
        """
        return [
            {"key": key, "value": redact_setting(key, value), "source": source}
            for key, value, source in sorted(self.settings, key=lambda one: (one[0], one[2]))
        ]


def configure(command: Any, arguments: Sequence[str] = ()) -> Configuration:
    """Read the configuration file and the environment, and give all options their variables.

    Args:
        command: The root command of the command line.
        arguments: The arguments of this call. If the file in the working folder names a web
            address, an API key is sent to this address only if an argument or a variable also names
            its host.

    Raises:
        ConfigurationError: The file is not valid TOML, a key is unknown or set twice in one place,
            or a variable looks like a misspelt setting.
    """
    path = _path()
    verb = next((one for one in arguments if not one.startswith("-")), "")
    is_named = bool(os.environ.get(CONFIG_VARIABLE))
    is_read = path.is_file() and (is_named or verb not in WITHOUT_FOLDER_FILE)
    refuse_file_origins({}, "", ())
    variables = {
        name: value for name, value in os.environ.items() if name.startswith("PEIRCE_") and value
    }
    if not is_read and not variables.keys() - RESERVED_VARIABLES:
        return Configuration()  # avoids importing all commands
    options = {_key(option): option for option in _options(command)}
    top, tables = _read(path, options) if is_read else ({}, {})
    if not is_named:
        refuse_file_origins([top, tables], str(path), [*arguments, *variables.values()])
    made = Configuration()
    for key, value in top.items():
        names = {f"PEIRCE_{key.upper()}", f"PEIRCE_PROPOSER_{key.upper()}"}
        if key == MODEL_ARG or not names & variables.keys():
            made.settings.append((key, value, str(path)))
    for name in sorted(variables):
        _take_variable(made, name, variables, options)
    below: list[str] = []
    for role, table in tables.items():
        for key, value in table.items():
            below += _take_cell(made, f"{path} [{role}]", role, key, value)
    made.model_args[:0] = [*_pairs(top.pop(MODEL_ARG, ())), *below]
    many = {_key(option) for option in _options(command) if option.multiple}
    flags = {_key(option) for option in _options(command) if option.is_flag}
    for key, value in top.items():
        if isinstance(value, bool) and key not in flags:  # True would be taken as 1
            raise ConfigurationError(
                f"{path}: {key} is {str(value).lower()}: it must not be true or false"
            )
    top = {key: _fitting(f"{path}: {key}", value, key in many) for key, value in top.items()}
    _attach(command, top, made.defaults)
    return made


def _path() -> Path:
    named = os.environ.get(CONFIG_VARIABLE)
    if named and not Path(named).is_file():
        raise ConfigurationError(f"{CONFIG_VARIABLE} names {named}, which is not a file")
    return Path(named) if named else CONFIG_FILE


def _read(path: Path, options: Collection[str]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the file's keys that are options, including those of [proposer], and the rest by role."""
    try:
        content = tomllib.loads(_text_of(path))
        json.dumps(
            content, default=str
        )  # ValueError: an integer of too many digits, in hexadecimal
    except RecursionError:
        raise ConfigurationError(f"{path} cannot be read: it is nested too deeply") from None
    except (ValueError, OSError) as error:  # ValueError: no TOML, no UTF-8
        raise ConfigurationError(f"{path} cannot be read: {error}") from None
    if not os.environ.get(CONFIG_VARIABLE) and (unnamed := unnamed_key_variables(content)):
        raise ConfigurationError(
            f"{path} asks for the key in {unnamed[0]}: a file in the working folder may not"
            f" choose which variable is sent; set PEIRCE_PROPOSER_API_KEY_ENV={unnamed[0]} in"
            f" the environment, or name the file in {CONFIG_VARIABLE}"
        )
    top: dict[str, Any] = {}
    tables: dict[str, dict[str, Any]] = {}
    for key, value in content.items():
        if key in ROLE_TABLES and isinstance(value, dict):
            tables[key] = _unhyphened(f"{path} [{key}]", value, role_setting_names())
        else:
            top |= _unhyphened(str(path), {key: value}, {*options, *ROLE_TABLES}, top)
    for role in ROLE_TABLES:
        if role in top and role != THEN:  # `then = "MODEL"` is `--then MODEL`
            raise ConfigurationError(f"{path}: {role} must be a table: [{role}]")
    for role, table in tables.items():
        for key in list(table):
            option = _option_of(role, key)
            if option in options:
                if option in top:
                    raise ConfigurationError(
                        f"{path}: {option} is set twice, at the top level and in [{role}]"
                    )
                top[option] = table.pop(key)
    return top, tables


def _text_of(path: Path) -> str:
    """Return the text of a TOML file within limits: tomllib takes quadratic time for dotted keys."""
    with path.open("rb") as file:
        content = file.read(FILE_BYTES + 1)
    if len(content) > FILE_BYTES:
        raise ConfigurationError(f"{path} cannot be read: it is larger than {FILE_BYTES:,} bytes")
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.count(b".") > LINE_DOTS:
            raise ConfigurationError(
                f"{path} cannot be read: line {number} has more than {LINE_DOTS} dots"
            )
    return content.decode("utf-8")


def _unhyphened(
    where: str, table: Mapping[str, Any], known: Collection[str], before: Collection[str] = ()
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in table.items():
        key = name.replace("-", "_")
        if key not in known:
            raise ConfigurationError(f"{where}: unknown key {name!r}{_nearest(key, known)}")
        if key in found or key in before:
            raise ConfigurationError(f"{where}: {key} is set twice")
        found[key] = value
    return found


def _option_of(role: str, key: str) -> str:
    return key if role == "proposer" else f"{role}_{key}"


def _take_cell(made: Configuration, source: str, role: str, key: str, value: Any) -> list[str]:
    """Record one key of a role that is not an option, and return its K=V if it is the proposer's."""
    name = f"{role}.{key}"
    if any(known == name for known, *_ in made.settings):
        return []  # the environment takes precedence
    made.settings.append((name, value, source))
    if role == "proposer":
        return [f"{key}={json.dumps(value, default=str)}"]
    if key == MODEL_ARG:
        value = dict(pair.split("=", 1) for pair in _pairs(value))
        value = {one: parse_value(text) for one, text in value.items()}
    (made.scorer if role == SCORER else made.roles).setdefault(role, {})[key] = value
    return []


def _take_variable(
    made: Configuration, name: str, variables: Mapping[str, str], options: Mapping[str, Any]
) -> None:
    key, value = name.removeprefix("PEIRCE_").lower(), variables[name]
    role, _, cell = key.partition("_")
    if key in options:
        if f"PEIRCE_PROPOSER_{key.upper()}" in variables:
            raise ConfigurationError(
                f"{name} and PEIRCE_PROPOSER_{key.upper()} set the same key: keep one of them"
            )
        made.settings.append((key, value, name))
    elif role == "proposer" and cell in options and cell in role_setting_names():
        made.settings.append((cell, value, name))
    elif name in RESERVED_VARIABLES or name.endswith("_KEY"):
        return
    elif role in ROLE_TABLES and cell:
        if cell not in role_setting_names():
            raise ConfigurationError(
                f"{name}: unknown key {cell!r}{_nearest(cell, role_setting_names())}"
            )
        pairs = value.split() if cell == MODEL_ARG else parse_value(value)
        made.model_args += _take_cell(made, name, role, cell, pairs)
        return
    else:
        cells = {f"{role}_{cell}": cell for role in ROLE_TABLES for cell in role_setting_names()}
        near = f"proposer_{key}" if key in role_setting_names() else _near(key, [*options, *cells])
        if near:
            raise ConfigurationError(
                f"{name} is not a setting; did you mean PEIRCE_{near.upper()}?"
            )
        return
    if key == MODEL_ARG or cell == MODEL_ARG:
        made.model_args += value.split()


def _pairs(value: Any) -> list[str]:
    """Return K=V strings from a list of strings, a single string or a table."""
    if isinstance(value, dict):
        return [f"{key}={json.dumps(one, default=str)}" for key, one in value.items()]
    pairs = [value] if isinstance(value, str) else value
    if not isinstance(pairs, list | tuple) or not all(
        isinstance(one, str) and "=" in one for one in pairs
    ):
        raise ConfigurationError(f'{MODEL_ARG} must be a table or a list of strings like "K=V"')
    return list(pairs)


def _attach(command: Any, top: Mapping[str, Any], defaults: dict[str, Any]) -> None:
    for name, verb in getattr(command, "commands", {}).items():
        _attach(verb, top, defaults.setdefault(name, {}))
    for option in _own_options(command):
        key = _key(option)
        option.show_envvar = False
        if key == MODEL_ARG:  # merged by key in `Configuration.model_args`
            continue
        option.envvar = [f"PEIRCE_{key.upper()}"]
        option.envvar.append(f"PEIRCE_PROPOSER_{key.upper()}")  # checked in `_take_variable`
        if key in top:
            value = top[key]
            if isinstance(value, list) and not option.multiple:  # a list for another command
                if len(value) != 1:
                    continue
                (value,) = value
            defaults[option.name] = value


def _fitting(what: str, value: Any, many: bool) -> Any:
    """Convert a value of the file for its option; a list of one may be given as a single string.

    Args:
        what: Name of the setting, for errors.
        value: Value in the file.
        many: Whether some command takes several values.
    """
    several = value if isinstance(value, list) else [value]
    nested = any(isinstance(one, list | dict) for one in several)
    if nested or (several is value and not many):
        must = "a single value or a list of strings" if many else "a single value"
        raise ConfigurationError(f"{what} is {redact_setting(what, value):.80}: it must be {must}")
    return [str(one) for one in several] if many else value


def _options(command: Any) -> Iterator[Any]:
    for verb in getattr(command, "commands", {}).values():
        yield from _options(verb)
    yield from _own_options(command)


def _own_options(command: Any) -> Iterator[Any]:
    for one in command.params:
        apart = getattr(one, "rich_help_panel", None) in SEPARATE_PANELS
        if one.param_type_name == "option" and one.name not in ("help", "version") and not apart:
            yield one


def _key(option: Any) -> str:
    return str(option.opts[0].removeprefix("--").replace("-", "_"))


def _near(key: str, known: Collection[str]) -> str:
    from difflib import get_close_matches

    return next(iter(get_close_matches(key, known, 1, 0.75)), "")  # matches "sede" with "seed"


def _nearest(key: str, known: Collection[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, known, 1)
    return (
        f"; did you mean {near[0]}?"
        if near
        else (f"; the known keys are {', '.join(sorted(known))}")
    )
