"""The settings of a session and of its method.

Every setting is one field here or in its method's module. A setting has one name everywhere:
`temperature` is the flag `--temperature`, the key in peirce.toml, the variable PEIRCE_TEMPERATURE,
the keyword of `peirce.run` and a field of `RunConfig`. A new setting is one new field here, and a
run of `python -m peirce.commands.write_option_types` for type checkers.

`RunConfig` consists of parts (session.py). One of them holds the settings of the method
(methods.py). Each method's module in graphs/ may have its own `MethodSettings`; the registry that
is passed to `RunConfig.from_options` selects the class.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

from .methods import (
    SPLITS,
    UNDER_A_MODEL,
    BankSettings,
    Feedback,
    MaxAnswers,
    MethodName,
    MethodSettings,
    RepairSettings,
    TargetGap,
    Template,
    TextSettings,
    ToolCalls,
)
from .session import (
    BudgetConfig,
    ClusterConfig,
    DataConfig,
    ModelConfig,
    RaterConfig,
    RolesConfig,
    RunConfig,
    SandboxConfig,
    StoreConfig,
    TextConfig,
)

__all__ = [
    "SPLITS",
    "UNDER_A_MODEL",
    "BankSettings",
    "BudgetConfig",
    "ClusterConfig",
    "DataConfig",
    "Feedback",
    "MaxAnswers",
    "MethodName",
    "MethodSettings",
    "ModelConfig",
    "RaterConfig",
    "RepairSettings",
    "RolesConfig",
    "RunConfig",
    "SandboxConfig",
    "StoreConfig",
    "TargetGap",
    "Template",
    "TextConfig",
    "TextSettings",
    "ToolCalls",
]
