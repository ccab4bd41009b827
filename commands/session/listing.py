"""List the sessions of a store, and the problems, hypotheses, calls and bank of a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

from ...records import Hypothesis, LabelsRows, SessionPrices, StepRecord, UsageError
from ...store import Store
from ..arguments import validate_call
from ..outcome import Trace, describe_end, find_problem, open_for_reading, store_path
from .bank_files import save_bank
from .results import BankRow, BankStep, CallRow, HypothesisRow, ProblemRow, SessionRow
from .settings import display_settings

Place: TypeAlias = str | Path


@validate_call
def sessions(*, store: str | Path | None = None) -> list[SessionRow]:
    """Return every session of the store, oldest first.

    Each row has the session's id, status, counts and settings. Task, method, seed, model and data
    are also keys of the row itself.

    Args:
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
    """
    with open_for_reading(store) as opened:
        listed = opened.sessions()
    lifted = ("task", "method", "model", "seed", "data")
    return [
        SessionRow.from_dict(row | {key: shown.get(key) for key in lifted})
        for row in listed
        for shown in (display_settings(row["settings"]),)
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
@validate_call
def show(
    session: str = "last",
    problem: str | None = None,
    *,
    calls: bool = False,
    store: Place | None = None,
) -> list[ProblemRow] | list[HypothesisRow] | list[CallRow]:
    """Return one row for each problem of a session, or for each hypothesis of one problem.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        problem: id of the problem whose hypotheses to return; None to return the problems.
        calls: return the calls of the session or the problem instead, with tokens, seconds,
            retries, and the cost if prices are known.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
    """
    with open_for_reading(store) as opened:
        found = opened.find_session(session)
        if problem is not None:
            problem = find_problem(opened, found, problem)
        if calls:
            return list_calls(opened, found, problem)
        if problem is None:
            return list_problems(opened, found)
        return list_hypotheses(opened, found, problem)


@overload
def bank(
    session: str = "last", problem: str | None = None, *, alpha: float | None = None,
    history: Literal[False] = False, out: Place | None = None, effects: bool = False,
    within: str | Sequence[str] = (), data: Place | None = None, store: Place | None = None,
) -> list[BankRow]: ...  # fmt: skip
@overload
def bank(
    session: str = "last", problem: str | None = None, *, alpha: float | None = None,
    history: Literal[True], out: Place | None = None, store: Place | None = None,
) -> list[BankStep]: ...  # fmt: skip
@overload
def bank(
    session: str = "last", problem: str | None = None, *, alpha: float | None = None,
    history: bool, out: Place | None = None, effects: bool = False,
    within: str | Sequence[str] = (), data: Place | None = None, store: Place | None = None,
) -> list[BankRow] | list[BankStep]: ...  # fmt: skip
@validate_call
def bank(
    session: str = "last",
    problem: str | None = None,
    *,
    alpha: float | None = None,
    history: bool = False,
    out: Place | None = None,
    effects: bool = False,
    within: str | Sequence[str] = (),
    data: Place | None = None,
    store: Place | None = None,
) -> list[BankRow] | list[BankStep]:
    """Return the bank of hypotheses that a session keeps, best first.

    While the session runs, and with `alpha`, the bank is ranked by reward. After the session it is
    ranked like the findings (`reports/findings.py`): by evidence, then by simplicity.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        problem: return only the hypotheses of this problem; None for all problems.
        alpha: rank by the reward with this weight of exploration; None for the default ranking.
        history: return how the bank changed instead, with one object for each step that changed the
            bank: its size, the texts that entered and left, and the best reward and accuracy
            (store/bank.py).
        out: also write the full bank to this .json file, which `--bank FILE` reads.
        effects: also measure the effect of each sentence on labelled rows that the search did not
            see: odds ratio, coverage, stability and the most telling texts
            (reports/sentence_effects.py).
        within: one or more columns; also compare effects within the groups of each column. "length"
            stands for the number of words. Implies `effects`.
        data: a file of labelled rows on which to measure effects, for example because it has the
            columns of `within`. Rows that the session was shown are left out. Implies `effects`.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.

    Raises:
        UsageError: the options do not go together, the session is not about labelled rows, or a
            column of `within` does not exist.
        DataError: the file `data` cannot be used.
        StoreError: there is no such session or problem.
    """
    from ...reports.findings import add_summaries, rank_bank

    is_measured = effects or bool(within) or data is not None
    if is_measured and history:
        raise UsageError("--history cannot be used with --effects, --within or --data")
    with open_for_reading(store) as opened:
        found = opened.find_session(session)
        if problem is not None:
            problem = find_problem(opened, found, problem)
        if out is not None:
            save_bank(opened, found, problem, alpha, out)
        if history:
            return [BankStep.from_dict(row) for row in opened.bank_growth(found, problem)]
        rows = opened.bank(found, problem, alpha)
        if alpha is None and opened.session(found)["status"] != "running":
            rows = rank_bank(opened, found, rows)
        rows = _with_proposers(opened, found, add_summaries(opened, found, rows))
        if is_measured:
            from ..score.effects import add_effects, effect_options

            rows = add_effects(opened, found, rows, effect_options(within, data))
        return [BankRow.from_dict(row) for row in rows]


@validate_call
def load(session: str = "last", *, store: str | Path | None = None) -> Trace:
    """Return a stored session whose problems and steps are read on first access.

    Its method `findings` returns the hypotheses of the session, best first.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
    """
    with open_for_reading(store) as opened:
        return Trace(opened.find_session(session), str(store_path(store)))


# --- Parts of `show`.


def list_problems(store: Store, session: str) -> list[ProblemRow]:
    """Return one row per problem of a session: its status, steps, verdicts and breaches.

    For labelled text, a row also describes how labels were predicted with the bank and how well
    (`hypobench.metrics.summarize_predictions`).

    Args:
        store: the open store.
        session: full id of the session.
    """
    from ...reports import tally
    from ...reports.papers.hypobench.metrics import summarize_predictions
    from ...tasks import load_family

    listed = []
    last = store.last_responses(session, "model")
    for row in store.problems(session):
        steps = list(store.steps(session, row.problem.id, spaces=False))
        counted = tally(steps)
        labelled = isinstance(load_family(row.problem.family), LabelsRows)
        inference = {"inference": summarize_predictions(row.problem, steps)} if labelled else {}
        listed.append(
            ProblemRow.from_dict(
                {
                    "problem": row.problem.id,
                    "status": row.status,
                    "cause": row.cause,
                    "reason": describe_end(last.get(row.problem.id))
                    if row.cause == "exhausted"
                    else "",
                    "steps": counted.steps,
                    "shown": len(row.problem.shown),
                    "hidden": len(row.problem.hidden),
                    "verdicts": counted.verdicts,
                    "breaches": counted.breaches,
                    "malformed": counted.malformed,
                    **({"repaired": counted.repaired} if counted.repaired else {}),
                    **inference,
                }
            )
        )
    return listed


def _with_proposers(
    store: Store, session: str, rows: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return rows of a bank with who found each hypothesis, if more than one model answers."""
    from ...reports.proposers import add_proposers, has_several_proposers

    settings = store.settings(session)
    if not rows or not has_several_proposers(settings):
        return list(rows)
    problems = list({row["problem"] for row in rows})
    return add_proposers(settings, store.steps(session, problems, spaces=False), rows)


def list_hypotheses(store: Store, session: str, problem: str) -> list[HypothesisRow]:
    """Return one row for each hypothesis or malformed answer of a problem, in the order of the
    steps.
    """
    from ...reports.hints import find_hints

    hints = find_hints(store, session, problem)
    return list_judged(store.steps(session, problem), store.settings(session), hints)


def list_judged(
    steps: Iterable[StepRecord],
    settings: Mapping[str, Any],
    hints: Mapping[str, Mapping[str, str]],
) -> list[HypothesisRow]:
    """Return each hypothesis or malformed answer of these steps as `peirce show` lists it.

    Args:
        steps: the steps.
        settings: the settings of the session.
        hints: the hints that calls showed, as `reports.hints.find_hints` returns them.
    """
    from ...reports.findings import summarize_hypothesis
    from ...reports.proposers import describe_proposer, has_several_proposers
    from ...store.hinted_answers import find_hint
    from ...tasks import load_family

    family, several = load_family(settings["family"]), has_several_proposers(settings)
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
            undefined=one.space.count_undefined() if one.space else {},
            answer=answer.text,
            repaired=_repaired(step, answer.path, one.hypothesis),
            summary=summarize_hypothesis(family, one.hypothesis) if one.hypothesis else None,
            found_by=describe_proposer(settings, step, answer) if several else None,
            after_hint=find_hint(hints.get(step.problem, {}), answer.path),
        )
        for step in steps
        for answer in step.answers
        for one in answer.judged
    ]


def _repaired(step: StepRecord, path: str, hypothesis: Hypothesis | None) -> dict[str, int]:
    """Return the faults of the form of one answer, by kind."""
    if "/propose/" in path and step.fields.get("repaired"):
        return dict(step.fields["repaired"])
    return dict(Counter(hypothesis.meta.get("leniency", ()) if hypothesis else ()))


def list_calls(store: Store, session: str, problem: str | None) -> list[CallRow]:
    """Return one row for each call of a model or tool, without its request and response.

    A row has the call's tokens, seconds and retries, the session from which the answer was taken,
    and the cost of a model call if prices are known. `export` writes the requests and responses.

    Args:
        store: the open store.
        session: full id of the session.
        problem: id of one problem; None for all problems.
    """
    prices = SessionPrices.from_settings(store.session(session).get("spending") or {})
    left_out = ("request", "response", "vectors", "request_digest")
    listed = []
    for call in store.calls(session, problem):
        told = {key: value for key, value in call.items() if key not in left_out}
        if prices is not None and call["kind"] == "model":
            role = str(call["request"].get("role", "proposer"))
            told["cost_usd"] = prices.cost_usd(role, call)
        if call["kind"] == "human":
            told["texts"] = call["response"].get("hints") or [call["response"].get("text") or ""]
        listed.append(CallRow.from_dict(told))
    return listed
