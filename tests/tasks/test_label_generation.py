"""Data sets made from a seed: what was planted is what the rows say, by the exact judge. With every
change each set from one of two seeds and three of the grid of 64; from the other seed, and the whole
grid, in `make soak`.

Internals: whole sets are made without files, and rules are rebuilt from their parts.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from peirce.records import Observation, UsageError
from peirce.tasks import load_problems, load_task
from peirce.tasks.text.generation import (
    GENERATORS,
    admission,
    election,
    logistic,
    select_set_names,
    shoe,
)
from peirce.tasks.text.generation.admission_rules import complete_rule
from peirce.tasks.text.generation.marine import scaled_error
from peirce.tasks.text.generation.phrases import Topic
from peirce.tasks.text.generation.planted import Splits, add_noise, make_clean_splits, public_facts
from peirce.tasks.text.problems import LabelledData
from peirce.tools.sentence_rules import PreparedRows, Rule, compile_sentence

EVERY = [
    (name, one) for name, maker in GENERATORS.items() for one in select_set_names(maker, None, 0)
]
SOME = [(name, one) for name, one in EVERY if "_controlled" not in one]
GRID = [one for name, one in EVERY if one.startswith("election_controlled")]


def said(
    sentences: list[str], rows: LabelledData, some: tuple[Observation, ...]
) -> list[str | None]:
    """What the sentences say of each row together; they may not contradict each other."""
    public = public_facts(rows.columns, rows.labels)
    prepared = PreparedRows([one.input for one in some], public)
    found: list[str | None] = [None] * len(some)
    for sentence in sentences:
        rule = compile_sentence(sentence, public)
        assert isinstance(rule, Rule), (sentence[:200], rule)
        for row, code in enumerate(rule.codes(prepared).tolist()):
            label = None if code < 0 else rows.labels[code]
            assert None in (label, found[row]) or label == found[row]
            found[row] = label if found[row] is None else found[row]
    return found


def checked(generator: str, name: str, seed: int, noise: str = "exact") -> LabelledData:
    """A set: two labels in each split, and the stated rule as accurate as stated."""
    rows = GENERATORS[generator].generate(name, seed, noise)  # type: ignore[arg-type]
    assert rows.name == name and rows.properties is not None
    for split, some in rows.splits.items():
        assert {one.output for one in some} == set(rows.labels) or generator == "marine"
        assert len({one.output for one in some}) > 1
        predicted = said(rows.properties["optimal"], rows, some)
        assert None not in predicted
        right = np.mean([one == row.output for one, row in zip(predicted, some, strict=True)])
        assert right == pytest.approx(rows.properties["best_accuracy"][split], abs=1e-4)
    public = public_facts(rows.columns, rows.labels)
    for one in rows.known:
        assert isinstance(compile_sentence(one, public), Rule)
    return rows


@pytest.mark.parametrize(
    ("generator", "name", "seed"),
    [
        pytest.param(*one, seed, id=f"{one[1]}-{seed}", marks=() if few else pytest.mark.soak)
        for number, one in enumerate(SOME)
        for seed, few in ((0, number % 2 == 0), (7, number % 2 == 1))
    ],
)
def test_the_stated_rule_compiles_and_scores_the_stated_accuracy(
    generator: str, name: str, seed: int
) -> None:
    checked(generator, name, seed)


def test_sets_beyond_the_grid_state_their_rule_too() -> None:
    rows = [checked("admission", f"admission-3-{number}", 3) for number in range(3)]
    assert {one.properties["best_accuracy"]["test"] for one in rows if one.properties} == {1.0}
    assert all(
        one.properties and one.properties["labels"] == {"admitted": 300, "rejected": 300}
        for one in rows
    )


GRID_WITH_EVERY_CHANGE = GRID[::27]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in GRID_WITH_EVERY_CHANGE else pytest.mark.soak)
        for name in GRID
    ],
)
def test_the_grid_of_64_states_its_rules_too(name: str) -> None:
    checked("election", name, 3)
    checked("personality", name.replace("election", "personality"), 3)


def test_the_rows_are_as_many_as_in_table_2() -> None:
    """78, 76, 26, 3 and 1 sets; the paper counts the rows of a twin with those of its set."""
    sets: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for generator, name in EVERY:
        sets[generator] += 1
        if "_adv/" in name or "/counterfactual/" in name or generator == "tree":
            continue
        if "_controlled" not in name:
            counts[generator] += sum(
                map(len, GENERATORS[generator].generate(name, 0).splits.values())
            )
        else:
            counts[generator] += 2_500  # as the next lines say of some
    for one in GRID[::21]:
        assert sum(map(len, GENERATORS["election"].generate(one, 0).splits.values())) == 2_500
    assert [sets[name] for name in ("election", "personality", "admission", "shoe", "marine")] == [
        78, 76, 26, 3, 1,
    ]  # fmt: skip
    assert counts == {
        "election": 178_750, "personality": 178_750, "admission": 7_800, "shoe": 3_300,
        "marine": 500,
    }  # fmt: skip


# --- rebuilt from what is published ---------------------------------------------------


@pytest.mark.parametrize("one", admission.GRID, ids=lambda one: one.folder)
def test_the_rules_are_those_of_the_published_admission_sets(
    one: admission.AdmissionSet, shared_data: Path
) -> None:
    """All published labels where none was changed; with noise the ceilings that they leave."""
    ((problem, _),) = load_problems("labels", str(shared_data / "text" / one.folder))
    ceilings = {0.1: 0.835, 0.2: 0.68, 0.3: 0.615}
    rule = complete_rule(one.cases)
    for split in (problem.shown, _split(problem, "val"), _split(problem, "ind")):
        codes = rule.codes(PreparedRows([pair.input for pair in split], problem.public)).tolist()
        right = [
            problem.public["labels"][c] == pair.output for c, pair in zip(codes, split, strict=True)
        ]
        if not one.noise:
            assert all(right)
    if one.noise:
        assert np.mean(right) == pytest.approx(ceilings[one.noise])


def test_the_rule_is_that_of_the_published_shoe_set(shared_data: Path) -> None:
    ((problem, _),) = load_problems(
        "labels", str(shared_data / "text" / "shoe"), observations="900"
    )
    rule = Rule(tuple(clause for one in shoe.build_findings("shoe") for clause in one.clauses))
    everything = (*problem.shown, *problem.hidden)
    codes = rule.codes(PreparedRows([pair.input for pair in everything], problem.public)).tolist()
    assert [problem.public["labels"][code] for code in codes] == [one.output for one in everything]
    assert {one.input["appearance"] for one in everything} <= set(shoe.list_customers())


def _split(problem: object, name: str) -> tuple[Observation, ...]:
    start, stop = problem.secret["splits"][name]  # type: ignore[attr-defined]
    return problem.hidden[start:stop]  # type: ignore[attr-defined, no-any-return]


# --- twins, noise, seeds --------------------------------------------------------------


def test_every_condition_of_a_twin_is_turned_round() -> None:
    known = {
        name: GENERATORS["admission"].generate(name, 0).known for name in admission.SETS_BY_NAME
    }
    assert known["admission_adv/level_1/base"] == (
        'If math is "F", the label is "admitted"; otherwise, the label is "rejected".',
    )
    assert known["admission_adv/level_2/depth_2"] == (
        'If math is "F" and num_publications is at most 0, the label is "admitted"; otherwise, the'
        ' label is "rejected".',
    )
    for plain in admission.GRID:
        for one, other in zip(plain.cases, admission.make_twin(plain).cases, strict=True):
            assert len(one) == len(other) and one != other


def test_twins_of_the_election_are_the_same_posts_with_labels_turned_round() -> None:
    maker = GENERATORS["election"]
    normal, turned = (
        maker.generate(f"election/counterfactual/{one}", 1) for one in ("normal", "counterfactual")
    )
    following = dict(zip(normal.labels, (*normal.labels[1:], normal.labels[0]), strict=True))
    for split, some in normal.splits.items():
        assert [one.input for one in some] == [one.input for one in turned.splits[split]]
        assert [following[one.output] for one in some] == [
            one.output for one in turned.splits[split]
        ]
    leanings = {one.core: normal.labels[one.expected_label] for one in election.TOPIC.phrases}
    agreed = sum(
        f'"{core}", the label is "{label}"' in known
        for core, label in leanings.items()
        for known in normal.known
    )
    assert agreed >= 15  # of 20: what most posts with a phrase are is what one expects


def test_exact_noise_changes_exactly_the_rate_and_keeps_the_balance() -> None:
    for level, rate in ((2, 0.1), (3, 0.2), (4, 0.3)):
        rows = GENERATORS["admission"].generate(
            f"admission/level_{level}/noise_{int(100 * rate)}", 9
        )
        assert rows.properties is not None
        assert set(rows.properties["effective_noise"].values()) == {rate}
        for some in rows.splits.values():
            assert Counter(one.output for one in some) == {"admitted": 100, "rejected": 100}
            wrong = [(one.input["math"] == "A") != (one.output == "admitted") for one in some]
            assert sum(wrong) == 200 * rate


def test_sampled_noise_is_counted_as_it_came_out() -> None:
    rows = checked("admission", "admission/level_3/noise_20", 9, "sampled")
    assert rows.properties is not None
    shares = rows.properties["effective_noise"]
    assert len(set(shares.values())) > 1 and all(0.1 < share < 0.3 for share in shares.values())


def test_noise_that_leaves_nothing_to_find_is_refused() -> None:
    rows = make_clean_splits({"train": [Observation({"x": n}, "ab"[n % 2]) for n in range(10)]})
    with pytest.raises(UsageError, match=r"noise rate must be from 0 to less than"):
        add_noise(rows, 0.5, "ab", "exact", "")
    with pytest.raises(
        UsageError, match="--noise sample is not a valid kind of noise; did you mean sampled"
    ):
        add_noise(rows, 0.1, "ab", "sample", "")  # type: ignore[arg-type]
    assert isinstance(add_noise(rows, 0.2, "ab", "exact", ""), Splits)


def test_a_set_is_a_pure_function_of_seed_and_name() -> None:
    for generator, name in (("admission", "admission/level_3/depth_3"), ("election", "election/level5"),
                            ("tree", "tree/depth_4_3"), ("marine", "marine"), ("shoe", "shoe")):  # fmt: skip
        first, again, other = (GENERATORS[generator].generate(name, seed) for seed in (4, 4, 5))
        assert first == again and first.splits != other.splits


# --- posts ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["election", "personality"])
def test_every_post_has_one_phrase_of_each_type_and_the_judge_sees_it(name: str) -> None:
    for form in ("", "_nosubtlety"):
        rows = GENERATORS[name].generate(f"{name}/level2{form}", 0)
        texts = [one.input["text"] for some in rows.splits.values() for one in some]
        assert len(set(texts)) == len(texts) == (625 if form else 2_500)
        topic: Topic = GENERATORS[name].topic  # type: ignore[attr-defined]
        prepared = PreparedRows(
            [{"text": one} for one in texts], public_facts(rows.columns, rows.labels)
        )
        for _, phrases in topic.types:
            marks = np.array([logistic.mentions_any(one).holds(prepared) for one in phrases])
            assert (marks.sum(axis=0) == 1).all() and (marks.mean(axis=1) == 0.2).all()


def test_levels_have_the_weights_the_noise_and_the_findings_that_they_say() -> None:
    for level, (found, noise) in enumerate(
        [(1, 0.0), (5, 0.0), (15, 0.0), (5, 0.1), (15, 0.0), (15, 0.1)]
    ):
        rows = GENERATORS["personality"].generate(f"personality/level{level}", 2)
        dropped = 2 * (level > 3)  # phrases of which all weights may be dropped
        assert found - dropped <= len(rows.known) <= found and rows.properties is not None
        assert rows.properties["effective_noise"]["test"] == noise
        assert rows.properties["best_accuracy"]["test"] == 1 - noise


def test_likelihoods_of_a_phrase_are_worded_by_the_signs_of_its_weights() -> None:
    phrase, labels = election.TOPIC.phrases[0], ("one", "two", "three")

    def words(*weights: float) -> str:
        told = logistic.describe_likelihoods("kind", phrase, np.array(weights), labels)
        return told.removeprefix('If the kind of a post is "backs the blue ticket", it is ')

    assert words(2, -1, 0) == "likely to be by a one author and unlikely to be by a two author."
    assert words(2, 0, 1) == "likely to be by a one author and neutral to be by a two author."
    assert (
        words(2, 3, 1)
        == "highly likely to be by a two author and a bit likely to be by a three author."
    )
    assert (
        words(-2, -3, -1)
        == "a bit unlikely to be by a three author and highly unlikely to be by a two author."
    )


# --- the others -----------------------------------------------------------------------


def test_paths_of_a_tree_part_the_records() -> None:
    for number in range(8):
        name = f"tree/depth_{1 + number % 4}_{number}"
        rows = checked("tree", name, 11)
        assert len(rows.known) == 2 ** (1 + number % 4)
        assert rows.known == tuple(rows.properties["optimal"]) if rows.properties else False


def test_marine_errors_are_scaled_by_the_training_range() -> None:
    assert scaled_error([0, 10], [0, 5], [0, 10, 5]) == pytest.approx(0.125)
    with pytest.raises(UsageError, match="all training labels are 3"):
        scaled_error([1], [1], [3, 3])
    rows = checked("marine", "marine", 0)
    assert rows.properties is not None and sum(map(len, rows.splits.values())) == 500
    numbers = {split: [float(one.output) for one in some] for split, some in rows.splits.items()}
    predicted = said(rows.properties["optimal"], rows, rows.splits["test"])
    error = scaled_error([float(str(one)) for one in predicted], numbers["test"], numbers["train"])
    assert error == pytest.approx(rows.properties["best_scaled_error"]["test"], abs=1e-5)
    assert rows.labels == tuple(sorted(rows.labels, key=float))


# --- files ----------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["published", "huggingface"])
@pytest.mark.parametrize(
    ("name", "level"),
    [("admission", "noise_10"), ("shoe", "hard"), ("election", "1,plain"), ("marine", None)],
)
def test_what_is_written_reads_back(
    name: str, level: str | None, form: str, tmp_path: Path
) -> None:
    maker = load_task(f"labels:{name}")
    told = maker.write(tmp_path / "new", None, 3, {"level": level, "format": form})  # type: ignore[attr-defined]
    for one in told["sets"]:
        made = GENERATORS[name].generate(one["name"], 3)
        ((back, _),) = load_problems("labels", str(tmp_path / "new" / one["name"]), seed=3)
        problem = made.make_problem(0, seed=3)
        assert back.shown == problem.shown and back.hidden == problem.hidden
        assert back.secret == json.loads(json.dumps(problem.secret))
        assert back.public["labels"] == problem.public["labels"]
        if form == "huggingface":
            card = (tmp_path / "new" / one["name"] / "README.md").read_text()
            assert "split: validation\n    path: validation.jsonl" in card


@pytest.mark.parametrize("form", ["published", "huggingface"])
def test_all_sets_that_were_written_are_read_from_their_root(form: str, tmp_path: Path) -> None:
    for generator, level in (("admission", "base"), ("shoe", None)):
        maker = load_task(f"labels:{generator}")
        told = maker.write(tmp_path / generator, None, 3, {"level": level, "format": form})  # type: ignore[attr-defined]
        names = [one["name"] for one in told["sets"]]
        back = load_problems("labels", str(tmp_path / generator), seed=3)
        assert sorted(one.id for one, _ in back) == sorted(f"{name}#0" for name in names)
        for one, _ in back:
            made = (
                GENERATORS[generator].generate(one.id.removesuffix("#0"), 3).make_problem(0, seed=3)
            )
            assert (one.shown, one.hidden) == (made.shown, made.hidden)


def test_what_could_not_be_written_leaves_no_folder(tmp_path: Path) -> None:
    maker = load_task("labels:shoe")
    out = tmp_path / "deep" / "new"
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            maker.write(out, None, 3, {})  # type: ignore[attr-defined]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())
    assert maker.write(out, None, 3, {})["problems"] == 3  # type: ignore[attr-defined]


def test_levels_that_are_none_are_refused_with_the_nearest() -> None:
    maker = GENERATORS["election"]
    assert select_set_names(maker, None, 0, "3,plain") == ["election/level3_nosubtlety"]
    assert len(select_set_names(maker, None, 0, "grid")) == 64
    assert len(select_set_names(GENERATORS["admission"], None, 0, "adv")) == 13
    with pytest.raises(
        UsageError, match="--level plane: election has no 'plane'; did you mean plain"
    ):
        select_set_names(maker, None, 0, "plane")
    with pytest.raises(UsageError, match="no set of election has all of these"):
        select_set_names(maker, None, 0, "grid,plain")
