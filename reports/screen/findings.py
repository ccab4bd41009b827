"""Print findings: the best hypotheses of each problem, and an input on which the best two
disagree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from ...records import Json
from .text import SHORTENED, escape_unprintable, format_count, format_hypothesis, to_one_line

MAX_PROBLEMS = 5  # problems whose findings are printed
MAX_NAMED = 5  # problems without a hypothesis whose ids are printed
NONE_FITS = "None of these hypotheses is consistent with the shown observations:"
MAX_LINES = 14  # lines of a hypothesis
MAX_READING = 300  # characters
MAX_INPUT, MAX_OUTPUT = 100, 60  # characters of an input and a prediction
MAX_FRONT = 6  # hypotheses of the front of size against error
INDENT = "   "


def print_findings(
    out: Console,
    rows: Sequence[Mapping[str, Json]],
    command: str = "",
    problems: int | None = MAX_PROBLEMS,
    unexplained: Sequence[str] = (),
    all_sources: bool = False,
    reason: str = "",
) -> None:
    """Print the best hypotheses of each problem, and which problems have no hypothesis.

    Args:
        out: The console.
        rows: Findings in order of problem and rank, as `peirce run --json` prints them.
        command: The command that shows the findings of all problems.
        problems: Maximum number of problems to print; None for all.
        unexplained: Ids of the problems for which no hypothesis was found.
        all_sources: Print the source of every hypothesis, not only of the best one of a problem.
        reason: Why no hypothesis was found for the first of these problems; "" if that is unknown.
    """
    groups = [list(found) for _, found in groupby(rows, key=lambda row: row["problem"])]
    shown = groups[:problems]
    for found in shown:
        _print_problem(out, found, all_sources)
    if any(row.get("summary") for found in shown for row in found):
        out.print(SHORTENED, soft_wrap=True)
        out.print()
    if unexplained:
        names = [to_one_line(name, 60) for name in unexplained[:MAX_NAMED]]
        left = len(unexplained) - len(names)
        more = f" and {format_count(left, 'more problem')}" if left else ""
        first = "" if len(unexplained) == 1 else f"{names[0]}: "
        out.print(f"No hypothesis was found for {', '.join(names)}{more}.", soft_wrap=True)
        if reason:
            out.print(f"  {first}{to_one_line(reason, 300)}", soft_wrap=True)
        out.print()
    if left := len(groups) - len(shown):
        more = format_count(left, "more problem")
        out.print(f"… and the findings of {more}: {command}", soft_wrap=True)
        out.print()


def _print_problem(out: Console, found: Sequence[Mapping[str, Json]], all_sources: bool) -> None:
    out.print(Text(to_one_line(found[0]["problem"], 60), style="bold"))
    if together := found[0].get("together"):
        out.print(f" {describe_together(together)}", soft_wrap=True)
    elif not any(row["consistent"] for row in found):
        out.print(f" {NONE_FITS}")
    for row in found:
        reading, source = str(row["reading"]), str(row["hypothesis"])
        number = f"{row['rank']}. "
        out.print(Text(f" {number}{format_hypothesis(row, reading, MAX_READING)}"), soft_wrap=True)
        in_line = " ".join(source.split())
        is_told = reading == in_line or reading.startswith(f"{in_line}: ")
        if (all_sources or row["rank"] == 1) and not is_told:
            lines = escape_unprintable(source, keep_lines=True).strip("\n").split("\n")
            shown = lines[:MAX_LINES] + ["…"] * (len(lines) > MAX_LINES)
            out.print(Text("\n".join(INDENT + INDENT + line for line in shown)), soft_wrap=True)
        out.print(Text(f"{INDENT} {_evidence(row)}", style="dim"), soft_wrap=True)
    if parted := found[0].get("disagreement"):
        out.print(f"{INDENT} {describe_disagreement(parted)}", soft_wrap=True)
    _print_front(out, found[0].get("front") or ())
    out.print()


def _print_front(out: Console, front: Sequence[Mapping[str, Json]]) -> None:
    """Print the front of size against error, of which only the largest steps if it is long."""
    if len(front) < 2:
        return
    kept = _choose_points(front)
    more = "" if len(kept) == len(front) else f" ({len(kept)} of {len(front)} laws)"
    out.print(f"{INDENT} size and root mean square error of rival laws{more}:", soft_wrap=True)
    for one in kept:
        law = to_one_line(str(one["hypothesis"]), MAX_INPUT)
        mark = "  (chosen)" if one["chosen"] else ""
        out.print(
            Text(f"{INDENT}{INDENT}{one['size']:>3}  {one['rms']:<9.4g}  {law}{mark}"),
            soft_wrap=True,
        )


def _choose_points(front: Sequence[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    """Return the ends, the chosen hypothesis and those that lower the error by the largest factor."""
    places = range(len(front))
    drops = {
        n: front[n - 1]["rms"] / front[n]["rms"] if front[n]["rms"] else math.inf
        for n in places[1:]
    }
    first = [n for n in places if front[n]["chosen"] or n in (0, places[-1])]
    largest = sorted(drops, key=lambda n: (-drops[n], n))
    kept = list(dict.fromkeys([*first, *largest]))[:MAX_FRONT]
    return [front[n] for n in sorted(kept)]


def describe_together(together: Mapping[str, Json]) -> str:
    """Return a sentence on how well the sentences of a bank predict held-out rows together.

    Args:
        together: The counts, as `peirce run --json` prints them.
    """
    how = (
        "weighed together"
        if together["strategy"] == "weighted"
        else f"applied together by {together['strategy']}"
    )
    many = together["hypotheses"] > 1
    subject = format_count(together["hypotheses"], "sentence") + (
        f", {how}, are"
        if many
        else ", weighed, is"
        if together["strategy"] == "weighted"
        else " is"
    )
    # rounded as in the table of metrics: .1% alone would give 73.0% where the table has .731
    share = float(f"{together['right'] / together['of']:.3f}")
    return (
        f"{subject} right on {share:.1%} of the {together['of']:,} {together['rows']} rows"
        f" (training rows: {describe_shown_rows(together['shown'], together['training'])})."
    )


def describe_shown_rows(shown: int, training: int) -> str:
    """Return how many training rows are shown, as in "50,000 shown of 60,002, drawn by the seed"."""
    of = f" of {training:,}, drawn by the seed" if training > shown else ""
    return f"{shown:,} shown{of}"


def describe_disagreement(parted: Mapping[str, Json]) -> str:
    """Return a sentence on an input for which the best two hypotheses predict different outputs.

    Args:
        parted: The input and the outputs, as `peirce run --json` prints them.
    """
    told = "1 and 2 predict different outputs"
    if None not in parted["outputs"]:
        first, second = _shorten_pair(*parted["outputs"])
        told = f"1 predicts {first} and 2 predicts {second}"
    return f"For the input {_format_input(parted['input'])}, {told}."


def _shorten_pair(*texts: str) -> list[str]:
    """Return texts on one line each, shortened to a part in which they differ."""
    lines = [escape_unprintable(text) for text in texts]
    places = enumerate(zip(*lines, strict=False))
    same = next((n for n, (one, other) in places if one != other), min(map(len, lines)))
    begin = 0 if same < MAX_OUTPUT - 1 else same - MAX_OUTPUT // 2
    return ["…" * (begin > 0) + _shorten(line[begin:], MAX_OUTPUT) for line in lines]


def _shorten(text: str, width: int) -> str:
    """Return a text without line breaks, shortened; unlike `to_one_line`, with all its blanks."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _evidence(row: Mapping[str, Json]) -> str:
    """Return on how many observations a hypothesis is right, in words."""
    shown, held_out = row["shown"], row["held_out"]
    told = _describe_count(shown, "shown", format_count(shown["of"], "shown observation"))
    if held_out is not None:
        of_all = f"{held_out['of']:,} held-out"
        told += f" and {_describe_count(held_out, 'held-out', of_all)}"
    errors = [
        f"{one['rms']:.4g} on {kind}"
        for one, kind in ((shown, "shown"), (held_out or {}, "held-out"))
        if one.get("rms") is not None
    ]
    if errors:
        told += f"; root mean square error {' and '.join(errors)} observations"
    by = f"; found by {to_one_line(str(row['found_by']), 100)}" if row.get("found_by") else ""
    if row.get("after_hint"):
        by += f'; found after your hint: "{to_one_line(str(row["after_hint"]), 100)}"'
    return f"right on {told}{by}"


def _describe_count(count: Mapping[str, Json], kind: str, of_all: str) -> str:
    if count.get("covered") is None:
        return f"{count['right']} of {of_all}"
    return (
        f"{count['right']} of the {count['covered']:,} {kind} that it covers (of {count['of']:,})"
    )


def _format_input(value: Json) -> str:
    """Return an input of a sample space on one line; an element of a world by its name."""
    match value:
        case [{"domain": _, "id": world}, str(element)]:
            return f"{to_one_line(element, 40)} in the sampled world {to_one_line(str(world), 40)}"
    return _shorten(escape_unprintable(repr(value)), MAX_INPUT)
