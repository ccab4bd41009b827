"""Generated instances of ABD: one seed gives one set, what is written reads back, masks keep the
reference valid, holdouts are apart.

Internals: every source, mask and holdout is drawn one at a time, apart from a whole set.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import peirce
import pytest
from abd_sets import REGIMES, made, of
from peirce.records import Problem, UsageError
from peirce.tasks import load_problems
from peirce.tasks.io.files import write_atomically
from peirce.tasks.logic.abd import TASK
from peirce.tasks.logic.audit.set_checks import are_maskings_of_one_world
from peirce.tasks.logic.generation.candidates import CandidateSource, mask_while_valid
from peirce.tasks.logic.generation.filters import judge_rule
from peirce.tasks.logic.generation.holdouts import are_equal_worlds, choose_holdouts
from peirce.tasks.logic.generation.series import generate_instances
from peirce.tasks.logic.generation.set_files import as_problem, save_instances
from peirce.tools.logic import GroundedWorlds, PreparedWorlds, RandomStream

# --- one seed, one set ------------------------------------------------------------------


def test_a_seed_gives_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    """In this process, and in one with another hash seed."""
    code = "import peirce, sys; peirce.tasks_generate('abd', sys.argv[1], problems=3, seed=4)"
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    seen = set()
    for number in (1, 2):
        out = tmp_path / str(number)
        if number == 1:
            peirce.tasks_generate("abd", out, problems=3, seed=4)
        else:
            env = {**os.environ, "PYTHONHASHSEED": other}
            subprocess.run([sys.executable, "-c", code, str(out)], check=True, env=env)
        files = sorted(out.iterdir())
        assert [one.name for one in files] == [
            "abd_holdouts_v1.jsonl.gz", "abd_instances_v1.yaml.gz",
        ]  # fmt: skip
        seen.add(tuple(one.read_bytes() for one in files))
    assert len(seen) == 1


def test_another_seed_gives_other_problems_and_more_begin_with_the_same() -> None:
    few, more = list(generate_instances(2, 11)), made()
    assert few == list(more[:2])
    other = next(iter(generate_instances(1, 12)))
    assert other.id != few[0].id
    assert [c.world for c in other.worlds] != [c.world for c in few[0].worlds]


def test_regimes_difficulties_and_theories_take_turns() -> None:
    assert [one.recipe.regime for one in made()] == [*REGIMES, *REGIMES]
    assert [one.recipe.difficulty for one in made()] == [
        "easy", "easy", "medium", "hard", "hard", "medium",
    ]  # fmt: skip
    assert [one.theory.names[0] for one in made()] == ["T1"] * 3 + ["T2"] * 3
    hard = list(generate_instances(2, 1, "full", "hard"))
    assert [(one.recipe.difficulty, len(one.worlds)) for one in hard] == [("hard", 10)] * 2


def test_no_problems_and_unknown_kinds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="0 problems cannot be generated"):
        TASK.generate(0, 0)
    for kind, valid in (("regime", "full, partial, skeptical"), ("difficulty", "easy, hard")):
        with pytest.raises(UsageError, match=f"--{kind} odd: valid are {valid}"):
            peirce.tasks_generate("abd", tmp_path / "x", **{kind: "odd"})
    with pytest.raises(
        UsageError, match="--regime full: task 'list_functions' does not take this option"
    ):
        peirce.tasks_generate("list_functions", tmp_path / "x", regime="full")
    with pytest.raises(UsageError, match="--difficulty full: it must be one of easy, hard"):
        peirce.tasks_generate("list_functions", tmp_path / "x", difficulty="full")
    assert not list(tmp_path.iterdir())


# --- what is written reads back -----------------------------------------------------------


@pytest.mark.parametrize(
    ("out", "files"),
    [
        ("set", ("set/abd_instances_v1.yaml.gz", "set/abd_holdouts_v1.jsonl.gz")),
        ("mine.yaml", ("mine.yaml", "mine_holdouts.jsonl")),
        ("my_instances.yaml.gz", ("my_instances.yaml.gz", "my_holdouts.jsonl.gz")),
        ("mine.yml.gz", ("mine.yml.gz", "mine_holdouts.jsonl.gz")),
    ],
)
def test_the_published_form_reads_back_as_the_same_problems(
    tmp_path: Path, out: str, files: tuple[str, ...]
) -> None:
    written = save_instances(made(), tmp_path / out)
    assert [str(one.relative_to(tmp_path)) for one in written] == list(files)
    back = [problem for problem, _ in load_problems("abd", str(tmp_path / out))]
    assert back == [as_problem(one) for one in made()]
    assert back[:2] == TASK.generate(2, 11)
    packed = [one.read_bytes() for one in written if one.name.endswith(".gz")]
    assert all(content[4:8] == bytes(4) and gzip.decompress(content) for content in packed)


@pytest.mark.parametrize("out", ["mine.jsonl", "mine.json", "mine.jsonl.gz", "mine.json.gz"])
def test_json_reads_back_with_holdouts_and_reference(tmp_path: Path, out: str) -> None:
    save_instances(made(), tmp_path / out)
    back = [problem for problem, _ in load_problems("abd", str(tmp_path / out))]
    for one, problem in zip(made(), back, strict=True):
        whole = as_problem(one)
        assert (problem.shown, problem.hidden) == (whole.shown, whole.hidden)
        assert problem.public == whole.public
        assert problem.secret["reference_cost"] == one.reference.cost


def test_two_sets_in_a_folder_keep_their_own_holdouts(tmp_path: Path) -> None:
    save_instances(made()[:1], tmp_path / "one.yaml")
    save_instances(made()[1:2], tmp_path / "two.yaml")
    for name, one in (("one.yaml", made()[0]), ("two.yaml", made()[1])):
        assert load_problems("abd", str(tmp_path / name))[0][0] == as_problem(one)


def test_a_place_that_cannot_be_written_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a user's own")
    (tmp_path / "link_holdouts.jsonl").symlink_to(tmp_path / "file")
    for out, said in (
        ("set.txt", r"written to a folder, or to a name that ends in \.yaml"),
        ("file", "a file, where a folder is to be"),
        (
            "link.yaml",
            "link_holdouts.jsonl: this is a link, which would be replaced; give the file itself",
        ),
    ):
        with pytest.raises(UsageError, match=said):
            peirce.tasks_generate("abd", tmp_path / out, problems=1)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file", "link_holdouts.jsonl"]


def test_files_are_written_all_or_none(tmp_path: Path) -> None:
    def breaks() -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, "no room")

    (tmp_path / "a").write_text("before")
    with pytest.raises(OSError, match="no room"):
        write_atomically({tmp_path / "a": b"after", tmp_path / "b": breaks()})
    assert [one.name for one in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "before"


def test_what_a_problem_shows_has_nothing_of_the_reference() -> None:
    for problem in TASK.generate(2, 11):
        assert isinstance(problem, Problem)
        assert problem.secret["reference"] not in str(problem.public) + str(problem.shown)


# --- worlds -----------------------------------------------------------------------------


@pytest.mark.parametrize("regime", REGIMES)
def test_references_are_valid_at_the_recorded_cost_by_z3_under_the_masks(regime: str) -> None:
    one = of(regime)
    for some in (one.worlds, tuple(held.candidate for held in one.holdouts)):
        worlds = [candidate.world for candidate in some]
        found = GroundedWorlds(one.theory, worlds, one.recipe.regime).judge(one.reference.formula)
        assert [(w.valid, w.cost, w.bound) for w in found] == [
            (True, c.judgement.cost, c.judgement.bound) for c in some
        ]


@pytest.mark.parametrize("regime", REGIMES)
def test_masks_are_of_r_and_s_alone_and_references_hold_with_unknown_atoms_false(
    regime: str,
) -> None:
    one = of(regime)
    worlds = [c.world for c in one.worlds] + [held.candidate.world for held in one.holdouts]
    for world in worlds:
        assert set(world.unknown) <= {"R", "S"}
        size, counts = len(world.names), Counter({n: len(a) for n, a in world.unknown.items()})
        if regime == "full":
            assert not counts
        elif regime == "partial":
            assert counts == {"R": int(0.12 * size**2 + 1e-9), "S": int(0.08 * size**2 + 1e-9)}
        else:
            assert 8 <= counts.total() <= 10 and abs(counts["R"] - counts["S"]) <= 1
    closed = tuple(replace(world, unknown={}) for world in worlds)
    found = PreparedWorlds(one.theory, closed, "full").judge(one.reference.formula)
    assert all(worth.valid for worth in found)
    if regime != "skeptical":  # masked after the first look
        assert all((worth.cost or 0) - (worth.bound or 0) <= 1 for worth in found)


def test_masks_that_are_not_kept_with_care_break_skeptical_references() -> None:
    one = of("skeptical")
    closed = [replace(candidate.world, unknown={}) for candidate in one.worlds]
    any_mask = RandomStream("any mask")
    broken = 0
    for world in closed:
        size = len(world.names)
        atoms = {
            name: tuple(sorted(divmod(int(at), size) for at in any_mask.permutation(size**2)[:20]))
            for name in ("R", "S")
        }
        true = {name: tuple(at for at in some if at not in atoms.get(name, ()))
                for name, some in world.true.items()}  # fmt: skip
        (worth,) = judge_rule(
            one.theory,
            [replace(world, true=true, unknown=atoms)],
            "skeptical",
            one.reference.formula,
        )
        broken += worth.known and worth.cost is None
    assert broken > 0
    again = mask_while_valid(any_mask, closed, one.theory, one.reference.formula, one.recipe)
    found = judge_rule(one.theory, again, "skeptical", one.reference.formula)
    assert again and all(worth.cost is not None for worth in found)


def test_holdouts_are_apart_from_prompt_worlds_and_like_them() -> None:
    for one in made():
        prompts, held = [c.world for c in one.worlds], [h.candidate.world for h in one.holdouts]
        everything = [*prompts, *held]
        pairs = [(a, b) for k, a in enumerate(everything) for b in everything[:k]]
        assert not any(are_equal_worlds(a, b) or are_maskings_of_one_world(a, b) for a, b in pairs)
        assert len(held) == 5 and {w.id for w in held} == {f"H{k}" for k in range(5)}
        mean = one.reference.cost / len(prompts)
        assert abs(sum(h.candidate.judgement.cost or 0 for h in one.holdouts) / 5 - mean) <= 0.25


def test_a_duplicate_is_no_holdout(monkeypatch: pytest.MonkeyPatch) -> None:
    one = of("full")
    source = CandidateSource("again", one.theory, one.reference.formula, one.recipe, None)
    fresh = source.next_batch()
    again = [one.worlds[0], *fresh, *fresh]
    monkeypatch.setattr(CandidateSource, "next_batch", lambda self: again)
    found = choose_holdouts(source, one.worlds)
    assert found is not None and sum(held.duplicates for held in found) >= 1
    assert all(not are_equal_worlds(h.candidate.world, one.worlds[0].world) for h in found)


def test_holdouts_that_take_too_many_attempts_reject_the_instance() -> None:
    """The prompt worlds cost 3 above their bound, which no candidate does."""
    one = of("full")
    dear = [
        c._replace(judgement=c.judgement._replace(cost=c.judgement.bound + 3)) for c in one.worlds
    ]
    source = CandidateSource("dear", one.theory, one.reference.formula, one.recipe, None)
    assert choose_holdouts(source, dear) is None
