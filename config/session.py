"""The settings of a session: one class for each subject, and `RunConfig`, which combines them.

Each settings object is immutable. An unknown name or a value of the wrong type raises
`records.UsageError` with a message of one sentence. The settings of methods are in methods.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

from pydantic import SerializeAsAny, field_validator, model_validator

from ..records import Json, Proposer, UsageError, registry
from ..records.settings import (
    CompositeSettings,
    MethodRegistry,
    Number,
    Settings,
    check_text_or_object,
    describe_unknown_setting,
    is_known_option,
    place_option,
    setting,
)
from ..records.tables import RowTable, TableLike, read_table
from .methods import AbduceSettings, MethodSettings, TextSettings

PathLike: TypeAlias = str | Path
MAX_CONCURRENCY = 1_000  # problems in progress at the same time
KeyValues: TypeAlias = Sequence[str] | Mapping[str, Json]


class DataConfig(Settings):
    """Settings that select the problems of a session and the observations that the model sees."""

    panel = "Data"
    data: PathLike | RowTable | TableLike | None = setting(
        None, "File or folder with the data, published or your own, plain or gzip (default: the"
              " task's generator).",
        metavar="PATH",
    )  # fmt: skip
    problems: int | None = setting(
        None,
        "Use only the first N problems (default: all of a file; 12 generated ones).",
        metavar="N",
    )
    problem: Sequence[str] = setting(
        (), "Use only the problem with this ID. May be repeated.", metavar="ID"
    )
    sample: int | None = setting(
        None,
        "Draw N problems from the data at random. The draw depends only on --seed, not on"
        " --observations.",
        metavar="N",
    )
    subset: Sequence[str] = setting(
        (), "Use only problems of this split of the preference pairs: train, validation or"
            " held-out. May be repeated.", metavar="SPLIT",
    )  # fmt: skip
    split_seed: int = setting(0, "Seed that assigns problems to splits.", metavar="N")
    fractions: Sequence[Number] | None = setting(
        None, "Shares of problem groups for training, for validation and held out (default:"
              " .5,.1,.4).",
        metavar="A,B,C",
    )  # fmt: skip
    fixed: PathLike | None = setting(
        None,
        "JSON file that fixes the split of some groups: an object with a list of groups"
        " for each split.",
        metavar="FILE",
    )
    observations: int | PathLike | None = setting(
        None, "Show N randomly drawn pairs of each problem, or the pairs listed in a file in"
              " GEAR's format, and hide the others (default: the original split).", metavar="N|FILE",
    )  # fmt: skip
    space: PathLike | None = setting(
        None,
        "Sample space as JSONL with one input per line (default: the task's own).",
        metavar="FILE",
    )
    seed: int = setting(
        0,
        "Random seed for generating or drawing problems, drawing observations and sampling"
        " from the model.",
    )
    label: str | None = setting(
        None, "For labelled text: the column that holds the labels, if no config of the data"
              " set names it.",
        metavar="COLUMN",
    )  # fmt: skip
    ood: str | None = setting(
        None,
        "For labelled text: the out-of-distribution (OOD) file to use, if there are several.",
        metavar="NAME",
    )
    target: str | None = setting(
        None, "For laws of numbers: the column that a formula should explain.", metavar="COLUMN"
    )
    units: str | None = setting(
        None,
        "For laws of numbers: units of columns, for example m=kg,v=m/s (default: those in brackets"
        " at the end of a column's name).",
        metavar="COLUMN=UNIT,…",
    )
    learning_curve: bool = setting(
        False, "For labelled text: also run the session on 200, 800, 3,200, … of the shown rows, and"
               " report the accuracy by number of rows.",
    )  # fmt: skip
    skip_bad: bool = setting(False, "Skip unreadable records of the data and count them (default: the first one is an"
        " error).")  # fmt: skip

    @field_validator("data", mode="before")
    @classmethod
    def _read_table(cls, value: Any) -> Any:
        """Read a table once, so that the configuration stays the same when the table changes."""
        return value if isinstance(value, str | Path | int | float | None) else read_table(value)


class ModelConfig(Settings):
    """Settings that select and configure the model that proposes hypotheses."""

    panel = "Model and method"
    model: str | Proposer = setting(
        "search", "Model that proposes hypotheses: search (the default), openai:NAME,"
            " anthropic:NAME, gemini:NAME, ollama:NAME and other providers,"
            " http://host:port/v1#NAME (several servers: http://a:8000/v1,http://b:8000/v1#NAME),"
            " hf:FOLDER (hf:ID, hf:BASE+ADAPTER), cvc5, pyoperon, gplearn, recorded:FILE or"
            " scripted:FILE.",
    )  # fmt: skip
    temperature: Number | None = setting(
        None, "Sampling temperature of the model; 0 is greedy decoding."
    )
    top_p: Number | None = setting(
        None,
        "Nucleus sampling: sample from the most likely tokens whose probabilities add up to"
        " this value.",
    )
    max_tokens: int | None = setting(
        None, "Maximum number of tokens per answer (local models: 1024)."
    )
    reasoning_effort: str | None = setting(
        None,
        "Reasoning effort that is sent to the endpoint, for example low or high.",
        metavar="WORD",
    )
    reasoning_tokens: int | None = setting(
        None, "Maximum number of tokens for reasoning per answer, at endpoints that have such a"
              " limit.",
    )  # fmt: skip
    timeout_s: Number | None = setting(
        None, "Time limit in seconds for one request, including its complete answer (300)."
    )
    retries: int | None = setting(None, "Maximum number of retries per call to an endpoint (5).")
    batch_files: bool | None = setting(
        None, "Collect the requests of all problems and send them as batch files, which are cheaper"
              " and answered within 24 hours (openai, and endpoints with /files and /batches)."
    )  # fmt: skip
    model_arg: KeyValues = setting(
        (), "Any other setting of the model, or a field of the request to an endpoint. V is"
            " JSON or text. May be repeated.", metavar="K=V",
    )  # fmt: skip
    budget_expansions: int | None = setting(
        None, "Maximum number of candidates that `search` expands before each answer (150,000)."
    )
    preset: str | None = setting(
        None,
        "Preset of `search`: quick, standard or thorough; for rules about worlds also"
        " tight or safe.",
    )

    @field_validator("model", mode="plain")
    @classmethod
    def _is_a_model(cls, value: Any) -> str | Proposer:
        found: str | Proposer = check_text_or_object("model", value, "propose", str | Proposer)
        return found


class ProtocolConfig(Settings):
    """The published protocol whose options the session takes over (protocols.py)."""

    panel = "Model and method"
    protocol: str | None = setting(
        None, "Conditions of a published experiment: gear, hypogenic or abd. Options that are set"
              " explicitly take precedence (default: none).", metavar="NAME",
    )  # fmt: skip


class RolesConfig(Settings):
    """Settings that give the judge, the literature reader and the namer their own models, and that
    name a second proposer.

    By default, the model that proposes hypotheses also plays the first two of these roles, and
    nobody plays the others.
    """

    panel = "Model and method"
    judge_model: str | None = setting(
        None, "Model that labels texts (default: the proposer, or --then if it cannot judge)."
    )
    judge2_model: str | None = setting(
        None, "Second judge: a model that labels the texts on which the first judge is unsure"
              " (default: none; needs --repeats of at least 2, by default 3).",
        metavar="MODEL", option="judge_then",
    )  # fmt: skip
    literature_model: str | None = setting(None, "Model that reads papers (default: the proposer).")
    namer_model: str | None = setting(
        None, "Model that names themes, the long lists of terms in sentences about labelled text"
              " (default: none; a theme is named by its strongest words).",
    )  # fmt: skip
    then_model: str | None = setting(
        None, "Second model, which proposes hypotheses for problems that end without an accepted one, or for"
              " refine without reaching the target (default: none).",
        metavar="MODEL", option="then",
    )  # fmt: skip
    role: Sequence[str] = setting(
        (), "Set a model setting of the role judge, judge2, literature, namer or then, for example"
            " judge.temperature=0. May be repeated.",
        metavar="ROLE.K=V",
    )  # fmt: skip
    roles: Mapping[str, Any] | None = setting(
        None, "Model settings of each role by name: {\"judge\": {\"model\": …, \"temperature\":"
              " …}}.",
        flag=False,
    )  # fmt: skip


class RaterConfig(Settings):
    """Settings of the model that rates stored hypotheses for `peirce rate`.

    Sessions do not use this class.
    """

    panel = "Model and method"
    scorer_model: str | None = setting(None, "Model that rates hypotheses.")
    role: Sequence[str] = setting(
        (),
        "Set a model setting of the scorer, for example scorer.temperature=0. May be repeated.",
        metavar="ROLE.K=V",
    )
    roles: Mapping[str, Any] | None = setting(
        None, "Model settings of the scorer by name: {\"scorer\": {\"model\": …,"
              " \"temperature\": …}}.",
        flag=False,
    )  # fmt: skip


class TextConfig(TextSettings):
    """Settings for labelled text, including the papers and stored banks that a session reads.

    A bank is a stored collection of hypotheses.
    """

    examples: int | Literal["all"] | None = setting(  # type: ignore[assignment]
        10, "Number of rows in the first prompt, or all (10; with model search all).",
        metavar="N|all",
    )  # fmt: skip
    literature: PathLike | None = setting(
        None,
        "Papers to read: a folder or a file in PDF, Markdown, text, .bib or .jsonl format.",
        metavar="DIR",
    )
    bank: Sequence[PathLike] = setting(
        (), "Stored bank to use: a session, or a file written by `peirce bank --out`. May be"
            " repeated (union).",
        metavar="SESSION|FILE",
    )  # fmt: skip
    method_arg: KeyValues = setting(
        (), "Any other setting of the method, for example capacity=20 on labelled text, or a"
            " setting of a method from another package. May be repeated.",
        metavar="K=V",
    )  # fmt: skip


class BudgetConfig(Settings):
    """Limits on the tokens, money and failures of a session. Prices are US dollars per million
    tokens.
    """

    panel = "Running"
    budget_tokens: int | None = setting(
        None, "Stop before the next model call once this many input and output tokens are used."
              " Unfinished problems stay open.", metavar="N", gt=0,
    )  # fmt: skip
    budget_usd: Number | None = setting(
        None,
        "Stop before the next model call once this many US dollars are spent; needs"
        " --price-in and --price-out.",
        gt=0,
    )
    price_in: Number | None = setting(None, "Price in US dollars per million input tokens.", ge=0)
    price_out: Number | None = setting(
        None, "Price in US dollars per million output tokens, including reasoning.", ge=0
    )
    price_cached: Number | None = setting(
        None,
        "Price in US dollars per million input tokens that the endpoint had cached"
        " (default: --price-in).",
        ge=0,
    )
    max_failures: int | None = setting(
        None, "Stop once this many problems have failed. The others stay open.", metavar="N", gt=0
    )

    @model_validator(mode="after")
    def _has_the_prices_it_needs(self) -> Self:
        missing = [name for name in ("price_in", "price_out") if getattr(self, name) is None]
        prices = (self.price_in, self.price_out, self.price_cached)
        if missing and (self.budget_usd is not None or any(one is not None for one in prices)):
            what = "a price" if self.budget_usd is None else "budget_usd"
            raise UsageError(
                f"{what} also needs {' and '.join(missing)}: set prices in US dollars per"
                " million tokens"
            )
        return self


class SandboxConfig(Settings):
    """Settings of the sandbox that runs hypotheses and of the solver that evaluates rules."""

    panel = "Running"
    sandbox: str = setting(
        "process", "Sandbox that runs hypotheses: process (the default) or docker."
    )
    strict_sandbox: bool = setting(False, "Refuse to run if a requested sandbox layer is missing.")
    solver: str = setting(
        "fast",
        "Solver for rules about worlds: fast (the default, which uses Z3 only if its"
        " fast path cannot decide) or z3.",
    )


class ClusterConfig(Settings):
    """Settings for parallel work: where it runs, and the numbers of processes and of concurrent
    problems.
    """

    panel = "Running"
    workers: int | None = setting(
        None, "Number of sandbox or solver processes, at most 256 (default: one per core;"
              " solver: one).",
        ge=1, le=256,
    )  # fmt: skip
    cluster: str = setting(
        "local", "Where work that needs processor time runs: local, on the nodes of a Ray cluster"
                 " (ray, ray://HOST).", metavar="local|ray|ray://HOST",
    )  # fmt: skip
    concurrency: int | None = setting(
        None, "Number of problems in progress at the same time, at most 1,000 (default: 8;"
              " local models: 1.5 times their batch size; a cluster: at least its cores).",
        ge=1, le=MAX_CONCURRENCY,
    )  # fmt: skip


class StoreConfig(Settings):
    """Settings for the store file and for the reuse of answers from other sessions."""

    panel = "Output"
    store: PathLike | None = setting(
        None,
        "DuckDB file of the store (default: $PEIRCE_STORE, otherwise peirce.duckdb in the"
        " current folder).",
        metavar="FILE",
    )
    cache: bool = setting(
        True, "Reuse answers that the store holds from other sessions for the same request,"
              " model, settings and seed.",
    )  # fmt: skip


class RunConfig(CompositeSettings):
    """All settings of a session, grouped by subject."""

    data: DataConfig = DataConfig()
    model: ModelConfig = ModelConfig()
    protocol: ProtocolConfig = ProtocolConfig()
    roles: RolesConfig = RolesConfig()
    method: SerializeAsAny[MethodSettings] = AbduceSettings()
    text: TextConfig = TextConfig()
    budget: BudgetConfig = BudgetConfig()
    sandbox: SandboxConfig = SandboxConfig()
    cluster: ClusterConfig = ClusterConfig()
    store: StoreConfig = StoreConfig()

    @classmethod
    def from_options(
        cls, options: Mapping[str, Any], methods: MethodRegistry, base: RunConfig | None = None
    ) -> RunConfig:
        """Build a configuration from a flat mapping of option names to values.

        Args:
            options: Values by option name; None counts as not set.
            methods: The registry that returns the settings class of each method.
            base: The configuration that the options override; None for the defaults. If the options
                choose another method than `base`, the method settings of `base` are dropped.

        Raises:
            UsageError: An option is unknown, a value is invalid, the method does not take an
                option, or a budget lacks the prices that it needs.
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
        """Rebuild the configuration that `to_record` stored.

        Args:
            record: The JSON object that `to_record` returned.
            methods: The registry that returns the settings class of each method.

        Raises:
            UsageError: The method is unknown, or a value is invalid.
        """
        classes = dict(cls.part_classes())
        classes["method"] = methods.settings_of(record.get("method", {}).get("method", "abduce"))
        return cls.model_validate({key: classes[key](**values) for key, values in record.items()})
