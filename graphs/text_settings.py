"""What shapes a session on labelled text beyond `case.Settings`: the figures of HypoGeniC's algorithm
and how a bank is read. A method states its own; `--method-arg NAME=VALUE` sets any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Literal, TypeAlias, get_args

from ..records import Json, UsageError
from ..tasks.sentences import nearest

JudgeMode: TypeAlias = Literal["auto", "exact", "model"]
PromptSource: TypeAlias = Literal["own", "config"]
CHOICES: Mapping[str, tuple[str, ...]] = {
    "judge": get_args(JudgeMode),
    "prompts": get_args(PromptSource),
}
SPLITS = ("val", "ind", "ood")


@dataclass(frozen=True)
class TextSettings:
    """Defaults are those of the published HypoBench runs where they have one."""

    examples: int | None = 10  # shown in the first prompt, and what first hypotheses are scored on
    # (io, refine, abduce: all that is shown); None: every row of the sample
    hypotheses: int = 10  # asked for in one prompt
    top: int = 10  # k: the best of the bank, which a row is given to
    alpha: float = 0.5  # of the reward
    scale: float = 0.8  # a row is wrong where scale * top * row / rows of them are not right
    wrong: int = 10  # wrong rows that make the bank ask for new hypotheses
    capacity: int = 20
    rounds: int = 1  # passes through the rows
    rewrites: int = 6  # of hyporefine, at each regeneration: literature, data, literature, …
    tau: float = 0.7  # share of the rows it covers that a consistent hypothesis is right on
    judge: JudgeMode = "auto"  # exact rules judge themselves, a model the others; exact: no model
    # is asked; model: it judges exact rules too
    repeats: int = 1  # answers of a model judge a question; the majority counts
    judge_space: bool = False  # a model judges the sample space too: that many calls a hypothesis
    prompts: PromptSource = "own"  # config: those that the data set brings, where it brings any
    banks_all: bool = True  # also sentences that are not consistent enter the bank (not of abduce)
    inference: str | None = "multi"  # how the bank is read (graphs/inference); None: not at all
    readers: int = 5  # hypotheses that filter-weight, one-step and two-step choose from the bank
    similarity: float = 0.7  # of right rows, from which on two are not both chosen
    pattern_rows: int = 5  # right rows that one-step and two-step show with each hypothesis
    shots: int = 0  # of direct: labelled rows in each prompt
    validation: int | None = None  # rows that score hypotheses for a choice; None: all under exact
    # rules, 50 under a model judge
    splits: tuple[str, ...] = SPLITS  # that are predicted

    def as_json(self) -> dict[str, Json]:
        return {**asdict(self), "splits": list(self.splits)}

    @staticmethod
    def from_json(data: Mapping[str, Json]) -> TextSettings:
        """Raises UsageError for an unknown name and a value that cannot be."""
        known = {field.name for field in fields(TextSettings)}
        for name in data:
            if name not in known:
                raise UsageError(f"text methods have no setting {name!r}{nearest(name, known)}")
        for name, valid in CHOICES.items():
            if data.get(name, valid[0]) not in valid:
                raise UsageError(f"{name} is {data[name]!r}: it must be one of {', '.join(valid)}")
        for name, value in data.items():
            if name in _WHOLE or name in _NUMBERS:
                _check(name, value)
        splits = tuple(data.get("splits", SPLITS))
        for split in splits:
            if split not in SPLITS:
                raise UsageError(f"split {split!r}: it must be one of {', '.join(SPLITS)}")
        for name in ("tau", "similarity"):
            if data.get(name, 0) > 1:
                raise UsageError(f"{name} is {data[name]!r}: it is a share, at most 1")
        return TextSettings(**{**data, "splits": splits})


_WHOLE: Mapping[str, int] = {
    "examples": 1,
    "hypotheses": 1,
    "top": 1,
    "wrong": 1,
    "capacity": 1,
    "rounds": 0,
    "rewrites": 0,
    "repeats": 1,
    "readers": 1,
    "pattern_rows": 0,
    "shots": 0,
    "validation": 0,
}  # each with its least
_NUMBERS = ("alpha", "scale", "tau", "similarity")  # from 0 on
_OPEN = ("examples", "validation")  # None where there is no limit


def _check(name: str, value: Json) -> None:
    if value is None and name in _OPEN:
        return
    whole = name in _WHOLE
    kinds = int if whole else (int, float)
    least = _WHOLE.get(name, 0)
    if not isinstance(value, kinds) or isinstance(value, bool) or not value >= least:
        what = "a whole number" if whole else "a number"
        raise UsageError(f"{name} is {value!r}: it must be {what} from {least} on")
