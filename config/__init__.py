"""The settings of a session and of its method.

Every setting is one field, declared either in this package or in the module of a method. A setting
has one name everywhere: `temperature` is the flag `--temperature`, the key in peirce.toml, the
variable PEIRCE_TEMPERATURE, the keyword argument of `peirce.run` and a field of `RunConfig`. To add
a setting, add one field here, then run `python -m peirce.commands.write_option_types`, which
updates the signatures that type checkers read.

`RunConfig` (session.py) groups the settings by subject, such as data, model and budget. Its field
`method` holds the settings of the method (methods.py). A method in graphs/ may have its own
subclass of `MethodSettings`. `RunConfig.from_options` gets a registry of methods, and asks the
registry for the settings class of the method. `protocols.py` has the presets of `--protocol`.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

from .methods import (
    SPLITS,
    UNDER_A_MODEL,
    UNRECORDED,
    AbduceSettings,
    AskHuman,
    BankSettings,
    Feedback,
    Fit,
    Lenient,
    MaxAnswers,
    MethodName,
    MethodSettings,
    RepairSettings,
    RowBankSettings,
    TargetGap,
    Template,
    TextSettings,
    ToolCalls,
)
from .protocols import RunProtocol, find_protocol
from .session import (
    MAX_CONCURRENCY,
    BudgetConfig,
    ClusterConfig,
    DataConfig,
    ModelConfig,
    ProtocolConfig,
    RaterConfig,
    RolesConfig,
    RunConfig,
    SandboxConfig,
    StoreConfig,
    TextConfig,
)

__all__ = [
    "MAX_CONCURRENCY",
    "SPLITS",
    "UNDER_A_MODEL",
    "UNRECORDED",
    "AbduceSettings",
    "AskHuman",
    "BankSettings",
    "BudgetConfig",
    "ClusterConfig",
    "DataConfig",
    "Feedback",
    "Fit",
    "Lenient",
    "MaxAnswers",
    "MethodName",
    "MethodSettings",
    "ModelConfig",
    "ProtocolConfig",
    "RaterConfig",
    "RepairSettings",
    "RolesConfig",
    "RowBankSettings",
    "RunConfig",
    "RunProtocol",
    "SandboxConfig",
    "StoreConfig",
    "TargetGap",
    "Template",
    "TextConfig",
    "TextSettings",
    "ToolCalls",
    "find_protocol",
]
