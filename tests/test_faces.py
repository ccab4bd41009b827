"""Tests use Peirce as its users do: through the public modules listed in FACES.

A test file, or a module of fixtures beside it, may import other modules (internals) of one package
only: the package that its folder mirrors (tests/store/ may import peirce.store.bank). Its docstring
then gives the reason in a sentence that begins with "Internals:". Imports written in strings count
too: scripts that a test starts, and targets of monkeypatch.

    python tests/test_faces.py --count [TREE]   # how many files of a tree import internals
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]

# A name here is the module or the `__init__.py` of the package, not the modules inside the package.
FACES = frozenset(
    {
        "peirce",
        "peirce.config",
        "peirce.records",
        "peirce.records.registry",
        "peirce.records.settings",
        "peirce.search.engines",
        "peirce.store",
        "peirce.tasks",
        "peirce.agents",
        "peirce.agents.scripted",
        "peirce.sandbox",
        "peirce.reports",
        "peirce.graphs",
        "peirce.graphs.runtime.memory",
        "peirce.graphs.runtime.replay",
        "peirce.graphs.runtime.runner",
        "peirce.graphs.runtime.steps",
        "peirce.tools",
        "peirce.tools.execute",
        "peirce.tools.gear.scores",
        "peirce.tools.solve",
        "peirce.tools.discovery",
        "peirce.tools.sentence_rules",
        "peirce.tools.logic",
        "peirce.training",
        "peirce.training.classifier",
        "peirce.training.dpo",
        "peirce.training.pairs",
        "peirce.training.pretrain",
        "peirce.cli",
    }
)

# What a test needs of a second package, because it holds two sides against each other that have to
# agree. An entry whose import is gone is an error, so this list only shrinks too.
CROSSINGS = {
    "tests/forked_workers.py": (
        "peirce.search.worker",  # forked instead of started
        "peirce.tools.line_process",  # which starts them
        "peirce.tools.logic.z3_worker",
    ),
    "tests/search/test_laws_engine.py": (
        "peirce.tools.formulas",  # what laws are made of
    ),
    "tests/search/test_laws_everyday.py": (
        "peirce.tools.formulas",  # what laws are made of
    ),
    "tests/search/test_laws_parts.py": (
        "peirce.tools.formulas",  # what laws are made of
    ),
    "tests/commands/test_quick_data.py": (
        "peirce.training.quick",  # its recorded answers are judged by the commands' oracles
    ),
    "tests/bench/test_mutants.py": (
        "peirce.store.bank",  # in the text of a module that mutants are made of
    ),
    "tests/agents/test_regression_models.py": (
        "peirce.tools.formulas",  # laws are held against the models that they were translated from
    ),
    "tests/search/test_law_dimensions.py": (
        "peirce.tasks.laws.units",  # tables with units, as the task reads them
        "peirce.tools.formulas",  # laws that the search should find, and their dimensions
    ),
    "tests/tools/formulas/test_dimensions.py": (
        "peirce.tools.description_length",  # what a missing constant costs
    ),
    "tests/agents/test_text_prompts.py": (
        "peirce.tasks.text.answers",  # the form that a prompt asks for is the form that is read
    ),
    "tests/graphs/test_budget.py": (
        "peirce.agents.endpoint.limits",  # an estimated usage, as a client of an endpoint reports it
    ),
    "tests/reports/test_abd.py": (
        "peirce.commands.score.rule_scores",  # records are judged there and counted here
        "peirce.tasks.logic.measures",
    ),
    "tests/reports/test_abd_golden.py": (
        "peirce.agents.recorded",  # published records, read, judged and counted
        "peirce.commands.score.rule_scores",
    ),
    "tests/reports/test_training_screen.py": (
        "peirce.training.dpo.progress",  # what a training tells is what the screen draws
    ),
}

REASON = re.compile(r"(?:^|\s)Internals:\s+\S+(?:\s+\S+){3,}")
# Statements, in code and in scripts within strings; names in quotes, for monkeypatch and the like. Patterns
# take a twentieth of the time that syntax trees of all tests do.
STATEMENT = re.compile(
    r"""(?:^|[;\n"'])[ \t]*(?:from|import)[ ]+(peirce(?:\.\w+)*)(?:[ ]+import[ ]+(\([^)]*\)|[\w, ]+))?"""
)
QUOTED = re.compile(r"""["'](peirce(?:\.\w+)+)["']""")
ATTRIBUTE = re.compile(r"^[^\"'#`\n]*?[^\"'#`\w./\n](peirce(?:\.\w+){2,})", re.MULTILINE)
DOCSTRING = re.compile(r'\s*"""(.*?)"""', re.DOTALL)


@cache
def is_module(root: Path, name: str) -> bool:
    path = root.joinpath(*name.split(".")[1:])
    return (path / "__init__.py").is_file() or (
        name != "peirce" and path.with_suffix(".py").is_file()
    )


def modules_named(root: Path, name: str) -> Iterator[str]:
    """The longest beginning of a dotted name that is a module; none for a name of another package."""
    words = name.split(".")
    if words[0] == "peirce":
        beginnings = (".".join(words[:n]) for n in range(len(words), 0, -1))
        found = next(one for one in beginnings if is_module(root, one))
        if not found.startswith("peirce.tests"):
            yield found


def imported_modules(root: Path, text: str) -> Iterator[str]:
    """Modules of the package that a file imports or names."""
    for match in STATEMENT.finditer(text):
        names = re.sub(r"#.*|\sas\s+\w+", "", match[2] or "").strip("()").split(",")
        for name in (one.strip() for one in names):
            if name or not match[2]:
                yield from modules_named(root, f"{match[1]}.{name}".rstrip("."))
    for pattern in (QUOTED, ATTRIBUTE):
        for match in pattern.finditer(text):
            yield from modules_named(root, match[1])


def python_files(root: Path) -> list[Path]:
    """All Python files of the tests; hostile hypotheses are data."""
    attacks = root / "tests" / "hostile"
    return [
        path
        for path in sorted((root / "tests").rglob("*.py"))
        if path.parent.parent != attacks and path != root / "tests" / "test_faces.py"
    ]


@cache
def internals_of(root: Path, path: Path) -> frozenset[str]:
    return frozenset(imported_modules(root, path.read_text("utf-8"))) - FACES


def mirrored_package(root: Path, path: Path) -> str | None:
    """The package that the folder of a test mirrors."""
    parts = path.relative_to(root / "tests").parts[:-1]
    name = ".".join(("peirce", *parts))
    return name if parts and is_module(root, name) else None


def violations(root: Path, path: Path) -> Iterator[str]:
    internals = internals_of(root, path)
    package = mirrored_package(root, path)
    crossed = set(CROSSINGS.get(path.relative_to(root).as_posix(), ()))
    for name in sorted(crossed - internals):
        yield f"does not import {name}: remove it from CROSSINGS"
    for name in sorted(internals - crossed):
        if package is None or not f"{name}.".startswith(f"{package}."):
            yield f"imports {name}, which is no face and not of the package that its folder mirrors"
    docstring = DOCSTRING.match(path.read_text("utf-8"))
    given = docstring is not None and REASON.search(docstring[1]) is not None
    if internals and not given:
        yield 'imports internals and its docstring gives no reason ("Internals: ...")'
    if given and not internals:
        yield "gives a reason for internals and imports none"


def test_a_test_imports_faces_or_says_why_not() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} {what}"
        for path in python_files(ROOT)
        for what in violations(ROOT, path)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_face_exists() -> None:
    assert [name for name in sorted(FACES) if not is_module(ROOT, name)] == []


if __name__ == "__main__":
    arguments = [one for one in sys.argv[1:] if one != "--count"]
    tree = Path(arguments[0]).resolve() if arguments else ROOT
    files = python_files(tree)
    importing = [path for path in files if internals_of(tree, path)]
    if "--count" not in sys.argv:
        for path in importing:
            print(path.relative_to(tree), *sorted(internals_of(tree, path)))
    print(f"{len(importing)} of {len(files)} files import internals")
