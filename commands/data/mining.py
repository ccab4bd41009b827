"""Rules that answered problems in a store: what `tasks generate abd --mined STORE` plants against."""

from __future__ import annotations

from pathlib import Path

from ..outcome import reading


def answered_rules(store: str | Path, family: str) -> dict[str, list[str]]:
    """By the first name of a theory, the rules that were valid in all prompt worlds of one of its
    problems, each once, in the order of sessions, problems and steps."""
    found: dict[str, dict[str, None]] = {}
    with reading(store) as opened:
        for session in opened.sessions():
            rows = [
                row for row in opened.problems(session["session"]) if row.problem.family == family
            ]
            if not rows:
                continue
            names = {row.problem.id: row.problem.public["theory"]["names"][0] for row in rows}
            for problem, rules in opened.consistent(session["session"], list(names)).items():
                of_theory = found.setdefault(names[problem], {})
                for rule in rules:
                    of_theory.setdefault(rule.text)
    return {theory: list(rules) for theory, rules in found.items()}
