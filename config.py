"""The configuration of a session: every setting is one field here or in its method's module.

A setting has one name everywhere: `temperature` is the flag `--temperature`, the key in
peirce.toml, the variable PEIRCE_TEMPERATURE, the keyword of `peirce.run` and a field of
`RunConfig`. A new setting is one new field here, and a run of
`python -m peirce.commands.write_option_types` for type checkers.

`RunConfig` consists of parts. A part is frozen and refuses unknown names and values of another
type in one sentence (`records.UsageError`). Each method's module in graphs/ has its own
`MethodSettings`; the registry that is passed to `RunConfig.from_options` selects the class.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import SerializeAsAny, field_validator, model_validator

from .records import Json, Proposer, Repairer, UsageError, registry
from .records.settings import (
    CompositeSettings,
    MethodRegistry,
    Number,
    Settings,
    check_text_or_object,
    describe_unknown_setting,
    is_known_option,
    place_option,
    setting,
    shared_setting,
)

PathLike: TypeAlias = str | Path
KeyValues: TypeAlias = Sequence[str] | Mapping[str, Json]


class DataConfig(Settings):
    """Which problems a session works on, and which of their observations are shown."""

    panel = "Data"
    data: PathLike | None = setting(
        None, "Published or your own file or folder, plain or gzip; else the task's generator.",
        metavar="PATH",
    )  # fmt: skip
    problems: int | None = setting(None, "The first N problems (generated ones: 12).", metavar="N")
    problem: Sequence[str] = setting((), "This problem alone; repeatable.", metavar="ID")
    sample: int | None = setting(
        None, "N problems of the data, drawn by the seed whatever --observations is.", metavar="N"
    )
    subset: Sequence[str] = setting(
        (), "Only problems of this split, as preference pairs are split: train, validation,"
        " held-out; repeatable.", metavar="SPLIT",
    )  # fmt: skip
    split_seed: int = setting(0, "Which problems stand in which split.", metavar="N")
    fractions: Sequence[Number] | None = setting(
        None, "Groups of problems for training, for validation, held out (.5,.1,.4).",
        metavar="A,B,C",
    )  # fmt: skip
    fixed: PathLike | None = setting(
        None, "Groups whose split is given: JSON, an object of lists by split.", metavar="FILE"
    )
    observations: int | PathLike | None = setting(
        None, "Show N pairs drawn from each problem's, or those of a file in GEAR's form; the rest"
        " is hidden. Else the original split.", metavar="N|FILE",
    )  # fmt: skip
    space: PathLike | None = setting(
        None, "A sample space as JSONL, an input a line; else the task's own.", metavar="FILE"
    )
    seed: int = setting(
        0, "Of problems made or drawn, of drawn observations and of the model's sampling."
    )
    label: str | None = setting(
        None, "Of labelled text: the column of the labels, where no config names it.",
        metavar="COLUMN",
    )  # fmt: skip
    ood: str | None = setting(
        None, "Of labelled text: which OOD file, where there are several.", metavar="NAME"
    )
    skip_bad: bool = setting(False, "Leave out unreadable records of the data, and count them; else the first is an error.")  # fmt: skip


class ModelConfig(Settings):
    """The model that proposes hypotheses, and its settings."""

    panel = "Model and method"
    model: str | Proposer = setting(
        "search", "search, openai:NAME, http://host:port/v1#NAME, hf:FOLDER (hf:ID,"
        " hf:BASE+ADAPTER), recorded:FILE or scripted:FILE.",
    )  # fmt: skip
    temperature: Number | None = setting(None, "Of the model's sampling; 0 is greedy.")
    top_p: Number | None = setting(None, "Of the model's sampling.")
    max_tokens: int | None = setting(None, "Of one answer (local models: 1024).")
    reasoning_effort: str | None = setting(
        None, "A word of the endpoint, as low or high.", metavar="WORD"
    )
    timeout_s: Number | None = setting(
        None, "Of one request with its whole answer, in seconds (300)."
    )
    retries: int | None = setting(None, "Of one call to an endpoint after its first request (5).")
    model_arg: KeyValues = setting(
        (), "Any other setting of the model, or field of an endpoint's request; V is JSON or text;"
        " repeatable.", metavar="K=V",
    )  # fmt: skip
    budget_expansions: int | None = setting(
        None, "How far `search` looks before each answer (150,000)."
    )
    preset: str | None = setting(
        None, "Of `search`: quick, standard, thorough; of rules about worlds also tight, safe."
    )

    @field_validator("model", mode="plain")
    @classmethod
    def _is_a_model(cls, value: Any) -> str | Proposer:
        found: str | Proposer = check_text_or_object("model", value, "propose", str | Proposer)
        return found


class RolesConfig(Settings):
    """Models that play the other roles of a session, where the proposer does not."""

    panel = "Model and method"
    judge_model: str | None = setting(None, "Labels texts, where it is not the proposer.")
    literature_model: str | None = setting(None, "Reads papers, where it is not the proposer.")
    role: Sequence[str] = setting(
        (), "Of the model of judge or literature, as judge.temperature=0; repeatable.",
        metavar="ROLE.K=V",
    )  # fmt: skip
    roles: Mapping[str, Any] | None = setting(
        None, "Settings of roles by name: {\"judge\": {\"model\": …, \"temperature\": …}}.",
        flag=False,
    )  # fmt: skip


class RaterConfig(Settings):
    """The model that rates stored hypotheses for `peirce rate`. No session uses it."""

    panel = "Model and method"
    scorer_model: str | None = setting(None, "Rates hypotheses.")
    role: Sequence[str] = setting(
        (), "Of the scorer's model, as scorer.temperature=0; repeatable.", metavar="ROLE.K=V"
    )
    roles: Mapping[str, Any] | None = setting(
        None, "Settings of it by name: {\"scorer\": {\"model\": …, \"temperature\": …}}.",
        flag=False,
    )  # fmt: skip


MethodName: TypeAlias = Annotated[
    str,
    shared_setting(
        "How a session goes: abduce, refine, io, t3, imported for recorded answers; on labelled text"
        " also hypogenic, hyporefine, literature, union, zero-shot-gen, direct, infer."
    ),
]
MaxAnswers: TypeAlias = Annotated[
    int,
    shared_setting(
        "At most so many answers a problem (25; refine 8; io asks once).", ge=1, le=1_000_000
    ),
]
ToolCalls: TypeAlias = Annotated[
    int,
    shared_setting(
        "At most so many tool calls an answer (4; refine and io 0); 0 offers the model no tools.",
        ge=0, le=1_000,
    ),
]  # fmt: skip
Feedback: TypeAlias = Annotated[
    bool | None,
    shared_setting(
        "Whether the next prompt says where an answer failed (default: where the model takes no"
        " tools)."
    ),
]
Template: TypeAlias = Annotated[
    Literal["full", "compact"],
    shared_setting(
        "Of prompts: full (the default), or compact, few tokens for small models.",
        metavar="full|compact",
    ),
]
TargetGap: TypeAlias = Annotated[
    Number | None,
    shared_setting(
        "Of refine on abd: stop at a valid rule whose cost is so near to its lower bound, a prompt"
        " world (1.0).", metavar="GAP", ge=0,
    ),
]  # fmt: skip


class MethodSettings(Settings):
    """Settings that every method has.

    A method's own class gives other defaults and adds its own settings. A field that it declares
    without a `setting` is fixed.
    """

    panel = "Model and method"
    method: MethodName = "abduce"
    max_answers: MaxAnswers = 25
    tool_calls: ToolCalls = 4
    max_bad: int | None = 3  # in total, not in a row (GEAR, section 4.1)
    feedback: Feedback = None
    answer_format: str | None = setting(
        None, "What an answer looks like; for programs tuple, json or fenced_function."
    )
    strict_contract: bool = setting(
        False, "An answer that breaches its contract (imports, a second function, …) is malformed;"
        " else it runs and the breach is counted.",
    )  # fmt: skip
    history: Literal["descriptions", "chat"] = setting(
        "descriptions", "How earlier hypotheses are shown: descriptions or chat."
    )
    template: Template = "full"


class RepairSettings(MethodSettings):
    """Settings of a method that reports oracle results in prompts and may repair answers."""

    target_gap: TargetGap = None
    repair: str | Repairer | None = setting(
        None, "Of refine on abd: search mends and shrinks each answer that falls short of the"
        " target.", metavar="search",
    )  # fmt: skip

    @field_validator("repair", mode="plain")
    @classmethod
    def _is_a_repairer(cls, value: Any) -> str | Repairer | None:
        found: str | Repairer | None = value
        if value is not None:
            found = check_text_or_object("repair", value, "repair", str | Repairer | None)
        return found


class BankSettings(MethodSettings):
    """Settings of a method that builds or reads a bank in one fixed way."""

    max_answers: int = 25
    feedback: bool | None = None
    template: Literal["full", "compact"] = "full"


SPLITS = ("val", "ind", "ood")
UNDER_A_MODEL = 50  # validation rows that score a hypothesis where a model judges


class TextSettings(Settings):
    """Parameters of the HypoGeniC algorithm, of judging texts and of reading a bank.

    Defaults are those of the published HypoBench runs where these have one; a method may set its
    own.
    """

    panel = "Labelled text"
    examples: int | None = setting(
        10, "Rows in the first prompt, or all of them (10; with model search all).",
        metavar="N|all", ge=1,
    )  # fmt: skip
    hypotheses: int = setting(
        10, "Hypotheses asked for in one prompt (10; io and refine 5; with model search 20).",
        metavar="N", ge=1,
    )  # fmt: skip
    top: int = setting(10, "The best of the bank, which a row is given to (k).", flag=False, ge=1)
    alpha: Number = setting(0.5, "Weight of exploration in the reward.", flag=False, ge=0)
    scale: Number = setting(
        0.8,
        "A row is wrong where scale * top * row / rows of them are not right.",
        flag=False,
        ge=0,
    )
    wrong: int = setting(
        10, "Wrong rows that make the bank ask for new hypotheses.", flag=False, ge=1
    )
    capacity: int = setting(20, "Hypotheses that the bank holds.", flag=False, ge=1)
    rounds: int = setting(
        1, "Passes through the rows (1); of method t3, on any task, its rounds (5).", metavar="N",
        ge=0,
    )  # fmt: skip
    rewrites: int = setting(
        6, "Of hyporefine, at each regeneration: literature, data, literature, …", flag=False, ge=0
    )
    tau: Number = setting(
        0.7, "Share of the rows it covers that a consistent sentence is right on (0.7).",
        metavar="SHARE", ge=0,
    )  # fmt: skip
    judge: Literal["auto", "exact", "model"] = setting(
        "auto", "auto: exact rules judge themselves, a model the other sentences; exact: no model is"
        " asked; model: it judges all.", metavar="auto|exact|model",
    )  # fmt: skip
    repeats: int = setting(
        1, "Times that a model judge is asked; the majority counts (1).", metavar="N", ge=1
    )
    judge_space: bool = setting(
        False, "A model judges the sample space too: that many calls a hypothesis.", flag=False
    )
    prompts: Literal["own", "config"] = setting(
        "own", "own, or config: the prompts that the data set's config brings (own).",
        metavar="own|config",
    )  # fmt: skip
    banks_all: bool = setting(
        True, "Also sentences that are not consistent enter the bank (not of abduce).", flag=False
    )
    inference: str | None = setting(
        "multi", "How the bank is read: best, filter-weight, one-step, two-step, multi, weighted, or"
        " choose, which tries them on validation rows (multi; with model search weighted).",
        metavar="STRATEGY",
    )  # fmt: skip
    readers: int = setting(
        5, "Hypotheses that filter-weight, one-step and two-step choose from the bank.",
        flag=False, ge=1,
    )  # fmt: skip
    similarity: Number = setting(
        0.7, "Share of right rows from which on two are not both chosen.", flag=False, ge=0
    )
    pattern_rows: int = setting(
        5, "Right rows that one-step and two-step show with each hypothesis.", flag=False, ge=0
    )
    shots: int = setting(
        0, "Of direct: labelled rows in each prompt (0: zero-shot).", metavar="N", ge=0
    )
    validation: int | None = setting(
        None, "At most so many validation rows score a hypothesis for a choice (all; under a model"
        " judge 50).", metavar="N", option="validation_rows", ge=0,
    )  # fmt: skip
    splits: Sequence[Literal["val", "ind", "ood"]] = setting(
        SPLITS, "Predict these rows alone: val, ind, ood; repeatable.", metavar="SPLIT",
        option="split",
    )  # fmt: skip

    @field_validator("tau", "similarity")
    @classmethod
    def _is_a_share(cls, value: Number, info: Any) -> Number:
        if value > 1:
            raise UsageError(f"{info.field_name} is {value!r}: it is a share, at most 1")
        return value


class TextConfig(TextSettings):
    """Settings of labelled text, including the papers and stored banks that a session reads."""

    examples: int | Literal["all"] | None = setting(  # type: ignore[assignment]
        10, "Rows in the first prompt, or all of them (10; with model search all).",
        metavar="N|all",
    )  # fmt: skip
    literature: PathLike | None = setting(
        None, "Papers: a folder or file of PDF, Markdown, text, .bib or .jsonl.", metavar="DIR"
    )
    bank: Sequence[PathLike] = setting(
        (), "A stored bank: a session, or a file of `peirce bank`; repeatable (union).",
        metavar="SESSION|FILE",
    )  # fmt: skip
    method_arg: KeyValues = setting(
        (), "Any other setting of a method: on labelled text, as capacity=20, and of a method that"
        " another package brings; repeatable.",
        metavar="K=V",
    )  # fmt: skip


class BudgetConfig(Settings):
    """Limits on what a session may spend. Prices are US dollars per million tokens."""

    panel = "Running"
    budget_tokens: int | None = setting(
        None, "Stop before a model call once so many tokens, in and out, were taken; the rest stays"
        " open.", metavar="N", gt=0,
    )  # fmt: skip
    budget_usd: Number | None = setting(
        None, "The same in US dollars; needs --price-in and --price-out.", gt=0
    )
    price_in: Number | None = setting(None, "US dollars a million tokens going in.", ge=0)
    price_out: Number | None = setting(None, "The same coming out, reasoning included.", ge=0)
    price_cached: Number | None = setting(
        None, "The same going in from the endpoint's cache (default: as in).", ge=0
    )
    max_failures: int | None = setting(
        None, "Stop when so many problems failed; the rest stays open.", metavar="N", gt=0
    )

    @model_validator(mode="after")
    def _has_the_prices_it_needs(self) -> Self:
        missing = [name for name in ("price_in", "price_out") if getattr(self, name) is None]
        prices = (self.price_in, self.price_out, self.price_cached)
        if missing and (self.budget_usd is not None or any(one is not None for one in prices)):
            what = "a price" if self.budget_usd is None else "budget_usd"
            raise UsageError(
                f"{what} needs {' and '.join(missing)} too, in US dollars a million tokens"
            )
        return self


class SandboxConfig(Settings):
    """Where hypotheses run and which solver evaluates rules."""

    panel = "Running"
    sandbox: str = setting("process", "Where hypotheses run.")
    strict_sandbox: bool = setting(False, "Refuse to run where a wanted layer is missing.")
    solver: str = setting(
        "fast", "What judges rules about worlds: fast (Z3 only where the fast path ends) or z3."
    )


class ClusterConfig(Settings):
    """How work is distributed on this machine."""

    panel = "Running"
    workers: int | None = setting(
        None, "Sandbox or solver processes (default: one a core, of the solver one; at most 256).",
        ge=1, le=256,
    )  # fmt: skip
    concurrency: int | None = setting(
        None, "Problems side by side (default: 8; of a local model half as many again as its batch;"
        " at most 1,000).", ge=1, le=1_000,
    )  # fmt: skip


class StoreConfig(Settings):
    """Where a session is stored, and whether it uses the stored calls of other sessions."""

    panel = "Output"
    store: PathLike | None = setting(
        None, "The DuckDB file ($PEIRCE_STORE, else peirce.duckdb here).", metavar="FILE"
    )
    cache: bool = setting(
        True, "Whether what another session of the store asked of the same model, with the same"
        " settings and seed, is answered from there.",
    )  # fmt: skip


class RunConfig(CompositeSettings):
    """All settings of a session, in parts."""

    data: DataConfig = DataConfig()
    model: ModelConfig = ModelConfig()
    roles: RolesConfig = RolesConfig()
    method: SerializeAsAny[MethodSettings] = MethodSettings()
    text: TextConfig = TextConfig()
    budget: BudgetConfig = BudgetConfig()
    sandbox: SandboxConfig = SandboxConfig()
    cluster: ClusterConfig = ClusterConfig()
    store: StoreConfig = StoreConfig()

    @classmethod
    def from_options(
        cls, options: Mapping[str, Any], methods: MethodRegistry, base: RunConfig | None = None
    ) -> RunConfig:
        """Build a configuration from plain names.

        Args:
            options: Values by option name; None counts as not set.
            methods: Knows the settings of each method.
            base: The configuration that the options override; None for the defaults. Settings of
                its method are left out where the options name another one.

        Raises:
            UsageError: An unknown option, a value of another type or out of range, an option that
                the method does not take, or a budget without the prices that it needs.
        """
        base = base or cls()
        method = options.get("method")
        method = base.method.method if method is None else method
        if not isinstance(method, str):
            # raises an error that says what is wrong
            MethodSettings.model_validate({"method": method})
        classes = {**cls.part_classes(), "method": methods.settings_of(method)}
        values: dict[str, dict[str, Any]] = {name: {} for name in classes}
        if type(base.method) is MethodSettings and base.method.method == method:
            # The base has the class that all methods share: treat its fields as if set by name.
            given = {name: value for name, value in options.items() if value is not None}
            options = {**dict.fromkeys(options), **base.method.explicit_values(), **given}
        for option, value in options.items():
            if value is not None:
                part, field = place_option(option, value, method, classes, methods)
                values[part][field] = value
            elif not is_known_option(option, classes, methods):
                raise UsageError(describe_unknown_setting(option, classes))
        built: dict[str, Settings] = {}
        for name, part_class in classes.items():
            before = getattr(base, name)
            kept = (
                before.explicit_values() if type(before) is part_class or name != "method" else {}
            )
            built[name] = part_class(**{**kept, **values[name]})
        return cls.model_validate(built)

    @field_validator("method", mode="before")
    @classmethod
    def _of_its_class(cls, value: Any) -> Any:
        """Convert a mapping of method settings to the settings class of that method."""
        if not isinstance(value, Mapping):
            return value
        name = value.get("method", "abduce")
        if not isinstance(name, str) or not registry.is_registered("methods", name):
            return value
        return registry.load("methods", name).settings(**value)

    @classmethod
    def from_record(cls, record: Mapping[str, Any], methods: MethodRegistry) -> RunConfig:
        """Return the configuration that `to_record` stored. Raises UsageError."""
        classes = dict(cls.part_classes())
        classes["method"] = methods.settings_of(record.get("method", {}).get("method", "abduce"))
        return cls.model_validate({key: classes[key](**values) for key, values in record.items()})
