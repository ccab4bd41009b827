"""Listings of a stored session (`peirce show`); scores and studies with their files (`peirce eval`,
`peirce study`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from ...graphs.budget import Prices
from ...records import Json, StepRecord, UsageError
from ...reports import (
    agreed,
    cross_model,
    default_evaluation,
    evaluate_session,
    find_evaluation,
    gear_files,
    gear_tables,
    hypobench_files,
    plotting,
    study_figures,
    study_tables,
    t3_files,
    tables,
    tally,
    writing,
)
from ...reports.baselines import beside_session
from ...reports.endings import SIDE_BY_SIDE
from ...reports.grouping import Study, settings_of
from ...reports.hypobench_tuned import tuned
from ...reports.labels import told
from ...reports.results import Options, Spaces
from ...store import Store
from ...tasks.files import expanded
from ...tasks.sentences import warn
from ..session.settings import shown_model
from .agreeing import compared
from .rated_sessions import qualities, rating_rows, ratings_of
from .rule_scores import EXACT, EXACTLY, OF_RULES, JudgedBy, evaluate_rules

OF_TEXTS = "hypobench"
STUDY_FORMS = (".csv", ".md", ".png", ".svg")


def _judged(steps: Iterable[StepRecord]) -> list[dict[str, Json]]:
    """Each hypothesis or malformed answer of some steps as `peirce show` lists it."""
    return [
        {
            "problem": step.problem,
            "step": step.step,
            "path": answer.path,
            "verdict": str(one.verdict),
            "reason": one.reason,
            "description": one.hypothesis.description if one.hypothesis else "",
            "hypothesis": one.hypothesis.text if one.hypothesis else None,
            "breaches": list(one.hypothesis.breaches) if one.hypothesis else [],
            "meta": dict(one.hypothesis.meta) if one.hypothesis else {},
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
    """One object a problem: its status, why it ended, its steps, verdicts and breaches. reason: of
    a problem that ended as exhausted what the model said of it, else "". inference: of labelled
    text, how the bank was read and how good that is (`labels.told`); None where it was not."""
    listed = []
    last = store.last_responses(session, "model")
    for row in store.problems(session):
        steps = list(store.steps(session, row.problem.id, spaces=False))
        counted = tally(steps)
        listed.append(
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
                **({"inference": told(row.problem, steps)} if row.problem.family == "text" else {}),
            }
        )
    return listed


def _reason(response: Mapping[str, Json] | None) -> str:
    """Of a reply that has nothing left to say: `Reply.meta` may say why."""
    said = (response or {}).get("meta", {}).get("reason", "")
    return said if isinstance(said, str) else ""


def show_problem(store: Store, session: str, problem: str) -> list[dict[str, Json]]:
    """One object a hypothesis or malformed answer of the problem, in the order of its steps."""
    return _judged(store.steps(session, problem))


def show_calls(store: Store, session: str, problem: str | None) -> list[dict[str, Json]]:
    """One object a model or tool call, without what was asked and answered (`export` has that):
    tokens, seconds, retries, the session that it repeats, and cost_usd of a model's where prices
    are known."""
    prices = Prices.of(store.session(session).get("spending") or {})
    left_out = ("request", "response", "vectors", "request_digest")
    listed = []
    for call in store.calls(session, problem):
        told = {key: value for key, value in call.items() if key not in left_out}
        if prices is not None and call["kind"] == "model":
            told["cost_usd"] = prices.cost_usd(call)
        listed.append(told)
    return listed


def evaluate_sessions(
    store: Store,
    sessions: Sequence[str],
    name: str | None,
    options: Options,
    out: str | Path | None,
    judged_by: JudgedBy = EXACTLY,
    sheets: Sequence[str | Path] = (),
) -> dict[str, Json]:
    """{"sessions": […]} of whole ids, where it is GEAR's evaluation "settings" and "table3", where
    it is that of rules what `evaluate_rules` says; with out "files", and "notes" on what could not
    be written. judged_by: of rules. sheets: of labelled text, what people rated (`agreeing.compared`),
    for its table 8."""
    target = None if out is None else expanded(out)
    if target is not None:
        writing.check([target]) if _is_file(target) else writing.check_target(target)
    recorded = [store.session(session) for session in sessions]
    chosen = name or default_evaluation(recorded[0]["settings"]["family"])
    if sheets and (chosen != OF_TEXTS or target is None or _is_file(target)):
        raise UsageError(
            f"filled sheets are for the tables of {OF_TEXTS}: name a folder (--out DIR)"
        )
    if chosen == OF_RULES:
        return evaluate_rules(store, sessions, judged_by, target)
    if judged_by.evaluator != EXACT:
        raise UsageError(
            f"evaluation {chosen} knows no evaluator {judged_by.evaluator!r}: {OF_RULES} does"
        )
    spaces = Spaces(store)
    rated = {s: ratings_of(store, s) if chosen == OF_TEXTS else [] for s in sessions}
    scored = [
        evaluate_session(
            store, session, chosen, options=options, spaces=spaces, rated=qualities(rated[session])
        )
        | {"model": shown_model(one["settings"])}
        for session, one in zip(sessions, recorded, strict=True)
    ]
    result: dict[str, Json] = {"sessions": scored}
    study = None
    if chosen == "gear":
        problems = [[row.problem for row in store.problems(session)] for session in sessions]
        study = Study.of(settings_of(recorded, problems), scored)
        result |= {
            "settings": gear_tables.as_json(study),
            "table3": gear_tables.table_3(study),
        }
    if chosen == OF_TEXTS:
        for one in scored:
            one["baselines"] = beside_session(store, str(one["session"]))
            one["rated"] = rated[str(one["session"])]
        result["cross_model"] = cross_model.cells(recorded, scored, _proposers(store))
        trainings = store.trainings.list()
        tested = [row.problem for s in sessions for row in store.problems(s)]
        result["fine_tuned"] = [one.as_json() for one in tuned(trainings, tested)]
    for one in scored:
        del one["details"]
    if target is not None:
        files = _tables(scored, target)
        if study is not None and not _is_file(target):
            of_study, without = gear_files.files(study, target, _left_out(scored, options))
            files |= of_study
            result["notes"] = [without] if without else []
        if chosen == "t3" and not _is_file(target):
            files |= t3_files.files(scored, target)
        if chosen == OF_TEXTS and not _is_file(target):
            of_texts, without = hypobench_files.files(
                target, recorded, scored, [[row.problem for row in store.problems(s)] for s in sessions],
                [store.usage(s)["by_role"].keys() for s in sessions], result["cross_model"],
                compared([row for s in sessions for row in rating_rows(store, s)], sheets), trainings,
            )  # fmt: skip
            files |= of_texts
            result["notes"] = [without] if without else []
        result["files"] = writing.write(files)
    return result


def _proposers(store: Store) -> dict[str, str]:
    """Of every session the model that proposed its hypotheses, as tables call it."""
    return {one["session"]: shown_model(one["settings"]) for one in store.sessions()}


def _left_out(scored: Sequence[Mapping[str, Json]], options: Options) -> str:
    if not options.without_memorising:
        return ""
    return _without(sum(one["memorising"] for one in scored))


def _without(memorising: int) -> str:
    return f"Without the {memorising} hypotheses that memorise what they were shown."


def _is_file(target: Path) -> bool:
    return target.suffix in (".csv", ".md")


def _tables(scored: Sequence[Mapping[str, Json]], target: Path) -> dict[Path, str | bytes]:
    """Tables as files to write: a .csv or .md file, or a folder that gets both and one CSV of
    problems for each session."""
    name = str(scored[0]["evaluation"])
    metrics = find_evaluation(name).metrics
    long = tables.as_csv(tables.long_table(scored, metrics))
    rows: Literal["metrics", "sessions"] = "metrics" if len(scored) <= SIDE_BY_SIDE else "sessions"
    side_by_side = tables.as_markdown(tables.summary_table(scored, metrics, rows=rows))
    if any(map(agreed.compared_by_rules, scored)):
        side_by_side += f"\n\n{agreed.BY_RULES}\n"
    if _is_file(target):
        return {target: long if target.suffix == ".csv" else side_by_side}
    of_problems: dict[Path, str | bytes] = {
        target / f"{name}-{one['session']}.csv": tables.as_csv(
            tables.problem_table(one["by_problem"])
        )
        for one in scored
    }
    return {target / f"{name}.csv": long, target / f"{name}.md": side_by_side, **of_problems}


def check_study_files(out: str | Path) -> None:
    """Raises UsageError where `write_study` could not write, so that nobody waits for that."""
    target = expanded(out)
    if target.suffix not in STUDY_FORMS:
        writing.check_target(target)
        return
    writing.check([target])
    if target.suffix in plotting.FORMS and not plotting.available():
        raise UsageError(f"{target}: a figure needs matplotlib: {plotting.INSTALL}")


def write_study(result: Mapping[str, Json], out: str | Path) -> list[str]:
    """What a study came to as files: a .csv, .md, .png or .svg file, or a folder that gets all
    four, without the figures, and with a warning, where matplotlib is absent. Returns the paths."""
    target = expanded(out)
    name = str(result["study"])
    single = target.suffix if target.suffix in STUDY_FORMS else None
    wanted = STUDY_FORMS if single is None else (single,)
    found: dict[str, str | bytes] = {}
    if ".csv" in wanted:
        found[".csv"] = tables.as_csv(study_tables.long_table(result))
    if ".md" in wanted:
        said = [_without(result["memorising"])] if result["without_memorising"] else []
        found[".md"] = "\n\n".join([*said, tables.as_markdown(study_tables.whole_table(result))])
    drawn = [form for form in wanted if form in plotting.FORMS]
    if drawn and (single or plotting.available()):
        found |= plotting.rendered(partial(study_figures.figure, result), drawn) or {}
    elif drawn:
        warn(plotting.ABSENT)
    return writing.write(
        {target if single else target / f"{name}{form}": data for form, data in found.items()}
    )
