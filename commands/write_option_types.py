"""Write option_types.py, which declares the keywords of `peirce.run` and related functions for type
checkers.

    python -m peirce.commands.write_option_types

The keywords are the settings in config/ and the settings of the methods in graphs/. A test fails if
the file is out of date.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic.fields import FieldInfo

from .. import graphs
from ..config import (
    BudgetConfig,
    ClusterConfig,
    DataConfig,
    MethodSettings,
    ModelConfig,
    RolesConfig,
    RunConfig,
    SandboxConfig,
    StoreConfig,
    TextConfig,
)
from ..records.settings import Settings
from ..training.pairs.settings import PairsConfig
from .reproduce.settings import ReproductionConfig

FILE = Path(__file__).with_name("option_types.py")
HEADER = '''"""Keywords of the public functions that take settings. Written by write_option_types.py from
config/ and graphs/; do not edit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from ..records import Proposer, Repairer
from ..records.tables import ArrowBatch, ArrowTable
'''
CHOSEN_BY_DISCOVER = ("data", "label", "target")
Options = Mapping[str, FieldInfo]


def select_options(part: type[Settings], *names: str) -> dict[str, FieldInfo]:
    """Return options of one part of the configuration, by name.

    Args:
        part: the settings class.
        names: the options to return; without names, all options.
    """
    found = {option: field for option, _, field in part.iter_options()}
    if part is RolesConfig:
        found["roles"] = part.model_fields["roles"]
    return {name: found[name] for name in names} if names else found


def run_options() -> dict[str, FieldInfo]:
    """Return every option of `run`: the options of all parts of the configuration and of all
    methods.
    """
    found: dict[str, FieldInfo] = {}
    for name, part in RunConfig.part_classes().items():
        found |= select_options(part)
        if name == "method":
            for method in graphs.all_methods().values():
                found = {**select_options(method.settings), **found}
    return found


def method_setting(option: str) -> tuple[type[Settings], FieldInfo]:
    """Return the settings class and the field of an option that only methods have.

    If several methods have the option, the first method counts.
    """
    return next(
        (method.settings, field)
        for method in graphs.all_methods().values()
        for name, _, field in method.settings.iter_options()
        if name == option
    )


def typed_dicts() -> dict[str, tuple[str, Options]]:
    """Return the classes to write, by name, each with the functions that take it and its
    options.
    """
    run = run_options()
    transport = select_options(ModelConfig, "timeout_s", "retries")
    judging = select_options(TextConfig, "tau", "judge", "repeats")
    shaping = select_options(
        ModelConfig, "temperature", "top_p", "max_tokens", "reasoning_effort",
        "reasoning_tokens", "timeout_s", "retries",
        "model_arg",
    )  # fmt: skip
    resume = {
        **transport, **select_options(ModelConfig, "batch_files"), **select_options(SandboxConfig), **select_options(ClusterConfig),
        **select_options(BudgetConfig), **select_options(StoreConfig),
    }  # fmt: skip
    check = {
        **select_options(DataConfig), **select_options(MethodSettings, "answer_format", "strict_contract"),
        **select_options(SandboxConfig), **select_options(ClusterConfig, "workers", "cluster"), **judging,
        **select_options(RolesConfig, "role", "roles"),
    }  # fmt: skip
    predict = {
        **select_options(TextConfig, "inference", "judge", "repeats", "prompts"), **shaping,
        **select_options(RolesConfig, "role", "roles"), **select_options(SandboxConfig),
        **select_options(ClusterConfig), **select_options(StoreConfig, "store"),
    }  # fmt: skip
    sweep = {
        **select_options(SandboxConfig), **select_options(ClusterConfig),
        **select_options(StoreConfig),
    }  # fmt: skip
    return {
        "RunOptions": ("run, plan, import_recorded", run),
        "DiscoverOptions": (
            "discover, which chooses the task and its data",
            {name: field for name, field in run.items() if name not in CHOSEN_BY_DISCOVER},
        ),
        "ResumeOptions": ("resume", resume),
        "CheckOptions": ("check", check),
        "PredictOptions": ("predict", predict),
        "SweepOptions": ("sweep, plan_sweep", sweep),
        "PairsOptions": ("pairs", select_options(PairsConfig)),
        "ReproduceOptions": ("reproduce, plan_reproduction", select_options(ReproductionConfig)),
    }


def generate_source() -> str:
    """Return the text of option_types.py."""
    parts = [HEADER]
    for name, (functions, options) in typed_dicts().items():
        lines = [f"    {option}: {annotation_source(field)}" for option, field in options.items()]
        if name in (
            "RunOptions",
            "DiscoverOptions",
        ):  # for methods from other packages; there is no such flag
            lines.append("    method_options: Mapping[str, Any] | None")
        about = f'    """Settings by name, of {functions}. None counts as not given."""'
        parts.append(
            "\n".join([f"class {name}(TypedDict, total=False):", about, "", *lines]) + "\n"
        )
    return "\n\n".join(parts)


def annotation_source(field: FieldInfo) -> str:
    """Return the type annotation of a setting as source code, with None added for "not set".

    `RowTable`, which exists only inside settings, is left out.
    """
    kinds = dict.fromkeys(_words(field.annotation))
    return " | ".join([*(kind for kind in kinds if kind not in ("None", "RowTable")), "None"])


def _words(kind: Any) -> Iterator[str]:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        for one in inner:
            yield from _words(one)
    elif origin is Literal:
        yield f"Literal[{', '.join(map(repr, inner))}]".replace("'", '"')
    elif origin is not None:
        inside = ", ".join(" | ".join(dict.fromkeys(_words(one))) for one in inner)
        yield f"{origin.__name__}[{inside}]"
    else:
        yield "None" if kind is type(None) else "Any" if kind is Any else str(kind.__name__)


def main() -> None:
    """Write the generated module option_types.py."""
    FILE.write_text(generate_source(), "utf-8")


if __name__ == "__main__":
    main()
