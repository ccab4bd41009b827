"""What the reading verbs print where a person reads: sessions, problems, banks, what is here.

Text of models, files and problems is data: nothing in it is obeyed. Consoles are made without
markup, and `visible` shows control characters as escapes.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..records import Json

VERDICT_STYLES = {
    "accepted": "green",
    "consistent": "green",
    "redundant": "cyan",
    "inconsistent": "yellow",
    "malformed": "magenta",
    "error": "red",
}
DEFAULT_STORE = "peirce.duckdb"
LISTED = 20  # differences of a replay
TOLD = (
    *("calls", "tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "retries"),
    "repeated",
)


def console(*, talk: bool = False) -> Console:
    """A console that prints text as it is: on stdout for data, on stderr for talk."""
    stream = sys.stderr if talk else sys.stdout
    width = None if stream.isatty() else 120
    return Console(
        file=stream, markup=False, highlight=False, emoji=False, soft_wrap=False, width=width
    )


def visible(text: str, *, lines: bool = False) -> str:
    """`text` with everything that a terminal would obey shown as an escape: control codes, marks
    of direction, lone surrogates. With `lines`, line breaks and tabs stay."""
    keep = "\n\t" if lines else ""
    return "".join(
        c if c in keep or c.isprintable() else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def one_line(value: object, width: int = 72) -> str:
    """A value on one line of at most `width` characters."""
    text = visible(" ".join(value.split()) if isinstance(value, str) else repr(value))
    return text if len(text) <= width else text[: width - 1] + "…"


def duration(seconds: float) -> str:
    """0.4 s, 12 s, 3:05, 1:02:03."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def command(verb: str, session: str, store: str) -> str:
    """A command line to copy; the store is named where it is not the default one."""
    named = [] if Path(store) == Path(DEFAULT_STORE) else ["--store", store]
    return shlex.join(["peirce", verb, session, *named])


def counts(pairs: Mapping[str, Json]) -> str:
    return ", ".join(f"{count} {visible(str(name))}" for name, count in pairs.items() if count)


def table(*headings: str, numbers: Iterable[int] = ()) -> Table:
    """A table without lines between cells; columns in `numbers` stand to the right."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    right = set(numbers)
    for number, heading in enumerate(headings):
        made.add_column(heading, justify="right" if number in right else "left", overflow="fold")
    return made


def verdict_text(verdict: str) -> Text:
    return Text(verdict, style=VERDICT_STYLES.get(verdict, ""))


def marks(values: Sequence[bool | None]) -> str:
    """One character an observation: right, wrong, undefined."""
    return "".join({True: "✓", False: "✗", None: "·"}[value] for value in values)


# --- the verbs -----------------------------------------------------------------


def print_sessions(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    if not rows:
        out.print("No session is in this store.")
        return
    shown = table(
        "session", "created", "status", "task", "method", "model", "problems", numbers=[6]
    )
    for row in rows:
        settings = row.get("settings") or row
        names = (settings.get(key, "") for key in ("task", "method", "model"))
        cells = (row["session"], _moment(row.get("created")), row["status"], *names)
        shown.add_row(*(one_line(str(cell), 40) for cell in cells), str(row.get("problems", "")))
    out.print(shown)


def _moment(value: Json) -> str:
    return str(value or "")[:19].replace("T", " ")


def print_problems(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """What `peirce show SESSION` prints: a line a problem."""
    verdicts = list(VERDICT_STYLES)
    names = [n for n in verdicts if any(n in row["verdicts"] for row in rows)]
    breached = ["breaches"] if any(row["breaches"] for row in rows) else []
    shown = table("problem", "status", "ended", "shown", "hidden", "steps", *names, *breached,
                  numbers=range(3, 6 + len(names)))  # fmt: skip
    for row in rows:
        numbers = (row["shown"], row["hidden"], row["steps"], *(row["verdicts"][n] for n in names))
        shown.add_row(
            one_line(row["problem"], 24), row["status"], one_line(row["cause"] or "", 40),
            *map(str, numbers), *[counts(row["breaches"]) for _ in breached],
        )  # fmt: skip
    out.print(shown)


def print_hypotheses(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """What `peirce show SESSION PROBLEM` prints: each hypothesis with all that became of it."""
    for row in rows:
        head = Text.assemble(f"step {row['step']}  ", verdict_text(row["verdict"]))
        if row["reason"]:
            head.append(f"  {one_line(row['reason'], 90)}", style="dim")
        out.print(head)
        if row["hypothesis"] is None:
            out.print(_indented(row["answer"] or "(an empty answer)"))
            continue
        if row["description"]:
            out.print(_indented(row["description"]))
        out.print(_indented(row["hypothesis"]), style="bold")
        facts = [f"shown {marks(row['observations'])}"]
        facts += [f"hidden {marks(row['hidden'])}"] if row["hidden"] else []
        facts += [f"coverage {row['coverage']:.3f}"] if row["coverage"] is not None else []
        facts += [f"undefined {counts(row['undefined'])}"] if row["undefined"] else []
        facts += [f"breaches {', '.join(map(visible, row['breaches']))}"] if row["breaches"] else []
        out.print(f"    {'   '.join(facts)}", style="dim")
        out.print()


def _indented(text: str, by: str = "    ") -> str:
    return "\n".join(by + line for line in visible(text, lines=True).strip("\n").split("\n"))


def print_bank(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """What `peirce bank` prints: the hypotheses of each problem, best first."""
    if not rows:
        out.print("The bank of this session is empty: no hypothesis was accepted.")
        return
    shown = table("problem", "rank", "reward", "accuracy", "visits", "hypothesis",
                  numbers=[1, 2, 3, 4])  # fmt: skip
    for row in rows:
        what = row.get("description") or row.get("text", "")
        cells = (_number(row.get(key)) for key in ("rank", "reward", "accuracy", "visits"))
        shown.add_row(one_line(str(row.get("problem", "")), 24), *cells, one_line(what, 400))
    out.print(shown)


def _number(value: Json) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str("" if value is None else value)


def print_tasks(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    shown = table("task", "family", "about")
    for row in rows:
        shown.add_row(row["task"], row["family"], row["about"])
    out.print(shown)


def print_problem(out: Console, problem: Mapping[str, Json]) -> None:
    """A problem drawn whole; what no agent sees is said to be hidden."""
    out.print(
        f"{problem['task']}, problem {visible(problem['id'])}: {len(problem['shown'])} shown,"
        f" {len(problem['hidden'])} hidden, a sample space of {problem['space']:,} inputs"
    )
    for title in ("shown", "hidden"):
        for given, wanted in problem[title]:
            out.print(f"  {title:<7} {one_line(given, 90)} -> {one_line(wanted, 90)}")
    for name, value in problem["public"].items():
        out.print(f"  {visible(str(name))}: {one_line(value, 200)}")
    for name, value in problem["secret"].items():
        out.print(f"  hidden {visible(str(name))}: {one_line(value, 200)}", style="dim")


def print_check(out: Console, row: Mapping[str, Json]) -> None:
    line = Text.assemble(
        f"line {row['line']:>4}  problem {one_line(str(row['problem']), 24):<10}  ",
        verdict_text(f"{row['verdict']:<12}"),
    )
    if row["observations"]:
        line.append(f"  shown {marks(row['observations'])}")
    if row["hidden"]:
        line.append(f"  hidden {marks(row['hidden'])}")
    if row["undefined"]:
        line.append(f"  undefined {counts(row['undefined'])}", style="dim")
    if row["breaches"]:
        line.append(f"  breaches {', '.join(map(visible, row['breaches']))}", style="dim")
    if row["reason"]:
        line.append(f"  {one_line(row['reason'], 90)}", style="dim")
    out.print(line, soft_wrap=True)


def print_differences(out: Console, result: Mapping[str, Json]) -> None:
    """The first differences by name; `--json` has all of them."""
    found = result["differences"]
    said = f"{len(found)} differences" if found else "no difference"
    out.print(f"session {result['session']}: {result['steps']} steps replayed, {said}")
    for one in found[:LISTED]:
        out.print(
            f"  problem {one_line(str(one['problem']), 24)} step {one['step']}"
            f" {visible(one['field'])}: recorded {one_line(one['recorded'], 40)},"
            f" replayed {one_line(one['replayed'], 40)}",
            soft_wrap=True,
        )
    if len(found) > LISTED:
        out.print(f"  and {len(found) - LISTED} more; --json has them all")


def print_doctor(out: Console, found: Mapping[str, Json]) -> None:
    platform, store, gpu, models = (found[k] for k in ("platform", "store", "gpu", "models"))
    for line in _cleaned(found.get("cleaned")):
        out.print(f"cleaned   {line}")
    versions = ", ".join(
        f"{name} {version or 'missing'}" for name, version in found["versions"].items()
    )
    out.print(f"versions  {versions}")
    out.print(
        f"platform  Python {platform['python']}, {platform['system']}, {platform['cores']} cores"
    )
    for name, backend in found["sandbox"].items():
        out.print(f"sandbox   {name}: {_backend(backend)}")
    keys = ", ".join(
        f"{name} {'set' if there else 'not set'}" for name, there in models["keys"].items()
    )
    endpoint = visible(models["endpoint"] or "none named in the environment")
    out.print(f"models    {', '.join(models['schemes'])}; endpoint: {endpoint}; {keys}")
    for one in found["settings"] or [{"key": "none in the environment or a file"}]:
        told = f" = {one['value']} ({one['source']})" if "value" in one else ""
        out.print(f"setting   {visible(one['key'] + told)}", soft_wrap=True)
    for name, extra in found["extras"].items():
        said = (
            "here"
            if extra["here"]
            else f"without {', '.join(extra.get('missing', []))}: {extra['install']}"
        )
        out.print(f"extra     {name}: {said}")
    out.print(f"gpu       {', '.join(gpu['devices']) or 'none seen'}")
    out.print(f"store     {visible(store['path'])}: {_store(store)}")


def _cleaned(cleaned: Mapping[str, Json] | None) -> Iterator[str]:
    if cleaned is None:
        return
    kinds = ("containers", "images", "control_groups")
    removed = [visible(name) for kind in kinds for name in cleaned[kind]]
    yield f"removed {', '.join(removed) or 'nothing'}"
    for text in (*cleaned["kept"], *([cleaned["docker"]] if "docker" in cleaned else [])):
        yield f"kept {visible(text)}" if text in cleaned["kept"] else visible(text)


def _backend(backend: Mapping[str, Json]) -> str:
    if not backend["here"]:
        return f"not here ({visible(backend['reason'])})"
    active = [visible(name) for name, on in backend["layers"].items() if on]
    missing = [visible(name) for name, on in backend["layers"].items() if not on]
    return ", ".join(active) + (f"; not active: {', '.join(missing)}" if missing else "")


def _store(store: Mapping[str, Json]) -> str:
    if not store["here"]:
        return "not there yet"
    if not store["readable"]:
        return f"cannot be read ({visible(store['reason'])})"
    return f"{store['sessions']} sessions, {store['bytes'] / 1e6:.1f} MB"


# --- what a session came to ------------------------------------------------------


def print_outcome(out: Console, session: Any) -> None:
    """The end of a run: results with intervals, what failed and how often, cost, paths, and the
    next command."""
    from . import find_evaluation, tables

    metrics = find_evaluation(session.evaluation).metrics
    scored = tables.summary_table([session.as_json()], metrics)
    out.print(f"{session.task}, {session.method}, {visible(session.model)}: {_coverage(session)}")
    out.print()
    out.print(tables.as_text(scored, out.width))
    out.print()
    facts = [
        ("verdicts", counts(session.verdicts) or "none"),
        *_faults(session.breaches, session.malformed),
        ("ended", counts(session.ends) or "no problem"),
        *(("failed", line) for line in _failures(session.failed) or ["nothing"]),
        *_costs(session.usage),
        ("time", duration(session.seconds)),
        ("store", f"{visible(session.store)}, session {session.session}"),
        ("digest", session.digest),
        ("next", command("show" if session.status == "done" else "resume",
                         session.session, session.store)),
    ]  # fmt: skip
    for name, said in facts:
        out.print(f"{name:<9} {said}", soft_wrap=True)


def _faults(breaches: Mapping[str, int], malformed: Mapping[str, int]) -> list[tuple[str, str]]:
    """Where there are any: breaches of the answer contract by kind, malformed answers by reason."""
    told = (("breaches", counts(breaches)), ("malformed", counts(malformed)))
    return [(name, said) for name, said in told if said]


def _coverage(session: Any) -> str:
    scored = session.problems - len(session.failed)
    return f"{session.status}, {session.problems} problems" + (
        f", of which {len(session.failed)} failed and {scored} are scored" if session.failed else ""
    )


def _failures(failed: Mapping[str, str]) -> list[str]:
    causes = Counter(failed.values())
    return [f"{count} x {one_line(cause, 150)}" for cause, count in causes.most_common(5)]


def _costs(usage: Mapping[str, Json]) -> list[tuple[str, str]]:
    """Calls and tokens by role, seconds by kind of call (summed over problems side by side)."""
    lines = []
    for role, sums in usage.get("by_role", {}).items():
        told = [f"{sums[name]:,} {name.replace('_', ' ')}" for name in TOLD if sums.get(name)]
        if sums.get("cost_usd"):
            told.append(f"{sums['cost_usd']:.4f} US dollars")
        lines.append(("cost", f"{visible(str(role))}: {', '.join(told) or 'nothing'}"))
    kinds = usage.get("by_kind", {}).items()
    seconds = ", ".join(f"{duration(sums['seconds'])} {visible(str(k))}" for k, sums in kinds)
    return [*lines, ("calls", f"took {seconds}, those side by side added up")] if seconds else lines


def print_scores(out: Console, result: Mapping[str, Json]) -> None:
    """What `peirce eval` prints: sessions side by side, then each one's problems if asked for."""
    from . import find_evaluation, tables

    scored = result["sessions"]
    metrics = find_evaluation(scored[0]["evaluation"]).metrics
    out.print(tables.as_text(tables.summary_table(scored, metrics), out.width))
    for one in scored:
        left = [f"{count} {status} and not scored" for status, count in one["left_out"].items()]
        out.print(
            f"session {one['session']}: {', '.join([str(one['problems']) + ' problems', *left])}"
        )
        for name, said in _faults(one["breaches"], one["malformed"]):
            out.print(f"  {name:<9} {said}", soft_wrap=True)
        if "by_problem" in one:
            out.print(tables.as_text(tables.problem_table(one["by_problem"]), out.width))
    for path in result.get("files", ()):
        out.print(f"written   {visible(path)}", soft_wrap=True)


def print_forecast(out: Console, forecast: Mapping[str, Json]) -> None:
    """What --dry-run tells; roles that nobody asks are left out."""
    seed = forecast["seed"]
    out.print(visible(f"{forecast['method']} on {forecast['task']}, seed {seed}"), soft_wrap=True)
    out.print(visible(f"model     {forecast['model']}"), soft_wrap=True)
    out.print(f"problems  {forecast['problems']:,}")
    for role, calls in forecast["calls"].items():
        if calls["most"] or role == "proposer":
            out.print(f"{role:<9} {calls['least']:,} to {calls['most']:,} calls, and retries")


def print_written(out: Console, result: Mapping[str, Json]) -> None:
    """What a verb that writes files did, a line a fact."""
    for name, value in result.items():
        if isinstance(value, Mapping):
            said = counts(value)
        else:
            said = visible(", ".join(map(str, value)) if isinstance(value, list) else str(value))
        out.print(f"{visible(str(name)):<9} {said}", soft_wrap=True)
