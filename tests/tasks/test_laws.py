"""Laws: which rows and columns of a table are used, when a law is consistent, and how answers are read."""

from __future__ import annotations

import asyncio
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from peirce.records import (
    Agreement,
    DataError,
    Hypothesis,
    InputSet,
    Malformed,
    Observation,
    Oracles,
    PeirceError,
    Problem,
    UsageError,
    View,
)
from peirce.tasks import DataWarning, load_family, load_problems, load_task, problem_family

ROWS = [[1 + i % 7 / 3, 0.5 + i % 11 / 2, "ab"[i % 3 == 0]] for i in range(60)]


def table(path: Path, header: list[str], rows: list[list[Any]]) -> str:
    lines = [header, *([("" if cell is None else str(cell)) for cell in row] for row in rows)]
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    return str(path)


def kinetic(path: Path) -> str:
    header = ["m [kg]", "v (m/s)", "kind", "energy"]
    return table(path, header, [[m, v, k, 0.5 * m * v**2 * (1 + (k == "b"))] for m, v, k in ROWS])


def read(path: str, target: str = "energy", **options: Any) -> Problem:
    ((problem, _),) = load_problems("laws", path, target=target, **options)
    return problem


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return read(kinetic(tmp_path / "t.csv"))


def view_of(problem: Problem) -> View:
    return problem.make_view(InputSet("S", ()))


def agree(problem: Problem, law: str) -> Agreement:
    family, view = problem_family(problem), view_of(problem)
    return asyncio.run(family.measure_agreement(Hypothesis(law), problem.shown, view, Oracles()))


# --- tables ---------------------------------------------------------------------------


def test_columns_are_described_with_identifiers_units_and_ranges(problem: Problem) -> None:
    columns = problem.public["columns"]
    assert problem.public["identifiers"] == {
        "m [kg]": "m", "v (m/s)": "v", "kind": "kind", "energy": "energy"
    }  # fmt: skip
    assert columns["m [kg]"]["unit"] == "kg" and columns["m [kg]"]["kind"] == "number"
    assert columns["kind"] == {"identifier": "kind", "kind": "category", "values": ["a", "b"]}
    assert (columns["v (m/s)"]["low"], columns["v (m/s)"]["high"]) == (0.5, 5.5)
    assert (len(problem.shown), len(problem.hidden)) == (48, 12)


def test_units_can_be_set(tmp_path: Path) -> None:
    found = read(kinetic(tmp_path / "t.csv"), units="m=g, energy=mJ")
    assert found.public["columns"]["m [kg]"]["unit"] == "g"
    assert found.public["target_unit"] == "mJ"
    for wrong, why in (("m", "write COLUMN=UNIT"), ("w=kg", "no column 'w'")):
        with pytest.raises(UsageError, match=why):
            read(kinetic(tmp_path / "t.csv"), units=wrong)


def test_a_column_named_split_decides_what_is_shown(tmp_path: Path) -> None:
    rows = [[i, 2 * i + 0.5, "test" if i % 4 else "train"] for i in range(40)]
    found = read(table(tmp_path / "t.csv", ["x", "y", "split"], rows), "y")
    assert [one.input["x"] for one in found.shown] == list(range(0, 40, 4))
    assert list(found.public["columns"]) == ["x"]


@pytest.mark.parametrize(
    ("header", "rows", "warned"),
    [
        (["x", "y", ""], [[i, i * i, None] for i in range(9)], "is empty"),
        (["x", "c", "y"], [[i, 1, i * i] for i in range(9)], "the same value in every row"),
        (["x", "z", "y"], [[i, i, i * i] for i in range(9)], "repeats the column 'x'"),
        (["x", "z", "y"], [[i, i * i, i * i] for i in range(9)], "repeats the column 'y'"),
        (["id", "x", "y"], [[i, i % 5, i * i] for i in range(9)], "numbers the rows"),
        (["t", "x", "y"], [[f"w{i}", i, i * i] for i in range(9)], "hardly repeat"),
        (["x", "y"], [[i % 7, i % 7 * 2] for i in range(50)], "43 rows repeat"),
        (["x", "y"], [[i or None, "NA" if i == 3 else i * i] for i in range(9)], "2 rows with a missing"),
    ],
)  # fmt: skip
def test_what_no_law_can_use_is_left_out_with_a_warning(
    tmp_path: Path, header: list[str], rows: list[list[Any]], warned: str
) -> None:
    with pytest.warns(DataWarning, match=warned):
        found = read(table(tmp_path / "t.csv", header, rows), "y")
    assert list(found.public["columns"]) == ["x"]


@pytest.mark.parametrize(
    ("header", "rows", "why"),
    [
        (["x", "y"], [[i, 3] for i in range(9)], "nothing to explain"),
        (["x", "y"], [[1, i] for i in range(9)], "no column is left"),
        (["x", "y"], [[i, i] for i in range(3)], "3 rows can be used"),
        (["x", "y"], [[i, f"w{i}"] for i in range(9)], "a law explains numbers"),
        (["x", "y"], [[i, None] for i in range(9)], "has no values"),
        (["x", "y"], [["12 kg" if i == 4 else i, i] for i in range(9)], "line 6, x: '12 kg'"),
        (["x", "y"], [[i, "inf" if i == 4 else i] for i in range(9)], "line 6, y: 'inf'"),
        (["x", "x", "y"], [[i, i, i] for i in range(9)], "occurs twice"),
        (
            ["x", "y"],
            [[i, 1e200 if i == 4 else i] for i in range(9)],
            "line 6, y: this is a number beyond",
        ),
        (["x", "y"], [[i, i * 1e-300] for i in range(9)], "differ by less than 1e-150"),
        (["x", "y"], [], "no rows"),
    ],
)
def test_a_table_without_a_question_is_refused_in_one_sentence(
    tmp_path: Path, header: list[str], rows: list[list[Any]], why: str
) -> None:
    path = table(tmp_path / "t.csv", header, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        with pytest.raises(DataError, match=why) as error:
            read(path, "y")
    assert "\n" not in str(error.value)


def test_bad_rows_are_skipped_on_request(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", ["x", "y"], [["?!" if i == 4 else i, i] for i in range(20)])
    with pytest.warns(DataWarning, match="1 record"):
        assert len(read(path, "y", skip_bad=True).shown) == 16


def test_the_target_is_named(tmp_path: Path) -> None:
    path = kinetic(tmp_path / "t.csv")
    with pytest.raises(UsageError, match="Name it with --target"):
        load_problems("laws", path)
    with pytest.raises(UsageError, match="no column 'enrgy'; did you mean energy"):
        read(path, "enrgy")
    with pytest.raises(UsageError, match="--target names"):
        load_problems("laws", path, label="energy")
    with pytest.raises(UsageError, match="no column of numbers to explain"):
        load_problems("list_functions", target="y")


def test_a_large_table_is_drawn_from(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", ["x", "y"], [[i, i * 0.5] for i in range(21_000)])
    with pytest.warns(DataWarning, match="20,000 of 21,000 rows are drawn"):
        found = read(path, "y")
    assert (len(found.shown), len(found.hidden)) == (2_000, 1_000)


def test_rows_without_a_target_are_left_out_before_rows_are_drawn(tmp_path: Path) -> None:
    rows = [[i, i * 0.5 if i % 3_000 == 7 else None] for i in range(21_000)]
    with pytest.warns(DataWarning, match="20,993 rows without a value of 'y'"):
        found = read(table(tmp_path / "t.csv", ["x", "y"], rows), "y")
    assert len(found.shown) + len(found.hidden) == 7


def test_a_column_named_pi_and_a_long_name_get_other_identifiers(tmp_path: Path) -> None:
    long = "a" * 5_000
    rows = [[i, i % 7, i * 0.5 + i % 7] for i in range(20)]
    found = read(table(tmp_path / "t.csv", ["pi", long, "y"], rows), "y")
    assert found.public["identifiers"]["pi"] == "pi_2"
    assert len(found.public["identifiers"][long]) == 60
    agreement = agree(found, f"pi_2 / 2 + {'a' * 60}")
    assert problem_family(found).is_consistent(agreement)


def test_long_texts_among_numbers_take_no_time(tmp_path: Path) -> None:
    rows = [[i, f"1{' ' * 20_000}!!{i}", i * 0.5] for i in range(20)]
    with pytest.warns(DataWarning, match="hardly repeat"):
        found = read(table(tmp_path / "t.csv", ["x", "s", "y"], rows), "y")
    assert list(found.public["columns"]) == ["x"]


# --- the sample space -----------------------------------------------------------------


def test_half_of_the_sample_space_is_beyond_the_range_of_a_column(tmp_path: Path) -> None:
    rows = [[i % 9, 1 + i / 60, k, i] for i, (_, _, k) in enumerate(ROWS)]
    path = table(tmp_path / "t.csv", ["whole", "positive", "kind", "y"], rows)
    ((problem, space),) = load_problems("laws", path, target="y")
    shown = [one.input for one in problem.shown]
    ranges = {
        name: (min(row[name] for row in shown), max(row[name] for row in shown))
        for name in ("whole", "positive")
    }
    outside = [
        any(not low <= row[name] <= high for name, (low, high) in ranges.items())
        for row in space.inputs
    ]
    assert not any(outside[::2])
    assert sum(outside[1::2]) > 400
    assert all(isinstance(row["whole"], int) for row in space.inputs)
    assert all(row["positive"] > 0 and row["kind"] in ("a", "b") for row in space.inputs)
    assert space.digest == load_problems("laws", path, target="y")[0][1].digest


# --- laws -----------------------------------------------------------------------------


def test_a_law_is_consistent_within_the_noise(tmp_path: Path) -> None:
    import random

    rng = random.Random(0)
    rows = [[x := rng.uniform(0, 10), round(3 * x + 1 + rng.gauss(0, 0.5), 3)] for _ in range(200)]
    found = read(table(tmp_path / "t.csv", ["x", "y"], rows), "y")
    assert 0.4 < found.public["noise"] < 0.65
    family = problem_family(found)
    assert family.is_consistent(agree(found, "3 * x + 1"))
    assert family.is_consistent(agree(found, "3.01 * x + 0.97"))
    assert not family.is_consistent(agree(found, "3 * x"))
    assert not family.is_consistent(agree(found, "1 + x * 3.2"))


def test_a_law_that_is_undefined_in_many_rows_is_not_consistent(problem: Problem) -> None:
    law = "0.5 * m * v ** 2 * where(kind == 'b', 2, 1)"
    family = problem_family(problem)
    assert family.is_consistent(agree(problem, law))
    partly = agree(problem, f"{law} + where(v > 1, 0, 1 / 0)")
    assert not family.is_consistent(partly)
    assert None in partly.marks and {"undefined": "infinite"} in partly.got


def test_equal_laws_predict_equally_and_reasons_are_given(problem: Problem) -> None:
    family, view = problem_family(problem), view_of(problem)
    inputs = [{"m [kg]": m / 7, "v (m/s)": 3, "kind": "a"} for m in range(1, 30)]
    inputs += [{"m [kg]": None, "v (m/s)": 3, "kind": "a"}, {"m [kg]": "x", "kind": "a"}]
    laws = ["m * v ** 2 / 2", "v * v * m * 0.5", "m * v", "log(-m)", "exp(exp(99 * m))", "7"]
    found = asyncio.run(
        family.predict(
            [Hypothesis(one) for one in laws], InputSet("S", tuple(inputs)), view, Oracles()
        )
    )
    codes = [one.codes.tolist() for one in found]
    assert codes[0] == codes[1] != codes[2]
    assert found[0].count_undefined() == {"missing_value": 2}
    assert found[3].count_undefined() == {"no_number": 29, "missing_value": 2}
    assert found[4].count_undefined() == {"infinite": 29, "missing_value": 2}
    assert found[5].count_undefined() == {}


def test_the_law_of_the_data_has_the_shortest_description(problem: Problem) -> None:
    family: Any = load_family("laws")
    exact = "0.5 * m * v ** 2 * where(kind == 'b', 2, 1)"
    others = [
        "0.5 * m * v ** 2",
        "7",
        f"{exact} + 0.001 * m",
        f"{exact} * 1.00001",
        f"{exact} + 0 * v",
    ]
    bits = [family.description_bits(one, problem) for one in (exact, *others)]
    assert min(bits) == bits[0] and bits.count(bits[0]) == 1


# --- answers --------------------------------------------------------------------------

LAW = "0.5 * m * v ** 2"


@pytest.mark.parametrize(
    "answer",
    [
        f"It grows with the square.\nenergy = {LAW}",
        LAW,
        "**energy = 0.5*m*v^2**",
        "Half of it.\n```\nenergy = 0.5 * m * v ** 2\n```",
        "Law: `0.5 * m * v**2`.",
        '{"description": "d", "formula": "0.5*m*v**2"}',
        '```json\n{"description": "d", "formula": "energy = 0.5*m*v**2"}\n```',
        f"energy = m * v\n\nNo, better:\n\n1. energy = {LAW}\n\nIt fits all rows.",
    ],
)
def test_a_law_is_read_from_an_answer(problem: Problem, answer: str) -> None:
    (found,) = problem_family(problem).parse(view_of(problem), answer, "law")
    assert isinstance(found, Hypothesis), found
    assert found.text == LAW


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "there is no formula"),
        ("I do not know.", ""),
        ("energy = mass * v", "there is no column mass"),
        ('{"formula": "sinh(m)"}', "no function sinh"),
        ("energy = c0 * m", "c0 is a free constant"),
    ],
)
def test_an_answer_without_a_law_is_malformed(problem: Problem, answer: str, why: str) -> None:
    (found,) = problem_family(problem).parse(view_of(problem), answer, "law")
    assert isinstance(found, Malformed)
    assert why in found.detail


def test_the_tool_fits_the_constants_of_a_formula(problem: Problem) -> None:
    view = view_of(problem)
    (tool,) = problem_family(problem).make_tools(view, Oracles())
    reply = asyncio.run(tool.ainvoke({"formula": "c0 * m * v ** c1 * where(kind == 'b', c2, 1)"}))
    assert json.loads(reply)["consistent"] is True
    assert json.loads(reply)["formula"] == LAW + " * where(kind == 'b', 2, 1)"
    reply = json.loads(asyncio.run(tool.ainvoke({"formula": "c0 * m"})))
    assert reply["consistent"] is False and reply["rms"] > reply["tolerance"]
    assert "the law is" in reply["feedback"]
    assert "no column w" in json.loads(asyncio.run(tool.ainvoke({"formula": "c0 * w"})))["error"]


def test_a_prompt_shows_some_of_many_rows(tmp_path: Path) -> None:
    rows = [[i, i * 0.5] for i in range(1_000)]
    found = read(table(tmp_path / "t.csv", ["x", "y"], rows), "y")
    words = problem_family(found).words
    for each in (words, words.compact()):
        shown = [each.show_observation(n, one) for n, one in enumerate(found.shown, 1)]
        assert sum(map(bool, shown)) == 60
    assert "60 of 800 rows are shown" in words.instructions
    pair = Observation({"x": 2.0}, 1.0)
    assert (
        problem_family(read_small(tmp_path)).words.show_observation(3, pair)
        == "Row 3: x = 2: y = 1"
    )


def read_small(folder: Path) -> Problem:
    return read(table(folder / "s.csv", ["x", "y"], [[i, i * 0.5] for i in range(9)]), "y")


# --- generated laws -------------------------------------------------------------------


def test_generated_laws_agree_with_their_rows_and_are_read_again(tmp_path: Path) -> None:
    task: Any = load_task("laws")
    made = task.generate(18, 3)
    assert len({one.secret["kind"] for one in made}) == 6
    assert {one.secret["noise"] for one in made} == {0.0, 0.001, 0.01}
    consistent = [load_family("laws").is_consistent(agree(one, one.secret["law"])) for one in made]
    assert all(consistent)
    out = tmp_path / "laws.jsonl"
    task.write(out, 18, 3, {})
    again = [problem for problem, _ in load_problems("laws", str(out))]
    assert [one.digest for one in again] == [one.digest for one in made]
    with pytest.raises(PeirceError, match="--noise much"):
        task.write(out, 1, 0, {"noise": "much"})
