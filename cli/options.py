"""The options of the command line. An option has the same meaning in every command that takes it.

Settings are defined in config/. `add_flags` gives a command the flags of several settings by name.
`flag` returns a single flag, for a command that lists its parameters itself. A setting may also
come from the environment or from peirce.toml (configuration.py).
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

import typer
from pydantic.fields import FieldInfo

from ..config import RaterConfig, RepairSettings, RunConfig
from ..records.settings import Settings, union_members
from .groups import DATA, MODEL, OUTPUT, RUNNING, TEXT, TRAINING_SETTINGS, TRAINING_TARGET, examples

__all__ = [
    "DATA",
    "MODEL",
    "OUTPUT",
    "RUNNING",
    "TEXT",
    "TRAINING_SETTINGS",
    "TRAINING_TARGET",
    "examples",
]


@cache
def _shared() -> Mapping[str, tuple[type[Settings], FieldInfo]]:
    parts: tuple[type[Settings], ...] = (*RunConfig.part_classes().values(), RepairSettings)
    found: dict[str, tuple[type[Settings], FieldInfo]] = {}
    for part in parts:
        for name, _, field in part.iter_options():
            found.setdefault(name, (part, field))
    return found


def setting_field(
    option: str, config_class: type[Settings] | None = None
) -> tuple[type[Settings], FieldInfo]:
    """Return the settings class that defines an option, and the field of the option.

    The methods are imported only if config/ does not define the option.

    Args:
        option: Name of the option.
        config_class: The settings class, if the option is not a setting of a session; otherwise
            None.
    """
    if config_class is not None:
        return config_class, config_class.model_fields[option]
    if option in _shared():
        return _shared()[option]
    from ..commands.write_option_types import method_setting

    return method_setting(option)


def flag(option: str, *, text: str = "", config_class: type[Settings] | None = None) -> Any:
    """Return the command-line flag of a setting, with its help text from config/.

    Args:
        option: Name of the option.
        text: Another help text; "" to use the text from config/.
        config_class: The settings class, if the option is not a setting of a session; otherwise
            None.
    """
    part, field = setting_field(option, config_class)
    extra: Any = field.json_schema_extra
    name = f"--{option.replace('_', '-')}"
    switch = bool in union_members(field.annotation) and field.default is not False
    default = field.default
    tell = isinstance(default, str | int) and not isinstance(default, bool)
    shown = str(default) if tell and str(default) not in str(field.description) else False
    return typer.Option(
        f"{name}/--no-{name.removeprefix('--')}" if switch else name,
        help=text or field.description,
        metavar=extra["metavar"],
        rich_help_panel=part.panel,
        show_envvar=False,
        show_default=shown,
    )


def add_flags(
    *options: str,
    texts: Mapping[str, str] | None = None,
    config_class: type[Settings] | None = None,
) -> Callable[[Any], Any]:
    """Decorate a command so that it has one flag per setting, instead of its parameter
    `**settings`.

    The command receives the values that the user has set, by name of the setting.

    Args:
        options: Names of the settings.
        texts: Help texts by name, which replace the texts from config/.
        config_class: The settings class, if the options are not settings of a session; otherwise
            None.
    """
    told = texts or {}

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        def command(**arguments: Any) -> None:
            given = {
                name: read_flag(name, arguments.pop(name), setting_field(name, config_class)[1])
                for name in options
            }
            settings = {name: value for name, value in given.items() if value is not None}
            function(**arguments, **settings)

        own = [
            one
            for one in inspect.signature(function, eval_str=True).parameters.values()
            if one.kind is not one.VAR_KEYWORD
        ]
        flags = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None,
                annotation=Annotated[
                    _flag_type(setting_field(name, config_class)[1]),
                    flag(name, text=told.get(name, ""), config_class=config_class),
                ],
            )
            for name in options
        ]  # fmt: skip
        own = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__signature__ = inspect.Signature([*own, *flags])  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in (*own, *flags)}
        return command

    return decorate


def _flag_type(field: FieldInfo) -> Any:
    """Return the type of a flag: a number, a switch, a list of strings, otherwise a string."""
    kinds = [typing.get_origin(one) or one for one in union_members(field.annotation)]
    for kind, read_as in ((bool, bool), (float, float)):
        if kind in kinds:
            return read_as | None
    if Sequence in kinds:
        return (str if _elements(field) & {int, float} else list[str]) | None
    return int | None if kinds[0] is int and set(kinds) <= {int, type(None)} else str | None


def _elements(field: FieldInfo) -> set[Any]:
    """Return the element types of a setting that is a list."""
    lists = [one for one in union_members(field.annotation) if typing.get_origin(one) is Sequence]
    return {kind for one in lists for kind in union_members(typing.get_args(one)[0])}


def read_flag(option: str, value: Any, field: FieldInfo) -> Any:
    """Convert the value of a flag to the type of its setting. An empty list becomes None.

    Raises:
        UsageError: The value should be a list of numbers but cannot be read.
    """
    if value == []:
        return None
    if isinstance(value, str):
        if float in _elements(field):
            return read_numbers(option, value)
        kinds = list(union_members(field.annotation))
        words = any(typing.get_origin(one) is Literal for one in kinds)
        return int(value) if int in kinds and words and value.strip().isdecimal() else value
    return value


def read_numbers(option: str, text: str) -> list[float]:
    """Return the numbers in a text, which are separated by commas.

    Args:
        option: Name of the option, for the error message.
        text: The text.

    Raises:
        UsageError: The text contains something that is not a number.
    """
    from ..records import UsageError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"--{option} {text!r}: give numbers separated by commas, for example 0.5,0.1,0.4"
        ) from None


def _option(panel: str, text: str, *names: str, **rest: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, show_envvar=False, **rest)


Task: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="Name of a task (see `peirce tasks list`) or path of your own task file.",
        show_default=False,
    ),
]
SessionName: TypeAlias = Annotated[
    str,
    typer.Argument(help="Session: its id, a unique prefix of the id, or last.", metavar="SESSION"),
]

Data: TypeAlias = Annotated[str | None, flag("data")]
Problems: TypeAlias = Annotated[int | None, flag("problems")]
Sample: TypeAlias = Annotated[int | None, flag("sample")]
Observations: TypeAlias = Annotated[str | None, flag("observations")]
Seed: TypeAlias = Annotated[int, flag("seed")]
Label: TypeAlias = Annotated[str | None, flag("label")]
Target: TypeAlias = Annotated[str | None, flag("target")]
Units: TypeAlias = Annotated[str | None, flag("units")]
Ood: TypeAlias = Annotated[str | None, flag("ood")]
SkipBad: TypeAlias = Annotated[bool, flag("skip_bad")]
ModelArg: TypeAlias = Annotated[list[str] | None, flag("model_arg")]
JudgeModel: TypeAlias = Annotated[str | None, flag("judge_model")]
ScorerModel: TypeAlias = Annotated[str | None, flag("scorer_model", config_class=RaterConfig)]
ScorerSettings: TypeAlias = Annotated[list[str] | None, flag("role", config_class=RaterConfig)]
RoleSettings: TypeAlias = Annotated[list[str] | None, flag("role")]
BudgetTokens: TypeAlias = Annotated[int | None, flag("budget_tokens")]
BudgetUsd: TypeAlias = Annotated[float | None, flag("budget_usd")]
PriceIn: TypeAlias = Annotated[float | None, flag("price_in")]
PriceOut: TypeAlias = Annotated[float | None, flag("price_out")]
PriceCached: TypeAlias = Annotated[float | None, flag("price_cached")]
SandboxName: TypeAlias = Annotated[str, flag("sandbox")]
Workers: TypeAlias = Annotated[int | None, flag("workers")]
Cluster: TypeAlias = Annotated[str, flag("cluster")]
SolverOption: TypeAlias = Annotated[str, flag("solver")]
Concurrency: TypeAlias = Annotated[int | None, flag("concurrency")]
StoreFile: TypeAlias = Annotated[str | None, flag("store")]

Clean: TypeAlias = Annotated[
    bool, _option(RUNNING, "First remove the containers, images and control groups that crashed sessions left"
        " behind.", "--clean"),
]  # fmt: skip
Evaluator: TypeAlias = Annotated[
    str,
    _option(RUNNING, "Evaluator of rules about worlds: exact, or released to reproduce the published"
        " evaluator.", metavar="exact|released"),
]  # fmt: skip
FilledSheets: TypeAlias = Annotated[
    list[str] | None,
    _option(DATA, "Sheet from `peirce agree` that one rater filled in, CSV or JSONL. May be repeated.",
            "--ratings", metavar="FILE"),
]  # fmt: skip
Within: TypeAlias = Annotated[
    list[str] | None,
    _option(DATA, "Compare effects of sentences also within the groups of a column, such as the source"
            " of a text; `length` groups texts by length. May be repeated.",
            "--within", metavar="COLUMN"),
]  # fmt: skip
EffectData: TypeAlias = Annotated[
    str | None,
    _option(DATA, "Measure effects of sentences on the labelled rows of a file, without those that the"
            " session was shown. It may have columns for `--within` that the session lacks.",
            "--data", metavar="FILE"),
]  # fmt: skip
DryRun: TypeAlias = Annotated[
    bool, _option(OUTPUT, "Estimate the number of model calls; call no model and create no store.",
                  "--dry-run"),
]  # fmt: skip
Quiet: TypeAlias = Annotated[bool, _option(OUTPUT, "Print no progress on stderr.", "--quiet", "-q")]
AllMetrics: TypeAlias = Annotated[
    bool, _option(OUTPUT, "Print all metrics instead of only the main ones.", "--all-metrics")
]
AsJson: TypeAlias = Annotated[
    bool, _option(OUTPUT, "Print the results as JSON on stdout, and nothing else there.", "--json")
]
