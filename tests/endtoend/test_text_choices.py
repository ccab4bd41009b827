"""What a session on labelled text must not look at, and what must follow a change: labels of test rows
tell nothing, two texts that change places change the label.

With every change each method runs on two of the three kinds of rows, once with each kind of rules; the
other combinations run in `make soak`."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import peirce
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from text_model import RULES, TextModel, calls_of, pair_rows, write_own

STRATEGIES = ("multi", "best", "filter-weight", "one-step", "two-step", "weighted")
METHODS = ("hypogenic", "io", "refine", "zero-shot-gen", "abduce", "direct")


def columns(folder, split):
    return json.loads((folder / f"made_{split}.json").read_text())


def rewrite(folder, split, values):
    (folder / f"made_{split}.json").write_text(json.dumps(values))


def permuted(folder, *splits):
    """The labels of test rows moved by one, so that some stand with another text."""
    for split in splits:
        told = columns(folder, split)
        labels = [*told["label"][1:], told["label"][0]]
        assert labels != told["label"]
        rewrite(folder, split, {**told, "label": labels})


def seen(session):
    """All of a session but the scores of its test rows."""
    trace = peirce.load(session.session, store=session.store)
    (problem,) = trace.problems
    steps = [(step.step, dict(step.fields), step.events, [
        (answer.path, answer.text, [(one.hypothesis, one.verdict, one.reason, one.shown)
                                    for one in answer.judged]) for answer in step.answers
    ]) for step in trace.steps]  # fmt: skip
    requests = {path: (call["request"], call["response"], call["vectors"])
                for path, call in calls_of(session).items()}  # fmt: skip
    space = [one.input for one in problem.shown]
    return {"steps": steps, "requests": requests, "shown": space,
            "bank": peirce.bank(session.session, store=session.store)}  # fmt: skip


def combinations():
    """Every method, kind of rows and kind of rules; all but two of each method are soak tests."""
    kinds, all_rules = ("text", "pair", "fields"), ("exact", "mixed")
    for number, method in enumerate(METHODS):
        chosen = {(kinds[(number + place) % 3], rules) for place, rules in enumerate(all_rules)}
        for kind, rules in itertools.product(kinds, all_rules):
            marks = () if (kind, rules) in chosen else pytest.mark.soak
            yield pytest.param(method, kind, rules, marks=marks)


@pytest.mark.parametrize(("method", "kind", "rules"), list(combinations()))
def test_labels_of_test_rows_change_nothing_but_the_scores(tmp_path, method, kind, rules):
    labels = {"text": ("warm", "cold"), "pair": ("first", "second"),
              "fields": ("taken", "waiting", "refused")}[kind]  # fmt: skip
    found = []
    for name in ("as they are", "permuted"):
        data = write_own(tmp_path / name / "made", kind)
        if name == "permuted":
            permuted(data, "test", "ood")
        model = TextModel(labels, RULES[kind])
        more = {} if method == "direct" else {"inference": "choose", "hypotheses": 3}
        session = peirce.run(
            "labels", data=data, method=method, model=model.proposer, observations=24,
            judge="exact" if rules == "exact" and method != "direct" else None,
            method_arg={"top": 3, "wrong": 4, "validation": 6}, store=tmp_path / name / "s.duckdb",
            **more,
        )  # fmt: skip
        found.append((session, seen(session)))
    (one, seen_one), (other, seen_other) = found
    for part in seen_one:
        assert seen_one[part] == seen_other[part], part
    fields = seen_one["steps"][-1][1]["inference"]
    assert set(fields["splits"]) >= {"ind", "ood"}
    if method != "direct" and seen_one["bank"]:
        assert set(fields["validation"]) == set(STRATEGIES)
    assert one.digest != other.digest  # the rows are others
    same = {name for name, figure in one.metrics.items() if figure == other.metrics.get(name)}
    changed = {name for name in one.metrics if name not in same}
    assert all("ind" in name or "ood" in name or name in ("accuracy", "f1") for name in changed)
    assert {"accuracy_val", "f1_val"} <= same | {"accuracy_val", "f1_val"} - set(one.metrics)


def test_labels_of_validation_rows_do_change_what_is_chosen(tmp_path):
    """Else the test above would show nothing."""
    chosen = []
    for name in ("as they are", "turned"):
        data = write_own(tmp_path / name / "made", "text")
        if name == "turned":
            told = columns(data, "val")
            turn = {"warm": "cold", "cold": "warm"}
            rewrite(data, "val", {**told, "label": [turn[one] for one in told["label"]]})
        model = TextModel(("warm", "cold"), RULES["text"])
        session = peirce.run(
            "labels", data=data, method="io", model=model.proposer, observations=24, judge="exact",
            inference="choose", hypotheses=12, store=tmp_path / name / "s.duckdb",
        )  # fmt: skip
        chosen.append(
            peirce.load(session.session, store=session.store).steps[-1].fields["inference"]
        )
    assert chosen[0]["validation"] != chosen[1]["validation"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_texts_that_change_places_change_the_label(tmp_path, strategy):
    """Of test rows alone: the bank is the same, and what it says of each row is turned round."""
    said = []
    other = {"first": "second", "second": "first"}
    for name in ("as they are", "swapped"):
        data = write_own(tmp_path / name / "made", "pair",
                         {"train": 30, "val": 10, "test": 40, "ood": 6})  # fmt: skip
        if name == "swapped":
            told = pair_rows(40, 200)
            rewrite(data, "test", {
                "headline_1": told["headline_2"], "headline_2": told["headline_1"],
                "label": [other[label] for label in told["label"]],
            })  # fmt: skip
        model = TextModel(("first", "second"), [*RULES["pair"], "The longer text wins."])
        session = peirce.run(
            "labels", data=data, method="hypogenic", model=model.proposer, observations=24,
            judge="exact", inference=strategy, hypotheses=8, store=tmp_path / name / "s.duckdb",
            method_arg={"top": 3, "wrong": 4},
        )  # fmt: skip
        bank = peirce.bank(session.session, store=session.store)
        fields = peirce.load(session.session, store=session.store).steps[-1].fields["inference"]
        said.append((bank, fields["splits"]["ind"], session.metrics["accuracy_ind"]["mean"]))
    (bank, one, right), (bank_too, turned, right_too) = said
    assert bank == bank_too and len(bank) >= 3
    assert one["decided"] == turned["decided"] and "majority" not in one["decided"]
    assert turned["labels"] == [other[label] for label in one["labels"]]
    assert set(one["labels"]) == {"first", "second"} and right == right_too
