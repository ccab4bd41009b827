"""Metrics and tables of stored sessions (`peirce eval`), and their listings (`show`).

Problems that failed, and those of an interrupted session that are still open, are counted beside
the metrics and never scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .records import InputSet, Json, Problem, StepRecord, Verdict
from .reports import default_evaluation, evaluation
from .reports import evaluate as evaluate_problems
from .store import Store

VERDICTS = (Verdict.ACCEPTED, Verdict.REDUNDANT, Verdict.INCONSISTENT, Verdict.MALFORMED)


def score(store: Store, session: str, name: str | None = None) -> dict[str, Json]:
    """{session, task, method, model, evaluation, problems, failed, open, metrics, by_problem,
    verdicts, steps}: one pass over the steps of the problems that are done."""
    settings = store.session(session)["settings"]
    rows = store.problems(session)
    done = [row for row in rows if row.status == "done"]
    verdicts = dict.fromkeys(map(str, VERDICTS), 0)
    steps = 0

    def read(problem: Problem) -> Iterable[StepRecord]:
        nonlocal steps
        found = list(store.steps(session, problem.id))
        steps += len(found)
        for one in _judged(found):
            verdicts[str(one["verdict"])] += 1
        return found

    chosen = name or default_evaluation(settings["family"])
    scores = evaluate_problems(
        chosen, [row.problem for row in done], read, spaces=_weighted(store, done)
    )
    for row in rows:  # what is not scored is counted all the same
        if row.status != "done":
            read(row.problem)
    statuses = Counter(row.status for row in rows)
    return {
        "session": session,
        "task": settings["task"],
        "method": settings["method"],
        "model": settings["model"],
        "evaluation": chosen,
        "problems": len(done),
        "failed": statuses["failed"],
        "open": statuses["open"],
        "metrics": scores["metrics"],
        "by_problem": scores["by_problem"],
        "verdicts": verdicts,
        "steps": steps,
    }


def _weighted(store: Store, rows: Sequence[Json]) -> dict[str, InputSet]:
    """The sample spaces that evaluations need: those whose inputs have weights."""
    spaces = {digest: store.space(digest) for digest in dict.fromkeys(row.space for row in rows)}
    return {row.problem.id: spaces[row.space] for row in rows if spaces[row.space].weights}


def _judged(steps: Iterable[StepRecord]) -> list[dict[str, Json]]:
    """Each hypothesis or malformed answer of some steps as `peirce show` lists it."""
    return [
        {
            "problem": step.problem,
            "step": step.step,
            "verdict": str(one.verdict),
            "reason": one.reason,
            "description": one.hypothesis.description if one.hypothesis else "",
            "hypothesis": one.hypothesis.text if one.hypothesis else None,
            "breaches": list(one.hypothesis.breaches) if one.hypothesis else [],
            "coverage": one.coverage,
            "observations": list(one.shown.marks) if one.shown else [],
            "hidden": list(one.hidden.marks) if one.hidden else [],
            "undefined": one.space.undefined() if one.space else {},
            "answer": answer.text,
        }
        for step in steps
        for answer in step.answers
        for one in answer.judged
    ]


def show_session(store: Store, session: str) -> list[dict[str, Json]]:
    """One object a problem: its status, why it ended, its steps and verdicts."""
    listed = []
    for row in store.problems(session):
        steps = list(store.steps(session, row.problem.id))
        verdicts = Counter(one["verdict"] for one in _judged(steps))
        listed.append(
            {
                "problem": row.problem.id,
                "status": row.status,
                "cause": row.cause,
                "steps": len(steps),
                "shown": len(row.problem.shown),
                "hidden": len(row.problem.hidden),
                "verdicts": {str(name): verdicts[str(name)] for name in VERDICTS},
            }
        )
    return listed


def show_problem(store: Store, session: str, problem: str) -> list[dict[str, Json]]:
    """One object a hypothesis or malformed answer of the problem, in the order of its steps."""
    return _judged(store.steps(session, problem))


def write_tables(scored: Sequence[Mapping[str, Json]], out: str | Path) -> list[str]:
    """Tables as files, each whole or not at all: a .csv or .md file, or a folder that gets both
    and one CSV of problems for each session. Returns the paths."""
    from .reports import tables
    from .tasks.files import write_lines

    target = Path(out).expanduser()
    name = str(scored[0]["evaluation"])
    metrics = evaluation(name).metrics
    long = tables.as_csv(tables.long_table(scored, metrics))
    side_by_side = tables.as_markdown(tables.summary_table(scored, metrics))
    if target.suffix in (".csv", ".md"):
        texts = {target: long if target.suffix == ".csv" else side_by_side}
    else:
        texts = {target / f"{name}.csv": long, target / f"{name}.md": side_by_side}
        for one in scored:
            whole = tables.as_csv(tables.problem_table(one["by_problem"]))
            texts[target / f"{name}-{one['session']}.csv"] = whole
    for path, text in texts.items():
        write_lines(path, text.rstrip("\n").split("\n"))
    return [str(path) for path in texts]
