"""The settings that all methods share, and the settings for labelled text.

A method in graphs/methods/ that needs more settings has its own subclass of `MethodSettings`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import field_validator

from ..records import Json, Repairer, UsageError
from ..records.settings import Number, Settings, check_text_or_object, setting, shared_setting

MethodName: TypeAlias = Annotated[
    str,
    shared_setting(
        "Method of the session: abduce (the default), refine, io, t3, or imported for recorded"
        " answers; on labelled text also hypogenic, hyporefine, literature, union,"
        " zero-shot-gen, direct or infer."
    ),
]
MaxAnswers: TypeAlias = Annotated[
    int,
    shared_setting(
        "Maximum number of answers per problem (25; refine 8; io always 1).", ge=1, le=1_000_000
    ),
]
ToolCalls: TypeAlias = Annotated[
    int,
    shared_setting(
        "Maximum number of tool calls per answer; 0 offers the model no tools (4; refine and io"
        " 0).",
        ge=0, le=1_000,
    ),
]  # fmt: skip
Feedback: TypeAlias = Annotated[
    bool | None,
    shared_setting(
        "Tell the model in the next prompt where its answer failed (default: only if the model"
        " takes no tools)."
    ),
]
Lenient: TypeAlias = Annotated[
    bool,
    shared_setting(
        "Read an answer of nearly the right form (JSON with a trailing comma, a tool call written as"
        " text, …) and count what was wrong with it (default: true; import false)."
    ),
]
Template: TypeAlias = Annotated[
    Literal["full", "compact", "gear"],
    shared_setting(
        "Prompt template: full (the default), compact, which uses fewer tokens for small models, or"
        " gear, which has the structure of GEAR's prompts for programs.",
        metavar="full|compact|gear",
    ),
]
TargetGap: TypeAlias = Annotated[
    Number | None,
    shared_setting(
        "For refine on abd: stop at a valid rule whose cost exceeds its lower bound by at most"
        " this much per prompt world (1.0).", metavar="GAP", ge=0,
    ),
]  # fmt: skip

Fit: TypeAlias = Annotated[
    Literal["auto", "refuse"],
    shared_setting(
        "If a prompt is longer than the model's context: auto shortens the list of earlier"
        " hypotheses and then lists only the most informative observations; refuse fails the"
        " problem (auto; t3 refuse).", metavar="auto|refuse",
    ),
]  # fmt: skip
ProblemTokens: TypeAlias = Annotated[
    int | None,
    shared_setting(
        "Ask for no further answer to a problem once its model calls have used this many input and"
        " output tokens (default: no limit).", metavar="N", ge=1,
    ),
]  # fmt: skip
Patience: TypeAlias = Annotated[
    int | None,
    shared_setting(
        "End a problem after this many answers in a row that added nothing: no accepted hypothesis,"
        " or for refine no better one (default: no limit).", metavar="N", ge=1,
    ),
]  # fmt: skip

AskHuman: TypeAlias = Annotated[
    bool,
    shared_setting(
        "Ask a person for a hint where a problem would end without an accepted hypothesis: in the"
        " terminal, or by `peirce hint` (default: false)."
    ),
]


class MethodSettings(Settings):
    """Settings that every method has.

    A method may subclass this class to change defaults and to add settings. A field that is
    declared without `setting(...)` is fixed: users cannot change its value.
    """

    panel = "Model and method"
    method: MethodName = "abduce"
    max_answers: MaxAnswers = 25
    tool_calls: ToolCalls = 4
    max_bad: int | None = 3  # in total, not in a row (GEAR, section 4.1)
    feedback: Feedback = None
    answer_format: str | None = setting(
        None, "Format of an answer; for programs tuple, json or fenced_function."
    )
    strict_contract: bool = setting(
        False, "Judge an answer that violates its contract (imports, a second function, …)"
               " malformed (default: it runs, and the violation is counted).",
    )  # fmt: skip
    lenient: Lenient = True
    history: Literal["descriptions", "chat"] = setting(
        "descriptions", "How prompts show earlier hypotheses: descriptions (the default) or chat."
    )
    template: Template = "full"
    fit: Fit = "auto"
    history_limit: int = setting(
        30, "Maximum number of earlier answers that a prompt shows in full; from older ones it shows the"
            " accepted hypotheses and counts the others (30).", metavar="N", ge=1,
    )  # fmt: skip
    problem_tokens: ProblemTokens = None
    patience: Patience = None
    ask_human: bool = False  # fixed, unless a method can continue a problem


# What a session does that recorded no value of a setting that others record. Prompts of sessions from
# before the setting show all earlier answers.
UNRECORDED: Mapping[str, Any] = {"history_limit": 1_000_000}


class RepairSettings(MethodSettings):
    """Settings of a method in which the embedded search can help the model."""

    ask_human: AskHuman = False
    target_gap: TargetGap = None
    repair: str | Repairer | None = setting(
        None, "For programs and abd: `search` repairs answers that are wrong on shown observations; for"
              " refine also those that do not reach the target.", metavar="search",
    )  # fmt: skip
    seed_hypotheses: int = setting(
        0, "Maximum number of hypotheses that the search gives before the first request; prompts show"
           " them as found by a search (0).", metavar="N", ge=0, le=1_000,
    )  # fmt: skip

    @field_validator("repair", mode="plain")
    @classmethod
    def _is_a_repairer(cls, value: Any) -> str | Repairer | None:
        found: str | Repairer | None = value
        if value is not None:
            found = check_text_or_object("repair", value, "repair", str | Repairer | None)
        return found


class AbduceSettings(RepairSettings):
    """Settings of the method `abduce`, which is the default of a session."""

    target_gap: Number | None = None  # fixed, because `abduce` has no target


class BankSettings(MethodSettings):
    """Settings of a method that builds or reads a bank of hypotheses.

    The number of answers, the feedback and the prompt template are fixed. Prompts list no earlier
    answers and are not shortened.
    """

    max_answers: int = 25
    feedback: bool | None = None
    template: Literal["full", "compact"] = "full"
    fit: Literal["auto", "refuse"] = "refuse"
    history_limit: int = 30
    problem_tokens: int | None = None
    patience: int | None = None


class RowBankSettings(BankSettings):
    """Settings of a method that asks for hypotheses again and again while it goes through rows.

    At its limit of tokens, a problem adds no further hypotheses to the bank. Its prompts list fewer
    rows if they do not fit.
    """

    fit: Fit = "auto"
    problem_tokens: ProblemTokens = None


SPLITS = ("val", "ind", "ood")
ADDED_SETTINGS = ("judge_batch", "judge_calibration")  # recorded only if not the default
UNDER_A_MODEL = 50  # validation rows that score a hypothesis where a model judges


class TextSettings(Settings):
    """Settings for labelled text: the HypoGeniC algorithm, the judge of texts, and the use of a
    bank.

    A bank is a collection of hypotheses that predict labels together. Where the published HypoBench
    runs set a parameter, its default here is the published value. A method may override a default.
    """

    panel = "Labelled text"
    examples: int | None = setting(
        10, "Number of rows in the first prompt, or all (10; with model search all).",
        metavar="N|all", ge=1,
    )  # fmt: skip
    hypotheses: int = setting(
        10, "Number of hypotheses requested per prompt (10; io and refine 5; with model search"
            " 20).",
        metavar="N", ge=1,
    )  # fmt: skip
    top: int = setting(
        10, "Number of best hypotheses of the bank that predict each row (k).", flag=False, ge=1
    )
    alpha: Number = setting(0.5, "Weight of the exploration term in the reward.", flag=False, ge=0)
    scale: Number = setting(
        0.8,
        "Row number i of n counts as wrong if scale * top * i / n of these hypotheses predict"
        " it incorrectly.",
        flag=False,
        ge=0,
    )
    wrong: int = setting(
        10, "Number of wrong rows after which new hypotheses are generated.", flag=False, ge=1
    )
    capacity: int = setting(20, "Maximum number of hypotheses in the bank.", flag=False, ge=1)
    rounds: int = setting(
        1, "Number of passes through the rows (1); for method t3, on any task, its number of"
           " rounds (5).", metavar="N",
        ge=0,
    )  # fmt: skip
    rewrites: int = setting(
        6,
        "For hyporefine: number of rewrites at each regeneration, alternately from"
        " literature and from data.",
        flag=False,
        ge=0,
    )
    tau: Number = setting(
        0.7, "Share of its covered rows that a sentence must predict correctly to be consistent"
             " (0.7).",
        metavar="SHARE", ge=0,
    )  # fmt: skip
    judge: Literal["auto", "exact", "model"] = setting(
        "auto", "How sentences are applied: auto evaluates exact rules directly and asks a"
                " model about the others; exact never asks a model; model always does.", metavar="auto|exact|model",
    )  # fmt: skip
    repeats: int = setting(
        1,
        "Number of times that the judge model is asked per text; the majority decides (1).",
        metavar="N",
        ge=1,
    )
    judge_batch: int = setting(
        1,
        "Number of texts that the judge model labels per call (1). Peirce asks about single texts"
        " where labels change with the order of the texts.",
        metavar="N",
        ge=1,
        le=100,
    )
    judge_calibration: int = setting(
        24,
        "Number of questions of each problem on which a second judge, or batches of texts, are"
        " tested first.",
        flag=False,
        ge=1,
    )
    judge_space: bool = setting(
        False,
        "Let the judge model label the sample space too, with one call per input and hypothesis.",
        flag=False,
    )
    prompts: Literal["own", "config"] = setting(
        "own", "Prompts to use: own, or config for those in the data set's config (own).",
        metavar="own|config",
    )  # fmt: skip
    banks_all: bool = setting(
        True,
        "Also add inconsistent sentences to the bank (true).",
        flag=False,
    )
    listed_rows: int | None = setting(
        None,
        "Number of shown rows that a prompt lists; if more are shown, the bank records the visits of"
        " a hypothesis as sums (all; with model search 200).",
        flag=False, ge=0,
    )  # fmt: skip
    inference: str | None = setting(
        "multi", "How the bank predicts labels: best, filter-weight, one-step, two-step, multi,"
            " weighted, or choose, which compares these on validation rows (multi; with model"
            " search weighted).",
        metavar="STRATEGY",
    )  # fmt: skip
    readers: int = setting(
        5, "Number of hypotheses that filter-weight, one-step and two-step choose from the bank.",
        flag=False, ge=1,
    )  # fmt: skip
    similarity: Number = setting(
        0.7,
        "Similarity of their correct rows at which two hypotheses are not both chosen.",
        flag=False,
        ge=0,
    )
    pattern_rows: int = setting(
        5,
        "Number of correctly predicted rows that one-step and two-step show with each hypothesis.",
        flag=False,
        ge=0,
    )
    shots: int = setting(
        0, "For direct: number of labelled rows in each prompt (0: zero-shot).", metavar="N", ge=0
    )
    validation: int | None = setting(
        None, "Maximum number of validation rows used to score a hypothesis (all; with a judge"
              " model 50).", metavar="N", option="validation_rows", ge=0,
    )  # fmt: skip
    splits: Sequence[Literal["val", "ind", "ood"]] = setting(
        SPLITS, "Predict only the rows of this split: val, ind or ood. May be repeated.", metavar="SPLIT",
        option="split",
    )  # fmt: skip

    def to_dict(self) -> dict[str, Json]:
        """Return the values of all fields as JSON values, by field name.

        Settings that earlier versions do not have are left out at their default, so that sessions
        keep their digests.
        """
        found = super().to_dict()
        return {
            name: value for name, value in found.items()
            if name not in ADDED_SETTINGS or value != type(self).model_fields[name].default
        }  # fmt: skip

    @field_validator("tau", "similarity")
    @classmethod
    def _is_a_share(cls, value: Number, info: Any) -> Number:
        if value > 1:
            raise UsageError(f"{info.field_name} is {value!r}: it is a share and must be at most 1")
        return value
