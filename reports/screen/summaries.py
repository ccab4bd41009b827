"""Summaries that commands print when they end: outcome and cost, scores, forecasts, files.

`print_baselines` prints a session's accuracy and macro F1 in one table with the baselines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from ...records import Json
from ..protocol_summary import summarise_protocol
from .findings import print_findings
from .text import (
    create_table,
    escape_unprintable,
    format_command,
    format_count,
    format_duration,
    join_counts,
    stop_sentence,
    to_one_line,
)

if TYPE_CHECKING:
    from .. import Evaluation, Metric

OTHER_MODEL = (
    "search found nothing; check the data, or try another model, for example --model openai:NAME or"
    " --model http://localhost:8000/v1#NAME"
)
MAX_SESSION_COLUMNS = 3  # sessions, a column each
MAX_LISTED_FILES = 8  # files, a line each
MAX_NAMED_METRICS = 6  # metrics without a value
USAGE_KEYS = (
    *("calls", "tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "retries"),
    "repeated",
)


def print_outcome(out: Console, session: Any, all_metrics: bool = False) -> None:
    """Print the summary at the end of a run.

    The summary has the best hypotheses of the first problems, the metrics with their intervals, the
    causes of failures with their counts, the cost, the paths and the next command.

    Args:
        out: The console.
        session: The outcome of the session.
        all_metrics: Print all metrics instead of the main metrics.
    """
    from .. import find_evaluation
    from ..costs import describe_costs
    from ..files import tables
    from ..judging import describe_judging
    from ..learning_curve import describe_learning_curve
    from ..marginal_gain import describe_advice, describe_gain

    more = format_command("show", session.session, session.store, "--findings")
    print_findings(
        out, session.best, more, unexplained=session.unexplained, reason=session.unexplained_reason
    )
    if session.learning_curve:
        out.print(describe_learning_curve(session.learning_curve), soft_wrap=True)
        out.print()
    evaluation = find_evaluation(session.evaluation)
    shown = evaluation.on_screen(all_metrics)
    scored, empty = tables.split_valued(
        tables.summary_table(_only(shown, [session.to_dict()]), shown)
    )
    out.print(
        f"{escape_unprintable(session.task)}, {escape_unprintable(session.method)}, {escape_unprintable(session.model)}: {_coverage(session)}"
    )
    out.print()
    if any(
        session.metrics[one.name].mean is not None for one in shown if one.name in session.metrics
    ):
        out.print(tables.as_text(scored, out.width))
        out.print()
    facts = [
        *([("no value", _named(empty))] if empty and all_metrics else []),
        *([("metrics", _left_out(evaluation, shown))] if len(shown) < len(evaluation.metrics) else []),
        *([("scored", evaluation.note)] if evaluation.note else []),
        *(("judges", line) for line in describe_judging(session.judging)),
        ("verdicts", join_counts(_name_verdicts(session)) or "none"),
        *_faults(session.breaches, session.malformed, session.repaired),
        *(("ended", line) for line in _ends(session.ends) or ["no problems"]),
        *(("failed", line) for line in _failures(session.failed) or ["nothing"]),
        *_costs(session.usage, session.oracle, describe_costs(session.costs)),
        *(("gain", line) for line in describe_gain(session.gain)),
        *(("advice", line) for line in describe_advice(session.gain)),
        ("time", format_duration(session.seconds)),
        ("store", f"{escape_unprintable(session.store)}, session {escape_unprintable(session.session)}"),
        ("digest", session.digest),
        ("next", next_step(session)),
    ]  # fmt: skip
    for name, said in facts:
        out.print(f"{name:<9} {escape_unprintable(said)}", soft_wrap=True)


def next_step(session: Any) -> str:
    """Return the command to run next, preceded by what the user should do first, if anything.

    For a complete session, the command writes its report. If the session found nothing, the command
    shows why. For any other session, it resumes the session. It also retries failed problems, and
    sets a larger budget if the budget was spent. After a smaller session of a learning curve, the
    same `peirce run` goes on with the learning curve.
    """
    if session.part_rows:
        first = f"{session.next}; then " if session.next else ""
        return (
            f"{first}run the same `peirce run` again: this is only the session of"
            f" {session.part_rows:,} rows of its learning curve"
        )
    if not session.next:
        if session.unexplained and not session.best:
            why = f"to see why it ended, run: {format_command('show', session.session, session.store)}"
            searched = session.model.partition(":")[0] == "search" and session.method != "infer"
            return f"{OTHER_MODEL}; {why}" if searched else why
        return format_command("report", session.session, session.store)
    if session.status == "failed" and len(set(session.failed.values())) == 1:
        return f'solve the problem in the line "failed" above, then run: {session.next}'
    return str(session.next)


def _name_verdicts(session: Any) -> dict[str, int]:
    """Return the verdicts with their counts; sentences in a bank are not called inconsistent.

    Methods for labelled text may bank every sentence that can be applied, also sentences that are
    right on a smaller share of the shown rows than tau. These are weighed against the others.
    """
    counts: dict[str, int] = dict(session.verdicts)
    banked = sum(row["together"]["hypotheses"] for row in session.best if row.get("together"))
    if banked >= counts.get("accepted", 0) + counts.get("inconsistent", 0):
        weighed = "not exact, but in the bank"
        return {weighed if name == "inconsistent" else name: n for name, n in counts.items()}
    return counts


def _only(
    metrics: Sequence[Metric], sessions: Sequence[Mapping[str, Json]]
) -> list[dict[str, Json]]:
    """The sessions with these metrics alone."""
    names = {one.name for one in metrics}
    return [
        {**one, "metrics": {name: of for name, of in one["metrics"].items() if name in names}}
        for one in sessions
    ]


def _left_out(evaluation: Evaluation, shown: Sequence[Metric]) -> str:
    number = len(evaluation.metrics) - len(shown)
    return f"{number} more are shown with --all-metrics and in --json"


def _named(metrics: Sequence[str]) -> str:
    """Return at most six metric names; tasks with many metrics lack data for most of them."""
    more = len(metrics) - MAX_NAMED_METRICS
    if more <= 1:
        return ", ".join(map(escape_unprintable, metrics))
    return f"{', '.join(map(escape_unprintable, metrics[:MAX_NAMED_METRICS]))} and {more} more"


def _faults(
    breaches: Mapping[str, int], malformed: Mapping[str, int], repaired: Mapping[str, int]
) -> list[tuple[str, str]]:
    """Return lines on breaches of the answer contract, on malformed answers, and on faults of the
    form of answers that were read all the same, if there are any.
    """
    told = (
        ("breaches", join_counts(breaches)),
        ("malformed", join_counts(malformed)),
        ("repaired", join_counts(repaired)),
    )
    return [(name, said) for name, said in told if said]


def _coverage(session: Any) -> str:
    scored = session.problems - len(session.failed)
    return f"{session.status}, {format_count(session.problems, 'problem')}" + (
        f", of which {len(session.failed)} failed and {scored} were scored"
        if session.failed
        else ""
    )


def _ends(ends: Mapping[str, int]) -> list[str]:
    return [
        f"{format_count(count, 'problem')}: {stop_sentence(cause)}"
        for cause, count in ends.items()
        if count
    ]


def _failures(failed: Mapping[str, str]) -> list[str]:
    causes = Counter(failed.values())
    return [f"{count} x {to_one_line(cause, 300)}" for cause, count in causes.most_common(5)]


def _costs(
    usage: Mapping[str, Json], oracle: str, by_result: Sequence[str]
) -> list[tuple[str, str]]:
    """Return lines with calls and tokens by role, by result, and with seconds by kind of call.

    Seconds are summed over problems that run concurrently.

    Args:
        oracle: Name of the judge, printed in place of the role "judge".
        by_result: Lines on the costs for each result (`describe_costs`).
    """
    lines = []
    for role, sums in usage.get("by_role", {}).items():
        told = [f"{sums[name]:,} {name.replace('_', ' ')}" for name in USAGE_KEYS if sums.get(name)]
        told = ["1 call" if one == "1 calls" else one for one in told]
        told = [_with_share(one, sums) if one.endswith(" tokens cached") else one for one in told]
        if sums.get("cost_usd"):
            told.append(f"{sums['cost_usd']:.4f} US dollars")
        name = oracle if role == "judge" else str(role)
        lines.append(("cost", f"{escape_unprintable(name)}: {', '.join(told) or 'nothing'}"))
    lines += [("cost", line) for line in by_result]
    kinds = usage.get("by_kind", {}).items()
    seconds = ", ".join(
        f"{format_duration(sums['seconds'])} {escape_unprintable(str(k))}" for k, sums in kinds
    )
    return (
        [*lines, ("calls", f"{seconds} in total, added up over concurrent calls")]
        if seconds
        else lines
    )


def print_effort(out: Console, trace: Any) -> None:
    """Print what a stored session spent for its findings, and what its last answers added.

    Args:
        out: The console.
        trace: The stored session (`peirce.load`).
    """
    from ..costs import describe_cached, describe_costs, describe_roles
    from ..judging import describe_judging
    from ..marginal_gain import describe_advice, describe_gain

    lines = [
        *(("judges", line) for line in describe_judging(trace.judging)),
        *(("cost", line) for line in describe_costs(trace.costs)),
        *(("cost", line) for line in describe_roles(trace.costs)),
        *(("cost", line) for line in describe_cached(trace.costs)),
        *(("gain", line) for line in describe_gain(trace.gain)),
        *(("advice", line) for line in describe_advice(trace.gain)),
    ]
    for name, said in lines:
        out.print(f"{name:<9} {escape_unprintable(said)}", soft_wrap=True)


def _with_share(cached: str, sums: Mapping[str, Json]) -> str:
    share = sums.get("cached_share")
    return cached if share is None else f"{cached} ({share:.0%} of the input)"


def print_scores(out: Console, result: Mapping[str, Json], all_metrics: bool = False) -> None:
    """Print the result of `peirce eval`.

    Up to three sessions are printed as columns. More sessions are printed as the table of the
    evaluation's report section, if there is one, with a line about omitted metrics. The section's
    own output follows, and then the problems of each session if the result contains them.

    Args:
        out: The console.
        result: The result of `peirce eval`.
        all_metrics: Print all metrics instead of the main metrics.
    """
    from .. import find_evaluation
    from ..files import tables
    from ..metrics.sections import find_section

    scored = result["sessions"]
    section = find_section(scored[0]["evaluation"])
    if len(scored) <= MAX_SESSION_COLUMNS or section.build_table is None:
        evaluation = find_evaluation(section.name)
        shown = evaluation.on_screen(all_metrics)
        found, empty = tables.split_valued(tables.summary_table(_only(shown, scored), shown))
        out.print(tables.as_text(found, out.width))
        if empty and all_metrics:
            out.print(f"no value  {_named(empty)}", soft_wrap=True)
        if len(shown) < len(evaluation.metrics):
            out.print(f"metrics   {_left_out(evaluation, shown)}", soft_wrap=True)
    else:
        out.print(tables.as_text(section.build_table(result), out.width))
        out.print(_summed(scored))
    section.show(out, result)
    for one in scored if len(scored) <= MAX_SESSION_COLUMNS or "by_problem" in scored[0] else ():
        left = [f"{count} {status}, not scored" for status, count in one["left_out"].items()]
        counted = ", ".join([format_count(one["problems"], "problem"), *left, *_marked(one)])
        out.print(f"session {escape_unprintable(one['session'])}: {counted}", soft_wrap=True)
        for name, said in _faults(one["breaches"], one["malformed"], one.get("repaired", {})):
            out.print(f"  {name:<9} {said}", soft_wrap=True)
        section.show_session(out, one)
        if "by_problem" in one:
            out.print(tables.as_text(tables.problem_table(one["by_problem"]), out.width))
    files = result.get("files", ())
    if len(files) > MAX_LISTED_FILES:
        folder = escape_unprintable(str(Path(files[0]).parent))
        out.print(f"written   {len(files)} files in {folder}", soft_wrap=True)
        files = ()
    for path in files:
        out.print(f"written   {escape_unprintable(path)}", soft_wrap=True)
    for note in result.get("notes", ()):
        out.print(note, soft_wrap=True)


def _summed(scored: Sequence[Mapping[str, Json]]) -> str:
    left: Counter[str] = Counter()
    for one in scored:
        left.update(one["left_out"])
    both = {
        key: sum(one[key] for one in scored) for key in ("problems", "memorising", "left_out_pairs")
    }
    parts = [f"{count:,} {status}, not scored" for status, count in sorted(left.items())]
    counted = [f"{both['problems']:,} problems", *parts, *_marked(both)]
    return f"{len(scored)} sessions: {', '.join(counted)}"


def _marked(counts: Mapping[str, Json]) -> list[str]:
    """Return notes on memorising hypotheses and on hidden pairs that judge nothing, if any."""
    said = []
    if counts["memorising"]:
        said.append(
            f"{counts['memorising']:,} memorising hypotheses (exclude with --without-memorising)"
        )
    if counts["left_out_pairs"]:
        said.append(
            f"{counts['left_out_pairs']:,} hidden pairs cannot be judged (include with --all-pairs)"
        )
    return said


def print_study(out: Console, result: Mapping[str, Json]) -> None:
    """Print the short table of a study, and facts about the sessions that it used."""
    from ..files import tables
    from ..papers.gear import study_tables

    out.print(tables.as_text(study_tables.short_table(result), out.width))
    for fact in study_tables.study_facts(result):
        out.print(escape_unprintable(fact), soft_wrap=True)
    for path in result.get("files", ()):
        out.print(f"written   {escape_unprintable(path)}", soft_wrap=True)


def print_forecast(out: Console, forecast: Mapping[str, Json]) -> None:
    """Print the plan of a dry run. Roles that will make no calls are left out."""
    seed = forecast["seed"]
    out.print(
        escape_unprintable(f"{forecast['method']} on {forecast['task']}, seed {seed}"),
        soft_wrap=True,
    )
    out.print(escape_unprintable(f"model     {forecast['model']}"), soft_wrap=True)
    if forecast.get("protocol"):
        said = summarise_protocol(forecast["protocol"])
        out.print(escape_unprintable(f"protocol  {said}"), soft_wrap=True)
    out.print(f"problems  {forecast['problems']:,}")
    for role, calls in forecast["calls"].items():
        if calls["most"] or role == "proposer":
            of = f" of {forecast['judge']}" if role == "judge" and forecast.get("judge") else ""
            said = f"{role:<9} {_range(calls)} calls{of}, not counting retries"
            out.print(escape_unprintable(said), soft_wrap=True)
    if forecast.get("ask_human"):
        out.print("person    each answer of a person allows a problem as many calls again")
    if forecast.get("prompt_tokens"):
        out.print(
            f"prompt    the longest first prompt has about {forecast['prompt_tokens']:,} tokens"
        )
        out.print("estimate  assumes that the model returns as many hypotheses as requested")


def _range(calls: Mapping[str, int]) -> str:
    least, most = calls["least"], calls["most"]
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def print_written(out: Console, result: Mapping[str, Json]) -> None:
    """Print what a command wrote to files, with one fact per line and data sets as a table."""
    sets = result.get("sets") or []
    for name, value in result.items():
        if name == "sets":
            continue
        if isinstance(value, Mapping):
            said = join_counts(value)
        elif name == "files" and sets:
            said = f"{len(value):,}"
        else:
            said = escape_unprintable(
                ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            )
        out.print(f"{escape_unprintable(str(name)):<9} {said}", soft_wrap=True)
    if sets:
        _print_sets(out, sets)


def _print_sets(out: Console, sets: Sequence[Mapping[str, Json]]) -> None:
    """Print noise and accuracy on the test rows, with "–" where they are unknown."""
    shown = create_table(
        "set", "rows", "labels", "true rules", "changed", "best accuracy", numbers=range(1, 6)
    )
    for one in sets:
        shares = [(one.get(key) or {}).get("test") for key in ("effective_noise", "best_accuracy")]
        told = ["–" if share is None else f"{100 * share:.1f}%" for share in shares]
        rows, labels = sum(one["rows"].values()), len(one.get("labels") or ())
        shown.add_row(
            escape_unprintable(str(one["name"])),
            f"{rows:,}",
            str(labels or "–"),
            str(one["known"]),
            *told,
        )
    out.print(shown)


MAX_LISTED_SENTENCES = 12  # sentences
SESSION_ROW = "the session"


def print_baselines(
    out: Console, metrics: Mapping[str, Mapping[str, Json]], baselines: Sequence[Mapping[str, Json]]
) -> None:
    """Print accuracy and macro F1 of a session and of its baselines, and a comparison in words.

    There is one row per method, and two columns per split. Each value is a mean over problems.

    Args:
        out: The console.
        metrics: Metrics of the session, by name.
        baselines: Baselines of each problem, as `baselines.session_baselines` returns them.
    """
    from ..papers.hypobench.baseline_models import describe_missing
    from ..papers.hypobench.metrics import SPLITS

    rows = [row for one in baselines for row in one["baselines"]]
    splits = [split for split in SPLITS if any(row["split"] == split for row in rows)]
    if not splits:
        return
    names = [f"{split} {what}" for split in splits for what in ("accuracy", "F1")]
    shown = create_table("", *names, numbers=range(1, 1 + len(names)))
    mine = [_number(metrics.get(f"{what}_{split}", {}).get("mean"))
            for split in splits for what in ("accuracy", "f1")]  # fmt: skip
    shown.add_row(SESSION_ROW, *mine)
    for name in dict.fromkeys(row["name"] for row in rows):
        of_name = [row for row in rows if row["name"] == name]
        means = [_number(_mean([row[what] for row in of_name if row["split"] == split]))
                 for split in splits for what in ("accuracy", "f1")]  # fmt: skip
        shown.add_row(escape_unprintable(name), *means)
    out.print(shown)
    several = len(baselines) > 1
    missing = describe_missing()
    said = dict.fromkeys(
        f"{to_one_line(one['problem'], 40)}: {line}" if several else line
        for one in baselines
        for line in one["said"]
        if line != missing
    )
    for line in list(said)[:MAX_LISTED_SENTENCES]:
        out.print(escape_unprintable(line), soft_wrap=True)
    if len(said) > MAX_LISTED_SENTENCES:
        out.print(
            f"and {len(said) - MAX_LISTED_SENTENCES} more; to see all, run: peirce eval"
            " hypobench --json"
        )
    if missing:
        out.print(missing, soft_wrap=True)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
