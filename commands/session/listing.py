"""What is in the store: its sessions, and of one its problems, hypotheses, calls and bank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

from ...records import LabelsRows, StepRecord
from ...store import Store
from ..arguments import checked
from ..outcome import Trace, problem_in, reading, store_path
from .bank_files import save_bank
from .results import BankRow, BankStep, CallRow, HypothesisRow, ProblemRow, SessionRow
from .settings import shown_settings

Place: TypeAlias = str | Path


@checked
def sessions(*, store: str | Path | None = None) -> list[SessionRow]:
    """Every session of the store, oldest first: its id, status, counts and settings, and of these
    beside them task, method, seed, the model and the data by their names."""
    with reading(store) as opened:
        listed = opened.sessions()
    lifted = ("task", "method", "model", "seed", "data")
    return [
        SessionRow.from_dict(row | {key: shown.get(key) for key in lifted})
        for row in listed
        for shown in (shown_settings(row["settings"]),)
    ]


@overload
def show(
    session: str = "last", problem: None = None, *, calls: Literal[False] = False,
    store: Place | None = None,
) -> list[ProblemRow]: ...  # fmt: skip
@overload
def show(
    session: str, problem: str, *, calls: Literal[False] = False, store: Place | None = None
) -> list[HypothesisRow]: ...
@overload
def show(
    session: str = "last", problem: str | None = None, *, calls: Literal[True],
    store: Place | None = None,
) -> list[CallRow]: ...  # fmt: skip
@overload
def show(
    session: str = "last", problem: str | None = None, *, calls: bool = False,
    store: Place | None = None,
) -> list[ProblemRow] | list[HypothesisRow] | list[CallRow]: ...  # fmt: skip
@checked
def show(
    session: str = "last",
    problem: str | None = None,
    *,
    calls: bool = False,
    store: Place | None = None,
) -> list[ProblemRow] | list[HypothesisRow] | list[CallRow]:
    """One object a problem of the session, or one a hypothesis of the problem; with `calls` one a
    call of either: its tokens, seconds, retries, and its cost where prices are known."""
    with reading(store) as opened:
        found = opened.find(session)
        if problem is not None:
            problem = problem_in(opened, found, problem)
        if calls:
            return show_calls(opened, found, problem)
        if problem is None:
            return show_session(opened, found)
        return show_problem(opened, found, problem)


@overload
def bank(
    session: str = "last", problem: str | None = None, *, alpha: float | None = None,
    history: Literal[False] = False, out: Place | None = None, store: Place | None = None,
) -> list[BankRow]: ...  # fmt: skip
@overload
def bank(
    session: str = "last", problem: str | None = None, *, alpha: float | None = None,
    history: Literal[True], out: Place | None = None, store: Place | None = None,
) -> list[BankStep]: ...  # fmt: skip
@overload
def bank(
    session: str = "last", problem: str | None = None, *, alpha: float | None = None,
    history: bool, out: Place | None = None, store: Place | None = None,
) -> list[BankRow] | list[BankStep]: ...  # fmt: skip
@checked
def bank(
    session: str = "last",
    problem: str | None = None,
    *,
    alpha: float | None = None,
    history: bool = False,
    out: Place | None = None,
    store: Place | None = None,
) -> list[BankRow] | list[BankStep]:
    """The session's bank, best first; alpha: the weight of exploration to rank by, the session's own
    where it is not given.

    history: how it grew instead, one object a step: size, which texts entered and left, the best reward
    and accuracy (store/bank.py). out: a .json file to write the bank to, whole, for `--bank FILE`.
    """
    with reading(store) as opened:
        found = opened.find(session)
        if problem is not None:
            problem = problem_in(opened, found, problem)
        if out is not None:
            save_bank(opened, found, problem, alpha, out)
        if history:
            return [BankStep.from_dict(row) for row in opened.bank_growth(found, problem)]
        return [BankRow.from_dict(row) for row in opened.bank(found, problem, alpha)]


@checked
def load(session: str = "last", *, store: str | Path | None = None) -> Trace:
    """A stored session with its problems, steps and predictions, each read when first asked for."""
    with reading(store) as opened:
        return Trace(opened.find(session), str(store_path(store)))


# --- parts of `show` ------------------------------------------------------------


def show_session(store: Store, session: str) -> list[ProblemRow]:
    """One object a problem: its status, why it ended, its steps, verdicts and breaches. reason: of
    a problem that ended as exhausted what the model said of it, else "". inference: of labelled
    text, how the bank was read and how good that is (`labels.told`); None where it was not."""
    from ...reports import tally
    from ...reports.papers.hypobench.metrics import told
    from ...tasks import family

    listed = []
    last = store.last_responses(session, "model")
    for row in store.problems(session):
        steps = list(store.steps(session, row.problem.id, spaces=False))
        counted = tally(steps)
        labelled = isinstance(family(row.problem.family), LabelsRows)
        inference = {"inference": told(row.problem, steps)} if labelled else {}
        listed.append(
            ProblemRow.from_dict(
                {
                    "problem": row.problem.id,
                    "status": row.status,
                    "cause": row.cause,
                    "reason": _reason(last.get(row.problem.id)) if row.cause == "exhausted" else "",
                    "steps": counted.steps,
                    "shown": len(row.problem.shown),
                    "hidden": len(row.problem.hidden),
                    "verdicts": counted.verdicts,
                    "breaches": counted.breaches,
                    "malformed": counted.malformed,
                    **inference,
                }
            )
        )
    return listed


def _reason(response: Mapping[str, Any] | None) -> str:
    """Of a reply that has nothing left to say: `Reply.meta` may say why."""
    said = (response or {}).get("meta", {}).get("reason", "")
    return said if isinstance(said, str) else ""


def show_problem(store: Store, session: str, problem: str) -> list[HypothesisRow]:
    """One object a hypothesis or malformed answer of the problem, in the order of its steps."""
    return _judged(store.steps(session, problem))


def _judged(steps: Iterable[StepRecord]) -> list[HypothesisRow]:
    """Each hypothesis or malformed answer of some steps as `peirce show` lists it."""
    return [
        HypothesisRow(
            problem=step.problem,
            step=step.step,
            path=answer.path,
            verdict=str(one.verdict),
            reason=one.reason,
            description=one.hypothesis.description if one.hypothesis else "",
            hypothesis=one.hypothesis.text if one.hypothesis else None,
            breaches=list(one.hypothesis.breaches) if one.hypothesis else [],
            meta=dict(one.hypothesis.meta) if one.hypothesis else {},
            coverage=one.coverage,
            observations=list(one.shown.marks) if one.shown else [],
            hidden=list(one.hidden.marks) if one.hidden else [],
            undefined=one.space.undefined() if one.space else {},
            answer=answer.text,
        )
        for step in steps
        for answer in step.answers
        for one in answer.judged
    ]


def show_calls(store: Store, session: str, problem: str | None) -> list[CallRow]:
    """One object a model or tool call, without what was asked and answered (`export` has that):
    tokens, seconds, retries, the session that it repeats, and cost_usd of a model's where prices
    are known."""
    from ...graphs.runtime.budget import Prices

    prices = Prices.of(store.session(session).get("spending") or {})
    left_out = ("request", "response", "vectors", "request_digest")
    listed = []
    for call in store.calls(session, problem):
        told = {key: value for key, value in call.items() if key not in left_out}
        if prices is not None and call["kind"] == "model":
            told["cost_usd"] = prices.cost_usd(call)
        listed.append(CallRow.from_dict(told))
    return listed
