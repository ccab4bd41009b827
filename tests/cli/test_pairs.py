"""`peirce pairs` on the command line: counts on stdout, sentences on stderr, exit codes."""

from __future__ import annotations

import json
import shutil
import sys
from functools import partial
from pathlib import Path

import pytest
from peirce.records import Verdict
from peirce.store import Store

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
from sessions_of_pairs import answered, problem, space, write


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two sessions, of which the last has no pair; `good` holds the id of the first."""
    folder = tmp_path_factory.mktemp("made")
    given = [answered(Verdict.ACCEPTED, "wide", [1, 1]), answered(Verdict.ACCEPTED, "half", [1, None]),
             answered(Verdict.INCONSISTENT, "wrong", [1, 1]), answered(Verdict.MALFORMED, "", [])]  # fmt: skip
    with Store.open(folder / "peirce.duckdb", write=True) as store:
        listed = [(problem(f"p{i}", offset=i), given) for i in range(12)]
        (folder / "good").write_text(write(store, listed, space(2)))
        write(store, [(problem("q"), given[:1])], space(2))
    return folder


@pytest.fixture
def folder(folder: Path, made: Path) -> Path:
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return folder


@pytest.fixture
def peirce(peirce):
    """peirce(*arguments of `pairs`) -> (exit code, stdout, stderr), in a folder with that store."""
    return partial(peirce, "pairs")


def good() -> str:
    return Path("good").read_text()


def test_pairs_are_counted_kept_and_listed(peirce):
    code, out, err = peirce(good(), "--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    counts = {split: sum(stages.values()) for split, stages in report["by_split"].items()}
    assert sum(counts.values()) == report["pairs"] == 12 * 13 and all(counts.values())
    code, out, _ = peirce("--list", "--json")
    (listed,) = json.loads(out)
    assert listed["digest"] == report["digest"] and listed["counts"]["pairs"] == report["pairs"]
    code, out, _ = peirce("--list")
    assert code == 0 and report["digest"][:12] in out
    code, out, _ = peirce(good())
    assert f"{report['pairs']:,} pairs" in out and "train" in out and "consistency" in out


def test_options_reach_the_harvest(peirce):
    Path("fixed.json").write_text(json.dumps({"validation": [f"p{i}" for i in range(12)]}))
    code, out, _ = peirce(
        good(), "--contexts", "1,all,0", "--per-context", "2,1,all", "--limit", "9", "--ratio",
        "2:1:1", "--seed", "4", "--fixed", "fixed.json", "--template", "compact", "--dry-run",
        "--json",
    )  # fmt: skip
    report = json.loads(out)
    assert code == 0 and report["by_split"]["validation"] == {
        "parsing": 8, "consistency": 4, "gear": 4,
    }  # fmt: skip
    assert report["by_context"]["2"] == {"parsing": 0, "consistency": 0, "gear": 0}
    assert peirce("--list", "--json")[1] == "[]\n"


def test_a_set_that_is_kept_can_be_written_later(peirce):
    made = json.loads(peirce(good(), "--json")[1])
    code, out, _ = peirce(
        "--saved", made["digest"][:8], "--out", "pairs", "--format", "hf", "--json"
    )
    assert code == 0 and json.loads(out)["export"]["rows"]["train"] > 0
    assert Path("pairs/README.md").is_file()
    code, _, err = peirce("--saved", "last", "--out", "pairs")
    assert code == 2 and "pairs already exists; choose another path or remove it first" in err


@pytest.mark.parametrize(
    ("arguments", "exit_code", "said"),
    [
        ([], 1, "no pairs, for no problem has two different answers"),
        (["nope"], 1, "no session 'nope'; did you mean"),
        (["--saved", "last"], 1, "the store holds no pairs yet: `peirce pairs SESSION` makes some"),
        (["--contexts", "1,2"], 2, "contexts [1, 2]: give three numbers"),
        (["--contexts", "1,2,x"], 2, "--contexts 'x': give whole numbers"),
        (["--per-context", "1,2,-3"], 2, "pairs (1, 2, -3): three numbers of at least 0"),
        (["--ratio", "1:1"], 2, "ratio [1, 1]: give three parts"),
        (["--fractions", "1,1,1"], 2, "fractions are 1.0, 1.0, 1.0: give three shares"),
        (["--fractions", "a"], 2, "--fractions 'a': give numbers"),
        (["--limit", "0"], 2, "limit is 0: it must be at least 1"),
        (["--template", "tiny"], 2, "unknown template 'tiny': it must be one of full, compact"),
        (
            ["--max-length", "100"],
            2,
            "--max-length counts tokens: give the folder of the model with --base",
        ),
        (["--plain"], 2, "--plain makes texts: give the folder of the model with --base"),
        (["--base", "/nowhere/model"], 2, "base model folder '/nowhere/model' does not exist"),
        (["--format", "csv"], 2, "format is 'csv': it must be one of parquet, hf"),
        (
            ["--dry-run", "--out", "x"],
            2,
            "--dry-run writes nothing, so it cannot be combined with --out: use one of the two",
        ),
        (
            ["--saved", "last", "last"],
            2,
            "names an existing set, so these options cannot be set: sessions",
        ),
        (
            ["--saved", "last", "--seed", "1", "--limit", "3"],
            2,
            "names an existing set, so these options cannot be set: --limit, --seed",
        ),
        (
            ["--format", "hf"],
            2,
            "--format hf only affects written files: also give their folder with --out",
        ),
        (["--fixed", "none.json"], 1, "none.json"),
        (["--fixed", "odd.json"], 1, "odd.json: the file must contain an object with the keys "),
        (["--fixed", "twice.json"], 1, "twice.json: group 'a' is in both train and held-out"),
        (["--store", "none.duckdb"], 1, "no store at"),
    ],
)
def test_bad_input_is_one_sentence(peirce, arguments, exit_code, said):
    Path("odd.json").write_text('{"test": ["a"]}')
    Path("twice.json").write_text('{"train": ["a"], "held-out": ["a"]}')
    code, out, err = peirce(*arguments)
    assert (code, out) == (exit_code, "") and said in err and err.count("\n") == 1
    assert not Path("none.duckdb").exists()


def test_a_store_without_sessions_is_one_sentence(peirce):
    Store.open("empty.duckdb", write=True).close()
    code, _, err = peirce("--store", "empty.duckdb")
    assert code == 1 and err == "peirce: the store contains no sessions yet\n"
