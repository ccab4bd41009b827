"""`peirce tasks generate`: new problems from a seed, in a form that `--data` reads back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...config import DataConfig
from ...records import Json, Problem, Proposer, UsageError, canonical_json
from ...records.tasks import WRITTEN, OfferedKinds, WritesProblems
from ...tasks import task as task_named
from ...tasks.io.files import identity, writable, write_lines
from ...tasks.programs.difficulty import of_difficulty
from ...tasks.text.labels import Labels
from ..arguments import checked
from ..outcome import reading
from ..problems import choose
from ..session.driving import OnEvent
from .results import Audit, Generated
from .topics import Writing, written

# --- Rules that answered problems in a store: what `tasks generate abd --mined STORE` plants against.


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


@checked
def tasks_generate(
    task: str,
    out: str | Path,
    *,
    problems: int | None = None,
    seed: int = 0,
    regime: str | None = None,
    difficulty: str | None = None,
    mined: str | Path | None = None,
    level: str | None = None,
    noise: str | None = None,
    format: str | None = None,
    data: str | Path | None = None,
    model: str | Proposer | None = None,
    model_arg: Sequence[str] | Mapping[str, Json] = (),
    about: str | None = None,
    labels: Sequence[str] = (),
    calls: str | Path | None = None,
    concurrency: int | None = None,
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    price_cached: float | None = None,
    on_event: OnEvent | None = None,
) -> Generated:
    """Writes new problems from `seed` in a form that `--data` reads back, whole or not at all.
    problems: by default 100, of labels all sets of the generator. regime: of abd, all in turn where it is
    None. difficulty: easy or hard, of abd (in turn where it is None) and of the program tasks
    (tasks/programs/difficulty.py; all problems where it is None). mined: a store, whose valid rules compete with those that are planted.
    level, noise, format: of labels, which sets, how labels are changed (exact, sampled), and the
    layout (published, huggingface). data: the file of works of labels:citations.

    model: writes the topic of labels:election, labels:personality and labels:subject (docs/labels.md),
    with settings of model_arg. about: the subject of labels:subject, or a file with it. labels: the
    user's own, else the model's. calls: the file of its calls, else OUT.calls.jsonl. What budgets and
    prices are is as in `run`; where one is spent BudgetSpent is raised, and the calls are kept. on_event:
    is told of each answer {"part", "answer", "kept", "of"}."""
    source = task_named(task)
    if problems is not None and problems < 1:
        raise UsageError(f"--problems {problems}: at least 1 problem is needed")
    kinds: dict[str, Json] = {
        "regime": regime, "difficulty": difficulty, "mined": mined, "level": level,
        "noise": noise, "format": format, "data": None if data is None else str(data),
        "model": model, "about": about, "labels": ", ".join(labels) or None,
    }  # fmt: skip
    spending: dict[str, Json] = {
        "budget_tokens": budget_tokens, "budget_usd": budget_usd, "price_in": price_in,
        "price_out": price_out, "price_cached": price_cached,
    }  # fmt: skip
    offered = source.kinds if isinstance(source, OfferedKinds) else ()
    for name, value in kinds.items():
        if value is not None and name not in offered:
            raise UsageError(f"--{name} {value}: task {source.name!r} has nothing of the kind")
    of_model = {
        "model_arg": model_arg,
        "about": about,
        "labels": labels,
        "calls": calls,
        **spending,
    }
    by: dict[str, Json] = {}
    if model is not None and isinstance(source, Labels):
        writing = Writing(model, model_arg, about, labels, calls, concurrency, spending, on_event)
        source, by = written(source, writing, out, problems, seed, kinds)
    elif given := [name for name, value in of_model.items() if value or value == 0]:
        flag = given[0].replace("_", "-")
        raise UsageError(f"--{flag}: it is said to a model that writes, and no --model is named")
    if isinstance(source, WritesProblems):
        rules = None if mined is None else answered_rules(mined, source.family)
        told = source.write(out, problems, seed, {**kinds, "mined": rules})
        first = identity(Path(told["files"][0]))
        return Generated.from_dict(
            {"task": task, **told, **by, "path": str(out), "sha256": first["sha256"]}
        )
    target, count = writable(out), problems or WRITTEN
    if difficulty is None:
        made = choose(task, DataConfig(problems=count, seed=seed)).problems
    else:
        made = of_difficulty(source, count, seed, difficulty)
    write_lines(target, (canonical_json(_published(problem)) for problem in made))
    return Generated(
        task=task, problems=len(made), path=str(out), sha256=identity(target)["sha256"]
    )


def _published(problem: Problem) -> Json:
    """The form in which the benchmarks are published: an id, train and test pairs."""
    sides = {"train": problem.shown, "test": problem.hidden}
    pairs = {
        side: [{"input": pair.input, "output": pair.output} for pair in some]
        for side, some in sides.items()
    }
    return {"idx": problem.id, **pairs, **({"secret": problem.secret} if problem.secret else {})}


# --- `peirce tasks audit`: whether a set of instances is what its paper states.


@checked
def tasks_audit(file: str | Path) -> Audit:
    """{"file", "instances", "holdouts", "failed", "checks": [{"check", "of", "passed", "failed",
    "offenders"}], "statistics": [{"regime", "worlds", "statistic", "mean", "least", "most",
    "n"}]} of instances of abd in the published form. Raises UsageError (no such file), DataError
    (a file of another kind)."""
    from ...tasks.logic.audit import audited

    return Audit.from_dict(audited(file))
