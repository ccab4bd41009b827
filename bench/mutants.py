"""Check that the tests of three rooms notice changes of the code: `python bench/mutants.py`.

    python bench/mutants.py [--tree DIR] [--room store] [--tests store=tests/store,...] [--jobs 1]
        [--limit N] [--json FILE [--resume]]
    python bench/mutants.py --draw          # draws bench/mutants.json anew; see below

bench/mutants.json lists the mutants of each room of ROOMS: small changes of one place in one function
(a comparison, + and -, a number, `and` and `or`, a condition, a returned value, a call whose value is
not used). They were drawn once, with a fixed seed, before the package was redesigned, and are the
same for every later tree, so that scores before and after can be compared; --draw exists to show how.

For each mutant, one at a time, the change is applied to a temporary copy of the tree (the working tree
is never written to), and the tests of the room run with pytest -x. A mutant is killed when they fail or take
more than four times as long as without a change (at least TIMEOUT_S), and survives when they pass.
Before them the tests run without a change; where that fails, nothing is measured.

A mutant is found again by file, qualified name of the function, operator, text of the line (without
comments), and its place among equal ones. If the file has no such line, it is looked for in the other
files of the package and counts as moved if exactly one has it; else it is gone. Gone mutants are reported,
not replaced, and the score is killed / (killed + survived). If tests moved, --tests names their new place.

The JSON file is written after every mutant; with --resume, those that it holds are not run again (as
long as the room's sources and tests are the same), so a run of an hour can be stopped and continued.

What this does not show: code at module level is not changed, equal programs (a change without effect) are
not recognised and count as survivors, and the score of 21 mutants is coarse: its standard error is about .1.
Tests named in ROOMS, slow or dependent on the clock, are left out of every run. Some tests read the
published data; without them (PEIRCE_SHARED, else `shared` beside the tree) they are skipped, and the score
is not comparable. On a busy machine another test may fail by its clock: the JSON file names for each
killed mutant the test that failed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import SimpleQueue

from mutations import OPERATORS, Edit, Mutant, mutants_of
from scripts import describe_tree, end_on_sigterm, kill_group, wait_for
from table import Row, add_json_option, format_table, write_rows

HERE = Path(__file__).resolve().parent
FIXED = HERE / "mutants.json"
SEED, COUNT = 0, 21  # three of each operator
TIMEOUT_S = 120.0
NOT_PACKAGE = (".venv", ".types", "bench", "tests", "docs", "examples", "build", "runs")


@dataclass(frozen=True)
class Room:
    """sources: files and folders whose functions are changed. tests: what runs. left_out: tests that do
    not run, files or node ids."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    left_out: tuple[str, ...] = ()


ROOMS = {
    "store": Room(
        ("store",),
        ("tests/store",),
        (  # on a busy machine it fails without a change: its writer is killed by the clock
            "tests/store/test_crash.py::test_a_kill_at_any_moment_loses_nothing_acknowledged",
        ),
    ),
    "tools": Room(
        ("tools/*.py", "tools/gear", "tools/sentence_rules", "tools/discovery"),
        ("tests/tools",),
        ("tests/tools/logic",),
    ),
    "logic": Room(
        ("tools/logic",),
        ("tests/tools/logic",),
        (
            "tests/tools/logic/test_golden.py::test_z3_says_the_recorded_exact_values_of_every_world",
            "tests/tools/logic/test_judging.py"
            "::test_both_paths_agree_on_5000_random_pairs_over_all_regimes_and_theories",
        ),
    ),
}


def files_of(tree: Path, patterns: Sequence[str]) -> list[Path]:
    """Return the Python files that sources of a room mean, sorted."""
    found: set[Path] = set()
    for pattern in patterns:
        found |= set(
            tree.glob(pattern) if pattern.endswith(".py") else tree.glob(f"{pattern}/**/*.py")
        )
    return sorted(found)


def draw_mutants(tree: Path, name: str, count: int = COUNT) -> list[Mutant]:
    """Draw the mutants of a room, as many of each operator as of any other where there are enough."""
    pools: dict[str, list[Mutant]] = {operator: [] for operator in OPERATORS}
    for path in files_of(tree, ROOMS[name].sources):
        for mutant, _ in mutants_of(path.relative_to(tree).as_posix(), path.read_bytes()):
            pools[mutant.operator].append(mutant)
    draw = random.Random(f"{SEED}/{name}")
    for pool in pools.values():
        draw.shuffle(pool)
    drawn: list[Mutant] = []
    while len(drawn) < count and any(pools.values()):
        for pool in pools.values():
            if pool and len(drawn) < count:
                drawn.append(pool.pop())
    return sorted(drawn, key=lambda one: (one.file, one.function, one.operator, one.ordinal))


# --- a mutant in a tree ------------------------------------------------------------


class Package:
    """The source files of a tree, to find mutants in."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self._known: dict[str, list[tuple[Mutant, Edit]]] = {}

    def find(self, mutant: Mutant) -> tuple[str, Edit] | None:
        """Return where a mutant is now, and the change; None if it is gone."""
        here = self._edits_in(mutant.file, mutant)
        if mutant.ordinal < len(here):
            return mutant.file, here[mutant.ordinal]
        if here:
            return None
        others = [
            (file, edits) for file in self._files() if (edits := self._edits_in(file, mutant))
        ]
        if len(others) != 1 or mutant.ordinal >= len(others[0][1]):
            return None
        return others[0][0], others[0][1][mutant.ordinal]

    def _edits_in(self, file: str, mutant: Mutant) -> list[Edit]:
        if file not in self._known:
            path = self.tree / file
            source = path.read_bytes() if path.is_file() else b""
            self._known[file] = mutants_of(file, source)
        return [edit for one, edit in self._known[file] if one.where == mutant.where]

    def _files(self) -> list[str]:
        paths = (path.relative_to(self.tree) for path in sorted(self.tree.rglob("*.py")))
        return [path.as_posix() for path in paths if path.parts[0] not in NOT_PACKAGE]


def room_digest(tree: Path, room: Room) -> str:
    """Return the SHA-256 of the sources and tests of a room, with their names."""
    found = hashlib.sha256()
    for path in files_of(tree, (*room.sources, *room.tests)):
        found.update(path.relative_to(tree).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def copy_tree(tree: Path, folder: Path) -> Path:
    """Copy what git knows of a tree, and new files that it does not ignore, to folder/peirce."""
    command = [
        "git",
        "--no-optional-locks",
        "-C",
        str(tree),
        "ls-files",
        "-co",
        "--exclude-standard",
    ]
    listed = subprocess.run([*command, "-z"], capture_output=True, text=True, check=True).stdout
    copy = folder / "peirce"
    for name in filter(None, listed.split("\0")):
        if (tree / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree / name, copy / name)
    return copy


class Workplace:
    """A copy of the tree that takes one change at a time. The copy is a package of the name peirce and is
    found before the installed one."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.python = tree / ".venv" / "bin" / "python"
        self.folder = folder
        self.copy = copy_tree(tree, folder)
        shared = os.environ.get("PEIRCE_SHARED", tree.parent / "shared")
        self.environment = {
            **os.environ, "PYTHONPATH": str(folder), "PEIRCE_SHARED": str(shared),
            "OMP_NUM_THREADS": "1",
        }  # fmt: skip
        self._clock = time.time()

    def write(self, file: str, source: bytes) -> None:
        """Write a file with a time that no earlier version had, so that no old bytecode fits it."""
        (self.copy / file).write_bytes(source)
        self._clock += 10
        os.utime(self.copy / file, (self._clock, self._clock))

    def run_tests(self, tests: Sequence[str], left_out: Sequence[str], timeout_s: float) -> Run:
        command = [
            str(self.python), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not soak",
            "--hypothesis-seed=0", f"--basetemp={self.folder / 'tests'}", *tests,
            *(f"--deselect={one}" for one in left_out if "::" in one),
            *(f"--ignore={one}" for one in left_out if "::" not in one),
        ]  # fmt: skip
        began = time.perf_counter()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                command, cwd=self.copy, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            try:
                status = wait_for(process, timeout_s)
            finally:
                kill_group(process)
            output.seek(0)
            text = output.read().decode("utf-8", "replace")
        shutil.rmtree(self.copy / ".hypothesis", ignore_errors=True)
        return Run(status, time.perf_counter() - began, text)


@dataclass(frozen=True)
class Run:
    """status: pytest's exit code, None where it was killed at the time limit."""

    status: int | None
    seconds: float
    output: str

    @property
    def by(self) -> str:
        """The first test that failed."""
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", self.output, re.MULTILINE)
        return "time limit" if self.status is None else found[1] if found else "pytest"


@dataclass
class Outcome:
    """state: killed, survived or gone. by: what noticed it. file: where it was found."""

    mutant: Mutant
    state: str
    by: str = ""
    file: str = ""
    seconds: float = 0.0


@dataclass
class RoomResult:
    """digest: of the room's sources and tests. unchanged_s: what the tests take without a change."""

    outcomes: list[Outcome] = field(default_factory=list)
    unchanged_s: float = 0.0
    digest: str = ""

    def count(self, state: str) -> int:
        return sum(one.state == state for one in self.outcomes)

    @property
    def score(self) -> float | None:
        judged = self.count("killed") + self.count("survived")
        return self.count("killed") / judged if judged else None


def check_room(
    tree: Path,
    room: Room,
    mutants: Sequence[Mutant],
    jobs: int,
    folder: Path,
    result: RoomResult,
    save: Callable[[], None] = lambda: None,
) -> None:
    """Run the tests without a change, then with each that the result does not hold yet.

    Args:
        tree: The working tree, which is only read.
        room: Which tests run.
        mutants: The changes.
        jobs: How many test runs go side by side, each in a copy of its own.
        folder: Where the copies are made.
        result: Is completed here.
        save: Called after each mutant.

    Raises:
        SystemExit: The tests fail without a change.
    """
    known = {one.mutant for one in result.outcomes}
    mutants = [one for one in mutants if one not in known]
    if not mutants:
        return
    package = Package(tree)
    places: SimpleQueue[Workplace] = SimpleQueue()
    for number in range(jobs):
        place = Workplace(tree, folder / str(number))
        places.put(place)
    for _ in range(2):  # the first run writes bytecode
        unchanged = place.run_tests(room.tests, room.left_out, 10 * TIMEOUT_S)
        if unchanged.status != 0:
            raise SystemExit(f"The tests fail without a change:\n{unchanged.output[-3000:]}")
    result.unchanged_s = unchanged.seconds
    timeout_s = max(TIMEOUT_S, 4 * unchanged.seconds)

    def check(mutant: Mutant) -> Outcome:
        found = package.find(mutant)
        if found is None:
            return Outcome(mutant, "gone")
        file, edit = found
        source = (tree / file).read_bytes()
        own = places.get()
        try:
            own.write(file, edit.apply(source))
            run = own.run_tests(room.tests, room.left_out, timeout_s)
            own.write(file, source)
        finally:
            places.put(own)
        if run.status not in (0, 1, 2, None):  # 2: the change ended pytest itself, as at collection
            raise SystemExit(f"pytest ended with {run.status}:\n{run.output[-3000:]}")
        state = "survived" if run.status == 0 else "killed"
        return Outcome(mutant, state, run.by if state == "killed" else "", file, run.seconds)

    with ThreadPoolExecutor(jobs) as pool:
        for outcome in pool.map(check, mutants):
            result.outcomes.append(outcome)
            print(
                f"{outcome.state:9} {outcome.seconds:5.0f} s  {outcome.mutant}",
                file=sys.stderr,
                flush=True,
            )
            save()


# --- what is printed and stored ------------------------------------------------------


def read_fixed() -> dict[str, list[Mutant]]:
    found = json.loads(FIXED.read_text())
    return {name: [Mutant(**one) for one in some] for name, some in found["rooms"].items()}


def write_fixed(tree: Path) -> None:
    rooms = {name: [asdict(one) for one in draw_mutants(tree, name)] for name in ROOMS}
    found = {"seed": SEED, "drawn_at": describe_tree(tree), "rooms": rooms}
    FIXED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def moved_tests(options: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield rooms with the tests that --tests names for them.

    Raises:
        SystemExit: One is not ROOM=PATH,PATH.
    """
    for one in options:
        name, equals, paths = one.partition("=")
        if name not in ROOMS or not equals:
            raise SystemExit(f"--tests {one}: write ROOM=PATH,PATH with one of {', '.join(ROOMS)}.")
        yield name, tuple(paths.split(","))


def print_results(results: dict[str, RoomResult]) -> None:
    body = []
    for name, one in results.items():
        score = "-" if one.score is None else f"{one.score:.2f}"
        states = [one.count(state) for state in ("killed", "survived", "gone")]
        moved = sum(bool(o.file) and o.file != o.mutant.file for o in one.outcomes)
        body.append((name, str(len(one.outcomes)), *map(str, states), str(moved), score))
    print(format_table(("room", "mutants", "killed", "survived", "gone", "moved", "score"), body))
    for name, one in results.items():
        for outcome in one.outcomes:
            if outcome.state != "killed":
                print(f"{outcome.state} in {name}: {outcome.mutant}")


def store_results(file: Path | None, commit: str, results: dict[str, RoomResult]) -> None:
    rows = [
        Row(f"mutants of the room {name} that its tests kill", one.score, "of 1", "higher")
        for name, one in results.items()
        if one.score is not None
    ]
    details = {
        name: {
            "digest": one.digest, "unchanged_s": one.unchanged_s,
            "outcomes": [asdict(outcome) for outcome in one.outcomes],
        }
        for name, one in results.items()
    }  # fmt: skip
    write_rows(file, rows, commit=commit, rooms=details)


def stored_results(file: Path) -> dict[str, RoomResult]:
    """Return what a file of --json holds; nothing where there is none."""
    if not file.is_file():
        return {}
    found = json.loads(file.read_text())
    return {
        name: RoomResult(
            [Outcome(**{**one, "mutant": Mutant(**one["mutant"])}) for one in some["outcomes"]],
            some["unchanged_s"],
            some["digest"],
        )
        for name, some in found["rooms"].items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tree", type=Path, default=HERE.parent, metavar="DIR")
    parser.add_argument("--room", action="append", choices=tuple(ROOMS), help="repeatable")
    parser.add_argument("--tests", action="append", default=[], metavar="ROOM=PATH,PATH")
    parser.add_argument("--jobs", type=int, default=1, help="test runs side by side")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N mutants of each room")
    parser.add_argument("--resume", action="store_true", help="continue the file of --json")
    parser.add_argument("--draw", action="store_true", help="write bench/mutants.json anew")
    add_json_option(parser)
    options = parser.parse_args()
    end_on_sigterm()
    tree = options.tree.resolve()
    if options.draw:
        write_fixed(tree)
        return
    if options.resume and not options.json:
        parser.error("--resume continues the file that --json names")
    fixed, tests, commit = read_fixed(), dict(moved_tests(options.tests)), describe_tree(tree)
    results = stored_results(options.json) if options.resume else {}
    for name in options.room or ROOMS:
        room = ROOMS[name]
        if name in tests:
            room = Room(room.sources, tests[name], room.left_out)
        digest = room_digest(tree, room)
        result = results.setdefault(name, RoomResult(digest=digest))
        if result.digest != digest:
            sys.exit(f"{options.json}: the room {name} has other sources or tests now.")
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            check_room(
                tree, room, fixed[name][: options.limit], options.jobs, Path(folder), result,
                lambda: store_results(options.json, commit, results),
            )  # fmt: skip
    store_results(options.json, commit, results)
    print_results(results)


if __name__ == "__main__":
    main()
