"""The loader of the published ACRE scenes, what is shown of them, their sample space, and what
errors in a file say.

Internals: names and the space of scenes are compared with the lists that the loader uses.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import warnings
from collections import Counter
from pathlib import Path

import pytest
from peirce.records import DataError, Observation, Problem, UsageError, canonical_json
from peirce.tasks import DataWarning, judgeable_pairs, load_problems
from peirce.tasks.io import files
from peirce.tasks.programs.acre import TASK, sample_space
from peirce.tasks.programs.acre_scenes import ENTITIES, scene_name

ROW = {
    "idx": 7,
    "train": [
        {"input": ["red metal cube"], "output": "on"},
        {"input": ["blue metal cube", "gray rubber sphere"], "output": "off"},
        {"input": ["red metal cube", "blue metal cube"], "output": "on"},
    ],
    "test": [
        {"input": ["gray rubber sphere"], "output": "off", "type": "direct"},
        {"input": ["cyan metal cube"], "output": "undetermined", "type": "potential"},
    ],
}


def _file(folder: Path, *rows: object, name: str = "acre.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _pool(problem: Problem) -> Counter[str]:
    return Counter(repr(pair) for pair in problem.shown + problem.hidden)


# --- the sample space ---------------------------------------------------------------


def test_the_space_has_7049_scenes_in_the_strata_of_the_paper() -> None:
    scenes = sample_space(0).inputs
    assert len(scenes) == 7_049
    assert Counter(map(len, scenes)) == {0: 1, 1: 48, **{k: 1_000 for k in range(2, 9)}}
    assert [scene[0] for scene in scenes[1:49]] == list(ENTITIES)


def test_scenes_differ_as_sets_and_hold_no_entity_twice() -> None:
    scenes = sample_space(0).inputs
    assert len({frozenset(scene) for scene in scenes}) == 7_049
    assert all(len(set(scene)) == len(scene) for scene in scenes)
    assert {entity for scene in scenes for entity in scene} == set(ENTITIES)


def test_one_seed_gives_one_space_on_any_machine() -> None:
    digest = hashlib.sha256(canonical_json(sample_space(0).inputs).encode()).hexdigest()
    assert digest.startswith("fdc3c5dda0b7bc76")
    assert sample_space(1).digest != sample_space(0).digest
    assert sample_space.__wrapped__(0).digest == sample_space(0).digest


def test_entities_are_uniform_in_every_stratum_and_in_every_place() -> None:
    for size in range(2, 9):
        scenes = sample_space(0).inputs[49 + 1_000 * (size - 2) :][:1_000]
        for place in (None, 0):
            found = Counter(e for scene in scenes for e in (scene if place is None else scene[:1]))
            expected = sum(found.values()) / 48
            chi2 = sum((found[entity] - expected) ** 2 / expected for entity in ENTITIES)
            assert chi2 < 90, (size, place)  # 47 degrees of freedom


def test_sessions_of_different_seeds_share_one_space() -> None:
    spaces = {load_problems("acre", problems=1, seed=seed)[0][1].digest for seed in range(3)}
    assert spaces == {sample_space(0).digest}


# --- files --------------------------------------------------------------------------


def test_a_published_line_becomes_a_problem_with_the_types_in_its_secret(tmp_path: Path) -> None:
    (problem,) = TASK.load(str(_file(tmp_path, ROW)), None, 0)
    assert problem.id == problem.group == "7"
    assert [pair.output for pair in problem.shown] == ["on", "off", "on"]
    assert problem.hidden[1] == Observation(["cyan metal cube"], "undetermined")
    assert problem.secret == {
        "types": {"gray rubber sphere": "direct", "cyan metal cube": "potential"}
    }


def test_a_folder_and_a_packed_file_read_alike(tmp_path: Path) -> None:
    plain = TASK.load(str(_file(tmp_path, ROW)), None, 0)
    packed = tmp_path / "packed"
    packed.mkdir()
    packed_bytes = gzip.compress((tmp_path / "acre.jsonl").read_bytes())
    (packed / "acre.jsonl.gz").write_bytes(packed_bytes)
    assert TASK.load(str(tmp_path), None, 0) == plain == TASK.load(str(packed), None, 0)


def _with(part: str, place: int, **fields: object) -> dict[str, object]:
    pairs = [dict(pair) for pair in ROW[part]]
    pairs[place] = {k: v for k, v in {**pairs[place], **fields}.items() if v != "LEFT OUT"}
    return {**ROW, "idx": 8, part: pairs}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ([1], "line 2: must be an object"),
        ({**ROW, "idx": None}, "line 2, idx: must be a number or a string"),
        (ROW, "line 2, idx: 7 occurs twice"),
        ({**ROW, "idx": 8, "train": []}, "line 2, train: must be a list of pairs"),
        ({**ROW, "idx": 8, "test": None}, "line 2, test: must be a list of pairs"),
        ({**ROW, "idx": 8, "test": ["x"]}, "line 2, test[0].input: missing"),
        (_with("train", 1, output="LEFT OUT"), "line 2, train[1].output: missing"),
        (_with("train", 1, input="LEFT OUT"), "line 2, train[1].input: missing"),
        (_with("train", 1, output="maybe"), "train[1].output: none of on, off, undetermined"),
        (_with("train", 1, output=True), "train[1].output: none of on, off, undetermined"),
        (_with("train", 1, output=["on"]), "train[1].output: none of on, off, undetermined"),
        (_with("train", 1, output="undetermined"), "train[1].output: an undetermined scene"),
        (_with("test", 0, input="red metal cube"), "test[0].input: must be a list of entities"),
        (_with("test", 0, input=[3]), "test[0].input: must be a list of entities, not [3]"),
        (
            _with("test", 0, input=["red metal cub"]),
            "test[0].input: 'red metal cub' is none of the 48 entities (color material shape);"
            " did you mean red metal cube",
        ),
    ],
)
def test_a_bad_row_is_named_by_file_line_and_field(tmp_path: Path, row: object, said: str) -> None:
    path = _file(tmp_path, ROW, row)
    with pytest.raises(DataError) as error:
        TASK.load(str(path), None, 0)
    assert str(path) in str(error.value) and said in str(error.value)
    assert "\n" not in str(error.value) and len(str(error.value)) < 400 + len(str(path))


def test_bytes_that_are_no_scenes_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_LINE_CHARACTERS", 10_000)
    whole = json.dumps(ROW).encode() + b"\n"
    for content, said in [
        (b"", "the file is empty"),
        (b"\n \n", "the file is empty"),
        (whole + b'{"idx": 1,', "line 2: not JSON"),
        (whole + b"\xff\xfe\x00", "line 2: not UTF-8"),
        (
            whole + b'{"idx": "' + b"x" * 20_000 + b'"}',
            "line 2: the line is longer than 10,000 characters",
        ),
        (gzip.compress(whole)[:-9], "cannot be read"),
    ]:
        path = tmp_path / "acre.jsonl"
        path.write_bytes(content)
        with pytest.raises(DataError, match=said):
            TASK.load(str(path), None, 0)


# --- what is shown, and what can be judged ---------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_n_drawn_are_one_on_one_off_and_the_rest_never_undetermined(n: int) -> None:
    before = TASK.generate(40, 1)
    after = TASK.observe(before, str(n), 3)
    for old, new in zip(before, after, strict=True):
        assert [pair.output for pair in new.shown[:2]] == ["on", "off"]
        assert len(new.shown) == n and _pool(new) == _pool(old)
        assert all(pair.output != "undetermined" for pair in new.shown)
        assert (new.id, new.group) == (old.id, old.id)


def test_the_draw_depends_on_seed_and_id_and_not_on_the_other_problems() -> None:
    made = TASK.generate(20, 1)
    drawn = TASK.observe(made, "4", 1)
    assert TASK.observe(made[::-1], "4", 1) == drawn[::-1]
    assert TASK.observe(made[3:4], "4", 1) == drawn[3:4]
    assert TASK.observe(made, "4", 2) != drawn
    hidden_before = [pair for old in made for pair in old.hidden]
    assert any(pair in hidden_before for new in drawn for pair in new.shown)


def test_fewer_than_two_and_too_many_are_usage_errors() -> None:
    made = TASK.generate(3, 1)
    for given in ("1", "0", "-3", "11"):
        with pytest.raises(UsageError, match=f"--observations {given}"):
            TASK.observe(made, given, 0)


def test_problems_without_a_scene_on_are_left_out_with_a_warning() -> None:
    made = TASK.generate(2, 1)
    dark = Problem("dark", "acre", "programs", (Observation([], "off"),) * 9)
    with pytest.warns(DataWarning, match="1 of 3 problems .* left out: dark"):
        assert [p.id for p in TASK.observe([*made, dark], "4", 0)] == [p.id for p in made]


def test_a_file_of_observations_that_shows_an_undetermined_pair_is_refused(tmp_path: Path) -> None:
    problems = TASK.load(str(_file(tmp_path, ROW)), None, 0)
    given = tmp_path / "given.json"
    given.write_text(json.dumps({"7": [[["red metal cube"], "on"], [["cyan metal cube"], "off"]]}))
    with pytest.warns(DataWarning, match="not in their data"):
        TASK.observe(problems, str(given), 0)
    given.write_text(json.dumps({"7": [[["cyan metal cube"], "undetermined"]]}))
    with pytest.raises(
        DataError, match=r"given\.json, line 1, problem '7', pair 0\.output: an undeterm"
    ):
        TASK.observe(problems, str(given), 0)


def test_a_hypothesis_is_not_judged_by_undetermined_pairs(tmp_path: Path) -> None:
    (problem,) = TASK.load(str(_file(tmp_path, ROW)), None, 0)
    assert judgeable_pairs(problem) == (True, False)
    (other,) = [problem for problem, _ in load_problems("list_functions", problems=1)]
    assert judgeable_pairs(other) == (True,) * len(other.hidden)
    assert judgeable_pairs(Problem("p", "gone", "programs", (), problem.hidden)) == (True, True)


# --- the public data --------------------------------------------------------------------


def test_the_published_file_is_read_whole(shared_data: Path) -> None:
    problems = TASK.load(str(shared_data / "gear"), None, 0)
    assert len(problems) == 50
    assert {(len(p.shown), len(p.hidden)) for p in problems} == {(6, 4)}
    assert sum(not all(judgeable_pairs(p)) for p in problems) == 30
    assert all(scene_name(pair.input) in p.secret["types"] for p in problems for pair in p.hidden)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_gears_own_observations_run_as_they_are(shared_data: Path, n: int) -> None:
    path = shared_data / "gear" / "io_pairs" / f"acre_{n}.json"
    published = json.loads(path.read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        problems = TASK.load(str(shared_data / "gear"), str(path), 0)
    whole = {p.id: p for p in TASK.load(str(shared_data / "gear"), None, 0)}
    assert {p.id for p in problems} == set(published)
    for p in problems:
        assert [[o.input, o.output] for o in p.shown] == published[p.id]
        assert len(p.hidden) == 10 - n and _pool(p) == _pool(whole[p.id])
