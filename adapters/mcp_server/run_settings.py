"""Check the settings that a client sends for a session, before the public functions see them.

A setting is passed on only if one of the tables below lists it. So a new setting of Peirce is refused
until somebody has decided whether a client may choose it. The reason for every refusal: a client may
be a language model that has just read a hostile text, and such a text must not choose which address
is called, which key is sent, which file outside the root is read, or what runs in this process.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...records.errors import UsageError
from .file_access import RootFolder
from .settings import FILE_MODELS, LOCAL_MODELS, ServerSettings

# Settings whose values cannot reach a file, an address or code.
PLAIN = frozenset(
    {
        *("method", "tool_calls", "answer_format", "strict_contract", "lenient", "history"),
        *("feedback", "template", "fit", "problem_tokens", "rounds", "max_answers"),
        *("history_limit", "patience", "target_gap", "seed_hypotheses", "problems", "problem"),
        *("sample", "subset", "split_seed", "fractions", "seed", "label", "ood", "target", "units"),
        *("learning_curve", "skip_bad", "temperature", "top_p", "max_tokens", "reasoning_effort"),
        *("reasoning_tokens", "timeout_s", "retries", "budget_expansions", "preset", "protocol"),
        *("examples", "hypotheses", "tau", "judge", "repeats", "judge_batch", "prompts"),
        *("inference", "shots", "validation_rows", "split", "budget_tokens", "budget_usd"),
        *("price_in", "price_out", "price_cached", "max_failures", "solver", "concurrency"),
        *("cache", "ask_human"),
    }
)
PATHS = frozenset({"fixed", "space", "literature"})  # a file or folder
MODELS = frozenset(
    {"model", "judge_model", "judge_then", "literature_model", "namer_model", "then"}
)
OWN_CHECKS = frozenset({"data", "observations", "bank", "repair"})
REFUSED: Mapping[str, str] = {
    "model_arg": "it can name an address or the variable of a key",
    "role": "it can name an address or the variable of a key",
    "roles": "it can name an address or the variable of a key",
    "method_arg": "it reaches settings that this server does not know",
    "method_options": "it reaches settings that this server does not know",
    "batch_files": "answers may take a day; run such a session on the command line",
    "sandbox": "the server chooses it with --sandbox",
    "strict_sandbox": "the server chooses it with --strict-sandbox",
    "workers": "the server chooses it with --workers",
    "cluster": "it names an address",
    "store": "the server chooses it with --store",
}
MAX_CONCURRENCY = 64  # requests at the same time that a client may ask for
MAX_ROWS = 100_000  # rows of data in an argument; a file may have more


@dataclass(frozen=True)
class AccessRules:
    """What clients of this server may use.

    Args:
        server: the settings of the server.
    """

    server: ServerSettings

    @property
    def root(self) -> RootFolder:
        """The folder below which all files lie."""
        return RootFolder(self.server.root)

    def check_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return settings of a session as the public functions take them, without those that are None.

        Paths become absolute. The settings that the server chooses are added.

        Raises:
            UsageError: a setting is unknown, refused, or its value may not be used here.
        """
        found = {
            name: self._check(name, value) for name, value in settings.items() if value is not None
        }
        return {**found, **self.own_settings()}

    def merge_settings(
        self, named: Mapping[str, Any], settings: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Return the checked settings of arguments with a name of their own and of `settings`.

        Raises:
            UsageError: as `check_settings`, and if a setting is set in both.
        """
        own = {name: value for name, value in named.items() if value is not None}
        for name in settings or {}:
            if name in own:
                raise UsageError(f"{name} is set twice, as an argument and in settings")
        return self.check_settings({**own, **(settings or {})})

    def limit_budget(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return settings of a session whose budget of tokens is at most that of the server.

        Raises:
            UsageError: a client asks for a larger budget.
        """
        most, asked = self.server.budget_tokens, settings.get("budget_tokens")
        if most is None:
            return settings
        if type(asked) is int and asked > most:
            raise UsageError(
                f"budget_tokens is {asked:,}: this server allows {most:,} in a session"
            )
        return {"budget_tokens": most, **settings}

    def own_settings(self) -> dict[str, Any]:
        """Return the settings that the server chooses for every session."""
        own = self.server
        chosen = {"store": str(own.store), "sandbox": own.sandbox, "workers": own.workers}
        return {
            **{name: value for name, value in chosen.items() if value is not None},
            **({"strict_sandbox": True} if own.strict_sandbox else {}),
        }

    def sandbox_settings(self) -> dict[str, Any]:
        """Return the settings that the server chooses where no session is involved."""
        return {name: one for name, one in self.own_settings().items() if name != "store"}

    def _check(self, name: str, value: Any) -> Any:
        if name in REFUSED:
            raise UsageError(f"{name} cannot be set by a client of this server: {REFUSED[name]}")
        if name in PATHS:
            return self.root.find(_check_text(name, value), name)
        if name in MODELS:
            return self.check_model(_check_text(name, value), name)
        if name == "data":
            return self.check_data(value)
        if name == "observations":
            is_count = type(value) is int or (isinstance(value, str) and value.strip().isdecimal())
            return value if is_count else self.root.find(_check_text(name, value), name)
        if name == "bank":
            banks = value if isinstance(value, list) else [value]
            return [self.check_bank(_check_text(name, one)) for one in banks]
        if name == "repair":
            if _check_text(name, value).partition(":")[0] != "search":
                raise UsageError(f"repair is {value!r:.80}: only search repairs answers here")
            return value
        if name == "concurrency" and type(value) is int and value > MAX_CONCURRENCY:
            raise UsageError(f"concurrency is {value}: this server allows {MAX_CONCURRENCY}")
        if name not in PLAIN:
            known = sorted(PLAIN | PATHS | MODELS | OWN_CHECKS)
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise UsageError(f"there is no setting {name!r:.80} that a client may choose{hint}")
        return value

    def check_task(self, task: str) -> str:
        """Return the name of a task, or the absolute path of a task file if these are allowed.

        Raises:
            UsageError: it is the path of a task file, and the server does not allow these.
        """
        is_file = "/" in task or "\\" in task or task.lower().endswith((".py", ".yaml", ".yml"))
        if not is_file:
            return task
        if not self.server.task_files:
            raise UsageError(
                f"task {task!r:.200} is a file: this server takes task files only if it was started"
                " with --allow-task-files, because a Python file runs in its process"
            )
        return self.root.find(task, "task")

    def check_model(self, spec: str, name: str = "model") -> str:
        """Return a model string that may be used here.

        Raises:
            UsageError: the server was not started with this model, and it is no local one.
        """
        kind, _, rest = spec.partition(":")
        if spec in self.server.models or kind in LOCAL_MODELS:
            return spec
        if kind in FILE_MODELS and rest:
            return f"{kind}:{self.root.find(rest, name)}"
        allowed = ", ".join(dict.fromkeys((*self.server.models, "search")))
        raise UsageError(
            f"{name} {spec!r:.120} is not a model that this server may call (it may call {allowed});"
            " whoever starts the server names more models with --model"
        )

    def check_data(self, data: Any) -> Any:
        """Return the data of a session: the absolute path of a file or folder, or rows.

        Raises:
            UsageError: the path lies outside the root, or there are too many rows.
        """
        if isinstance(data, str):
            return self.root.find(data, "data")
        if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
            raise UsageError(
                "data must be the path of a file, or a list of objects, one for each row"
            )
        if len(data) > MAX_ROWS:
            raise UsageError(f"data has {len(data):,} rows; write more than {MAX_ROWS:,} to a file")
        return data

    def check_bank(self, name: str) -> str:
        """Return a bank: the id of a session, or the absolute path of a file below the root.

        Raises:
            UsageError: it is neither.
        """
        is_id = name.isalnum() and name.isascii()
        if is_id and not os.path.lexists(self.server.root / name) and not os.path.lexists(name):
            return name
        return self.root.find(name, "bank")


def _check_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a text, not {type(value).__name__}")
    return value
