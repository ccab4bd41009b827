"""Terminal output of commands that read a store: sessions, problems, hypotheses and banks.

Text from models, files and problems is data and never interpreted. Consoles are created without
markup, and `escape_unprintable` shows control characters as escapes.

`draw_grid_pair` draws grids as one line of digits per row, in the colours of ARC's viewers. Without
colour the digits remain readable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.style import Style
from rich.text import Text

from ...records import NOT_REQUESTED, Json
from ...tasks.programs.grid_values import is_grid
from .text import (
    SHORTENED,
    VERDICT_STYLES,
    create_table,
    escape_unprintable,
    format_hypothesis,
    format_marks,
    join_counts,
    stop_sentence,
    to_one_line,
    verdict_text,
)

MAX_MARKS = 60  # Longer lists of observations are shown as counts.
MAX_LISTED = 20  # Maximum number of replay differences or end reasons that are listed.


def print_sessions(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """Print one row per session with its status, task, method and model."""
    if not rows:
        out.print("This store contains no sessions.")
        return
    shown = create_table(
        "session", "created", "status", "task", "method", "model", "problems", numbers=[6]
    )
    for row in rows:
        settings = row.get("settings") or row
        names = (settings.get(key, "") for key in ("task", "method", "model"))
        cells = (row["session"], _moment(row.get("created")), row["status"], *names)
        shown.add_row(*(to_one_line(str(cell), 40) for cell in cells), str(row.get("problems", "")))
    out.print(shown)


def _moment(value: Json) -> str:
    return str(value or "")[:19].replace("T", " ")


def print_problems(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """Print the output of `peirce show SESSION`: one row per problem, then why the problems
    ended.
    """
    verdicts = list(VERDICT_STYLES)
    names = [n for n in verdicts if any(n in row["verdicts"] for row in rows)]
    breached = [name for name in ("breaches", "repaired") if any(row.get(name) for row in rows)]
    shown = create_table("problem", "status", "ended", "shown", "hidden", "steps", *names, *breached,
                  numbers=range(3, 6 + len(names)))  # fmt: skip
    for row in rows:
        numbers = (row["shown"], row["hidden"], row["steps"], *(row["verdicts"][n] for n in names))
        shown.add_row(
            to_one_line(row["problem"], 24), row["status"], stop_sentence(row["cause"] or ""),
            *map(str, numbers), *[join_counts(row.get(name, {})) for name in breached],
        )  # fmt: skip
    out.print(shown)
    for row in rows:
        if row.get("inference"):
            out.print(_read(row["problem"], row["inference"]), soft_wrap=True)
    reasons = Counter((row["cause"], row["reason"]) for row in rows if row["reason"])
    for (cause, reason), count in reasons.most_common(MAX_LISTED):
        out.print(f"{stop_sentence(cause)} ({count} x): {to_one_line(reason, 300)}", soft_wrap=True)


def _read(problem: str, told: Mapping[str, Json]) -> str:
    """Return a line on how a bank was applied and its scores on each split."""
    entries = told["entries"]
    of = "" if entries is None else f"bank of {entries} applied by "
    parts = []
    for split, one in told["splits"].items():
        missing = f", {one['unlabelled']:,} without a label" if one["unlabelled"] else ""
        parts.append(
            f"{split} {one['rows']:,} rows, accuracy {one['accuracy']:.3f}, F1 {one['f1']:.3f}{missing}"
        )
    return f"{to_one_line(problem, 24)}: {of}{told['strategy']}: {'; '.join(parts) or 'no rows'}"


def print_hypotheses(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """Print the output of `peirce show SESSION PROBLEM`: each hypothesis with its results."""
    if not rows:
        out.print("This problem has no answers. `peirce show SESSION` shows why it ended.")
    for row in rows:
        head = Text.assemble(f"step {row['step']}  ", verdict_text(row["verdict"]))
        if row.get("found_by"):
            head.append(f"  by {to_one_line(str(row['found_by']), 100)}", style="dim")
        if row.get("after_hint"):
            head.append(f"  after: {to_one_line(str(row['after_hint']), 100)}", style="dim")
        if row["reason"]:
            head.append(f"  {to_one_line(row['reason'], 90)}", style="dim")
        out.print(head)
        if row["hypothesis"] is None:
            out.print(_indented(row["answer"] or "(an empty answer)"))
            if repaired := _repaired(row):
                out.print(f"    {repaired}", style="dim")
            continue
        if row["description"]:
            out.print(_indented(row["description"]))
        out.print(_indented(row.get("summary") or row["hypothesis"]), style="bold")
        facts = [f"shown {_marks(row['observations'])}"]
        facts += [f"hidden {_marks(row['hidden'])}"] if row["hidden"] else []
        if row["coverage"] is not None:
            facts.append(f"predicted by earlier hypotheses {row['coverage']:.3f}")
        undefined = {why: n for why, n in row["undefined"].items() if why != NOT_REQUESTED}
        facts += [f"undefined {join_counts(undefined)}"] if undefined else []
        facts += _sources(row.get("meta") or {})
        facts += (
            [f"breaches {', '.join(map(escape_unprintable, row['breaches']))}"]
            if row["breaches"]
            else []
        )
        facts += [repaired] if (repaired := _repaired(row)) else []
        out.print(f"    {'   '.join(facts)}", style="dim")
        out.print()
    if any(row.get("summary") for row in rows):
        out.print(SHORTENED, soft_wrap=True)


def _repaired(row: Mapping[str, Json]) -> str:
    """Return what was wrong with the form of an answer, or ""."""
    repaired = row.get("repaired")
    return f"repaired {join_counts(repaired)}" if repaired else ""


def _marks(found: Sequence[bool | None]) -> str:
    """Return one mark per observation, or counts of right and wrong ones if there are many."""
    if len(found) <= MAX_MARKS:
        return format_marks(found)
    right, wrong, silent = (sum(mark is one for mark in found) for one in (True, False, None))
    undefined = f", {silent} undefined" if silent else ""
    return f"{right} correct, {wrong} wrong{undefined} of {len(found)}"


def _sources(meta: Mapping[str, Json]) -> list[str]:
    """Return the paper that a hypothesis rests on and the passage that it quotes."""
    said = [f"from {to_one_line(str(meta['source']), 60)}"] if meta.get("source") else []
    return said + ([f'"{to_one_line(str(meta["quote"]), 120)}"'] if meta.get("quote") else [])


def print_calls(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """Print the output of `peirce show --calls`: one row per call."""
    shown = create_table("problem", "call", "seconds", "tokens and cost", numbers=[2])
    for row in rows:
        told = {name: row[f"tokens_{name}"] for name in ("in", "out", "cached", "reasoning")}
        facts = [join_counts(told | {"retries": row["retries"]})]
        facts += [f"{row['cost_usd']:.6f} US dollars"] if row.get("cost_usd") else []
        facts += [f"reused from session {row['repeats']}"] if row["repeats"] else []
        facts += [f'"{to_one_line(text, 100)}"' for text in row.get("texts") or () if text]
        cells = (
            to_one_line(row["problem"], 20),
            to_one_line(row["path"], 48),
            f"{row['seconds']:.3f}",
        )
        shown.add_row(*cells, ", ".join(fact for fact in facts if fact))
    out.print(shown)


def _indented(text: str, by: str = "    ") -> str:
    return "\n".join(
        by + line for line in escape_unprintable(text, keep_lines=True).strip("\n").split("\n")
    )


def print_tasks(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """Print one row per task with its family and description."""
    shown = create_table("task", "family", "about")
    for row in rows:
        shown.add_row(row["task"], row["family"], row["about"])
    out.print(shown)


def print_task(out: Console, task: Mapping[str, Json]) -> None:
    """Print a task with its example commands, unwrapped so that they can be copied."""
    out.print(
        f"{escape_unprintable(task['task'])}: {escape_unprintable(task['about'])}", soft_wrap=True
    )
    if task["takes"]:
        out.print(f"Data (--data): {escape_unprintable(task['takes'])}", soft_wrap=True)
    out.print("\nExamples:")
    for line in task["commands"]:
        out.print(f"    {escape_unprintable(line)}", soft_wrap=True)
    names = ", ".join(task["methods"])
    out.print(f"\nMethods (--method): {names}", soft_wrap=True)
    out.print("For all options, run: peirce run --help")


def print_problem(out: Console, problem: Mapping[str, Json]) -> None:
    """Print a problem with all observations, or as its task draws it. Hidden observations are
    marked.
    """
    out.print(
        f"{escape_unprintable(problem['task'])}, problem {escape_unprintable(problem['id'])}:"
        f" {len(problem['shown'])} shown and {len(problem['hidden'])} hidden observations,"
        f" sample space of {problem['space']:,} inputs"
    )
    if "drawn" in problem:
        for line in problem["drawn"].split("\n"):
            out.print(
                Text(escape_unprintable(f"  {line}" if line else "")), no_wrap=True, crop=False
            )
        return
    for title in ("shown", "hidden"):
        for given, wanted in problem[title]:
            if is_grid(given) and is_grid(wanted):
                out.print(f"  {title}, {_size(given)} -> {_size(wanted)}")
                for line in draw_grid_pair(given, wanted):
                    out.print(Text("    ").append_text(line), no_wrap=True, crop=False)
            else:
                out.print(f"  {title:<7} {to_one_line(given, 90)} -> {to_one_line(wanted, 90)}")
    for name, value in problem["public"].items():
        out.print(f"  {escape_unprintable(str(name))}: {to_one_line(value, 200)}")
    for name, value in problem["secret"].items():
        out.print(f"  hidden {escape_unprintable(str(name))}: {_format_hidden(value)}", style="dim")


def _size(grid: list[list[int]]) -> str:
    return f"{len(grid)} by {len(grid[0])}"


def _format_hidden(value: Json) -> str:
    """Return the source of a rule in its own lines, and any other value on one line."""
    if isinstance(value, str) and "\n" in value.strip():
        return "\n" + _indented(value)
    return to_one_line(value, 200)


def print_check(out: Console, row: Mapping[str, Json]) -> None:
    """Print one line about a checked answer: verdict, results on the observations, scores and
    breaches.
    """
    line = Text.assemble(
        f"line {row['line']:>4}  problem {to_one_line(str(row['problem']), 24):<10}  ",
        verdict_text(f"{row['verdict']:<12}"),
    )
    if row["observations"]:
        line.append(f"  shown {_marks(row['observations'])}")
    if row["hidden"]:
        line.append(f"  hidden {_marks(row['hidden'])}")
    if row.get("split") and row["accuracy"] is not None:
        line.append(f"  {row['split']}: accuracy {row['accuracy']:.3f}, F1 {row['f1']:.3f}")
    if errors := {name: rms for name, rms in row.get("rms", {}).items() if rms is not None}:
        told = ", ".join(f"{name} {rms:.4g}" for name, rms in errors.items())
        line.append(f"  rms error {told} (tolerance {row['tolerance']:.4g})")
    if row["undefined"]:
        line.append(f"  undefined {join_counts(row['undefined'])}", style="dim")
    if row["breaches"]:
        line.append(
            f"  breaches {', '.join(map(escape_unprintable, row['breaches']))}", style="dim"
        )
    if row["reason"]:
        line.append(f"  {to_one_line(row['reason'], 90)}", style="dim")
    out.print(line, soft_wrap=True)


def print_differences(out: Console, result: Mapping[str, Json]) -> None:
    """Print the first differences between a replay and the stored session."""
    found = result["differences"]
    said = f"{len(found)} differences" if found else "no differences"
    out.print(
        f"session {escape_unprintable(result['session'])}: {result['steps']} steps replayed, {said}"
    )
    for one in found[:MAX_LISTED]:
        out.print(
            f"  problem {to_one_line(str(one['problem']), 24)} step {one['step']}"
            f" {escape_unprintable(one['field'])}: recorded {to_one_line(one['recorded'], 40)},"
            f" replayed {to_one_line(one['replayed'], 40)}",
            soft_wrap=True,
        )
    if len(found) > MAX_LISTED:
        out.print(f"  and {len(found) - MAX_LISTED} more; use --json to see all")


def print_merged(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """Print what `peirce merge-stores` did with each store."""
    for row in rows:
        counts = {
            "copied": row["sessions"], "replaced by a copy that went on": row["replaced"],
            "already there": row["present"],
        }  # fmt: skip
        told = ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "none"
        more = "".join(
            f"; {count} {what} copied"
            for what, count in (
                ("sets of pairs", row["pair_sets"]),
                ("trainings", row["trainings"]),
            )
            if count
        )
        out.print(escape_unprintable(f"{row['store']}: sessions: {told}{more}"), soft_wrap=True)


# --- hypothesis banks ---------------------------------------------------------------


GUESS_TEXT = (
    "Where a hypothesis does not apply, its accuracy counts a guess among the labels. `peirce show"
    " --findings` prints on how many observations each hypothesis is right."
)
EMPTY_BANK_TEXT = "The bank of this session is empty: no hypothesis was accepted."


def print_bank(out: Console, rows: Sequence[Mapping[str, Json]], full: bool = False) -> None:
    """Print the hypotheses in a bank, by problem and best first.

    A visit is an application of a hypothesis to one observation. The column "applies" is the share
    of the visits on which the hypothesis made a prediction.

    Args:
        out: The console.
        rows: The rows of `peirce bank --json`.
        full: Print hypotheses whole, however long they are.
    """
    if not rows:
        out.print(EMPTY_BANK_TEXT)
        return
    several = any(row.get("found_by") for row in rows)
    shown = create_table("problem", "rank", "reward", "accuracy", "visits", "applies", "hypothesis",
                  *(["found by"] if several else []), numbers=[1, 2, 3, 4, 5])  # fmt: skip
    for row in rows:
        what = row.get("description") or row.get("text", "")
        visits = row.get("visits")
        told = {**row, "applies": row.get("covered", 0) / visits if visits else None}
        names = ("rank", "reward", "accuracy", "visits", "applies")
        cells = (_number(told.get(name)) for name in names)
        said = format_hypothesis(row, what, 400, full)
        by = [to_one_line(str(row.get("found_by") or ""), 100)] if several else []
        shown.add_row(to_one_line(str(row.get("problem", "")), 24), *cells, said, *by)
    out.print(shown)
    if not full and any(row.get("summary") for row in rows):
        out.print(SHORTENED, soft_wrap=True)
    if any(row.get("covered", 0) < row.get("visits", 0) for row in rows):
        out.print(GUESS_TEXT, soft_wrap=True)


def print_bank_history(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """Print how a bank changed, with one row per step that changed it.

    A row has the size of the bank after the step, the numbers of hypotheses that were added and
    removed, and the best reward and accuracy.
    """
    if not rows:
        out.print(EMPTY_BANK_TEXT)
        return
    shown = create_table("problem", "step", "t", "size", "entered", "left", "best reward", "best accuracy",
                  numbers=range(1, 8))  # fmt: skip
    for row in rows:
        told = (
            row["step"], row["t"], row["size"], len(row["entered"]), len(row["left"]),
            row["reward"], row["accuracy"],
        )  # fmt: skip
        shown.add_row(to_one_line(str(row["problem"]), 24), *map(_number, told))
    out.print(shown)


def print_saved_bank(
    out: Console, rows: Sequence[Mapping[str, Json]], path: str, history: bool
) -> None:
    """Print a bank or its history, and the path of the file to which the bank was written."""
    (print_bank_history if history else print_bank)(out, rows)
    out.print(f"written   {escape_unprintable(path)}", soft_wrap=True)


def _number(value: Json) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str("" if value is None else value)


BACKGROUNDS = ("#000000", "#0074d9", "#ff4136", "#2ecc40", "#ffdc00", "#aaaaaa", "#f012be",
               "#ff851b", "#7fdbff", "#870c25")  # fmt: skip
DARK_COLOURS = (0, 1, 9)
STYLES = tuple(
    Style(color="#ffffff" if colour in DARK_COLOURS else "#000000", bgcolor=back)
    for colour, back in enumerate(BACKGROUNDS)
)
TERMINAL_WIDTH = 100  # Assumed terminal width in columns.
ARROW = "  ->  "


def draw_grid_pair(input_grid: list[list[int]], output_grid: list[list[int]]) -> list[Text]:
    """Return the lines that show two grids side by side. Digits are spaced if the width allows
    it.
    """
    columns = len(input_grid[0]) + len(output_grid[0])
    cell = 2 if 2 * columns + len(ARROW) <= TERMINAL_WIDTH else 1
    height = max(len(input_grid), len(output_grid))
    lines = []
    for k in range(height):
        line = Text()
        _row(line, input_grid, k, cell)
        line.append(
            ARROW if k == (min(len(input_grid), len(output_grid)) - 1) // 2 else " " * len(ARROW)
        )
        _row(line, output_grid, k, cell)
        line.rstrip()
        lines.append(line)
    return lines


def _row(line: Text, grid: list[list[int]], k: int, cell: int) -> None:
    if k >= len(grid):
        line.append(" " * (cell * len(grid[0])))
        return
    for colour in grid[k]:
        line.append(f"{colour:>{cell}}", STYLES[colour])
