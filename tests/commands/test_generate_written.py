"""`tasks generate --model`: a model writes a topic; what breaks a rule is asked again; what was answered
stands in a file and is not asked again."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce import tasks_generate
from peirce.agents.scripted import FunctionProposer
from peirce.records import BudgetSpent, DataError, Reply, Unavailable, Usage, UsageError
from peirce.tasks import load_problems

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from chat_server import ChatServer, completion
from topic_writer import ABOUT, LABELS, TopicWriter

Make = Callable[..., dict[str, Any]]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(writer: Any, task: str = "labels:subject", out: str = "made", **options: Any) -> Any:
        model = FunctionProposer(writer, "writer") if isinstance(writer, TopicWriter) else writer
        if task == "labels:subject":
            options.setdefault("about", ABOUT)
        options.setdefault("level", "level1")
        options.setdefault("calls", tmp_path / "calls.jsonl")
        return tasks_generate(task, tmp_path / out, model=model, **options)

    return made


def files(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*.*")}


def properties(folder: Path, name: str = "subject/level1") -> Any:
    return json.loads((folder / name / "metadata.json").read_text())["task_properties"]


# --- what is made ---------------------------------------------------------------------


def test_metadata_says_what_came_from_which_model(make: Make, tmp_path: Path) -> None:
    make(TopicWriter(), "labels:election", labels=(", ".join(LABELS),), out="mine")
    written = properties(tmp_path / "mine", "election/level1")["written"]
    assert written["by"]["scheme"] == "scripted" and "endpoint" not in written["by"]
    assert written["from"] == {
        "description": "peirce", "labels": "user", "types": "model", "phrases": "model",
        "templates": "model", "forms": "model",
    }  # fmt: skip
    assert written["labels"] == [{"name": one, "about": ""} for one in LABELS]


def test_a_written_set_runs_like_any_other(make: Make, tmp_path: Path) -> None:
    make(TopicWriter(), format="huggingface")
    ((problem, _),) = load_problems("labels", str(tmp_path / "made/subject/level1"))
    assert problem.public["description"] == ABOUT
    assert "written" not in json.dumps(problem.public)
    made = problem.secret["made"]
    assert made["written"]["calls"] == 23
    answer = "\n".join(f"{n}. {one}" for n, one in enumerate(made["optimal"], 1))
    session = peirce.run(
        "labels", data=tmp_path / "made/subject/level1", method="zero-shot-gen", judge="exact",
        model=FunctionProposer(lambda _: answer, answer), hypotheses=20, store=tmp_path / "s.duckdb",
        inference="filter-weight", method_arg={"readers": 20},
    )  # fmt: skip
    assert session.metrics["accuracy"]["mean"] == made["best_accuracy"]["test"] == 1.0
    assert session.metrics["hdr"]["mean"] == 1.0


# --- what breaks a rule ---------------------------------------------------------------


def test_what_breaks_a_rule_is_asked_again_and_what_keeps_to_it_is_kept(make: Make) -> None:
    first = f"1. ends [the lease] | {LABELS[1]}\n2. paints [the hall] | happy\n3. moves [the hall] | {LABELS[0]}"
    writer = TopicWriter({("phrases of plan", 0): first})
    told = make(writer)
    assert told["calls"]["again"] == 1
    (again,) = [one for one in writer.asked if "break a rule" in one]
    assert (
        '"paints the hall": after | stands the label that it suggests, and "happy" is no' in again
    )
    assert f"- ends the lease | {LABELS[1]}" in again and "Give 3 more" in again


def test_a_form_that_touches_the_template_is_asked_again_by_itself(make: Make) -> None:
    good = TopicWriter()
    make(good, out="good", calls=None)
    said = next(one for one in good.asked if "The slot: [money]" in one and "[Money]" not in one)
    shown = said.split("With each phrase put in:")[1].split("Write each")[0]
    lines = [
        one.replace("says the", "so says the") if "electrician" in one else one
        for one in shown.strip().splitlines()
    ]
    writer = TopicWriter({("forms of money in 1", 0): "\n".join(lines)})
    told = make(writer, out="mended")
    (again,) = [one for one in writer.asked if "break a rule" in one]
    assert "the text around the slot is not as it was given" in again and "Give 1 more" in again
    assert "Those that are lacking are the texts with: an electrician's bill" in again
    assert told["calls"]["again"] == 1


def test_a_model_that_breaks_the_rules_to_the_end_is_refused_in_one_sentence(
    make: Make, tmp_path: Path
) -> None:
    bad = {
        ("templates", n): "1. Nothing to fill in here, though it is long enough." for n in range(9)
    }
    writer = TopicWriter(bad)
    with pytest.raises(DataError) as refused:
        make(writer)
    assert str(refused.value) == (
        "scripted gave 0 of 4 templates that keep to the rules in 4 answers; the last one: "
        '"Nothing to fill in here, though it is long enough.": it lacks [complaint], [plan],'
        f" [money], [tone] (its answers are in {tmp_path / 'calls.jsonl'};"
        " use another --seed to try again)"
    )
    assert writer.counts["templates"] == 4 and not (tmp_path / "made").exists()
    silent = TopicWriter()
    with pytest.raises(DataError, match="another --seed"):
        make(silent)
    assert silent.asked == []
    make(TopicWriter(), seed=1)


# --- calls ----------------------------------------------------------------------------


def test_a_second_time_nothing_is_asked_and_the_files_are_the_same(make: Make, tmp_path: Path) -> None:  # fmt: skip
    make(TopicWriter(), concurrency=1)
    silent = TopicWriter()
    told = make(silent, out="again", concurrency=16)
    assert (silent.asked, told["calls"]["recorded"]) == ([], 23)
    assert files(tmp_path / "made") == files(tmp_path / "again")
    make(silent, out="other", level="level4")
    assert not silent.asked
    topics = [properties(tmp_path / "made")["written"]["topic"],
              properties(tmp_path / "other", "subject/level4")["written"]["topic"]]  # fmt: skip
    assert topics[0] == topics[1]
    other = TopicWriter()
    make(other, out="seeded", seed=1)
    assert len(other.asked) == 23


def test_the_file_of_calls_is_beside_the_data_and_holds_questions_and_answers(
    make: Make, tmp_path: Path
) -> None:
    told = make(TopicWriter(), calls=None)
    assert told["calls_file"] == str(tmp_path / "made.calls.jsonl")
    lines = (tmp_path / "made.calls.jsonl").read_text().splitlines()
    rows = [json.loads(one) for one in lines]
    assert {"labels/0", "types/0", "phrases of tone/0", "forms of tone in template 4/0"} <= {
        one["path"] for one in rows
    }
    assert "Name the classes" in rows[0]["messages"][0]["content"]
    assert "wants a repair" in rows[0]["text"]


def test_a_cut_line_is_asked_again_and_another_that_is_no_call_is_a_data_error(
    make: Make, tmp_path: Path
) -> None:
    make(TopicWriter())
    calls = tmp_path / "calls.jsonl"
    calls.write_text(calls.read_text()[:-20])
    writer = TopicWriter()
    make(writer, out="again")
    assert len(writer.asked) == 1
    calls.write_text('{"key": 1}\n' + calls.read_text())
    with pytest.raises(DataError, match=r"calls\.jsonl, line 1: not a recorded model call"):
        make(writer, out="third")


class Failing(FunctionProposer):
    """Fails at one question, and tells what each answer cost."""

    def __init__(self, at: int | None = None) -> None:
        super().__init__(TopicWriter(), "writer")
        self.at, self.asked = at, 0

    async def propose(self, *arguments: Any, **named: Any) -> Reply:
        self.asked += 1
        if self.asked == self.at:
            raise Unavailable("The endpoint is gone.")
        said = await super().propose(*arguments, **named)
        return Reply(said.text, usage=Usage(80, 20))


def test_after_an_outage_it_goes_on_where_it_was(make: Make, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"^The endpoint is gone \(its answers are in "):
        make(Failing(at=5))
    assert len((tmp_path / "calls.jsonl").read_text().splitlines()) == 4
    model = Failing()
    make(model)
    assert model.asked == 19


def test_a_spent_budget_stops_before_a_call_and_a_larger_one_goes_on(make: Make) -> None:
    with pytest.raises(BudgetSpent, match="The budget of 500 tokens is spent"):
        make(Failing(), budget_tokens=500)
    with pytest.raises(BudgetSpent):
        make(Failing(), budget_tokens=500)
    with pytest.raises(BudgetSpent, match="US dollars"):
        make(Failing(), budget_usd=0.001, price_in=1, price_out=1)
    model = Failing()
    told = make(model, budget_tokens=10_000)
    assert (told["calls"]["asked"], told["calls"]["recorded"]) == (model.asked, 23 - model.asked)
    assert (told["calls"]["tokens_in"], told["calls"]["tokens_out"]) == (23 * 80, 23 * 20)


# --- what is refused before any call --------------------------------------------------


@pytest.mark.parametrize(
    ("task", "options", "said"),
    [
        (
            "labels:admission",
            {},
            "labels:admission is generated without a model; a model can write ",
        ),
        ("labels:subject", {"about": None}, "labels:subject needs a subject"),
        (
            "labels:subject",
            {"about": "short"},
            "a subject must have 10 to 4,000 characters, but this one has ",
        ),
        (
            "labels:election",
            {"about": ABOUT},
            "labels:election already has a subject; use labels:",
        ),
        ("labels:subject", {"level": "plane"}, "did you mean plain"),
        ("labels:subject", {"noise": "some"}, "--noise some"),
        ("labels:subject", {"format": "csv"}, "--format csv"),
        ("labels:subject", {"labels": ("one",)}, "1 labels: give 2 to 5"),
        ("labels:subject", {"labels": ("a, b, A",)}, "differ only in case"),
        ("labels:subject", {"labels": ('a, b"c',)}, "letters, digits"),
        ("labels:subject", {"budget_tokens": 0}, "budget_tokens is 0"),
        ("labels:subject", {"budget_usd": 1.0}, "needs price_in and price_out"),
        ("labels:subject", {"model_arg": ["temperature=1"]}, "has its own settings"),
        ("labels:subject", {"out": "."}, "not empty"),
        ("acre", {}, ": task 'acre' does not take this option"),
    ],
)
def test_what_cannot_be_is_refused_without_a_call(
    task: str, options: Mapping[str, Any], said: str, make: Make, tmp_path: Path
) -> None:
    (tmp_path / "note").write_text("here")
    writer = TopicWriter()
    with pytest.raises(UsageError, match=said):
        make(writer, task, **options)
    assert writer.asked == [] and not (tmp_path / "made").exists()


def test_a_subject_and_its_name_come_from_a_file(make: Make, tmp_path: Path) -> None:
    (tmp_path / "Landlord notes.txt").write_text(f"{ABOUT}\n\nNothing else.\n")
    make(TopicWriter(), about=str(tmp_path / "Landlord notes.txt"))
    told = json.loads((tmp_path / "made/landlord_notes/level1/metadata.json").read_text())
    assert told["task_description"] == f"{ABOUT} Nothing else."


def test_without_a_model_a_subject_and_what_is_said_to_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError,
        match="labels:subject must first be written by a model: run peirce tasks generate labels:subject --about TEXT --model MODEL --out DIR, then use --data DIR",
    ):
        tasks_generate("labels:subject", tmp_path / "made")
    with pytest.raises(
        UsageError,
        match="labels:subject must first be written by a model: run peirce tasks generate labels:subject --about TEXT --model MODEL --out DIR, then use --data DIR",
    ):
        load_problems("labels:subject")
    with pytest.raises(
        UsageError, match="--about is for a model that writes texts: also choose one with --model"
    ):
        tasks_generate("labels:election", tmp_path / "made", about=ABOUT)
    with pytest.raises(UsageError, match="model search cannot write texts: use a language model"):
        tasks_generate("labels:election", tmp_path / "made", model="search")


# --- a real endpoint ------------------------------------------------------------------


def test_an_endpoint_writes_the_same_topic_as_its_model_here(make: Make, tmp_path: Path) -> None:
    writer = TopicWriter({("types", 0): "No list."})

    def behave(request: dict[str, Any]) -> Any:
        return completion({"content": writer(request["messages"])})

    with ChatServer([behave]) as server:
        told = make(f"{server.url}#landlady", model_arg=["temperature=0.5"], out="far")
        assert len(server.requests) == 24
        assert server.requests[3]["temperature"] == 0.5
        assert told["model"] == "landlady" and told["calls"]["again"] == 1
        assert told["calls"]["tokens_out"] == 24 * 7
    written = properties(tmp_path / "far")["written"]
    assert written["by"]["model"] == "landlady" and "127.0.0.1" not in json.dumps(written)
    make(TopicWriter(), out="near", calls=None)
    here = properties(tmp_path / "near")["written"]
    assert here["topic"] == written["topic"]
    # another port of the same model: nothing is asked again
    with ChatServer([behave]) as server:
        make(f"{server.url}#landlady", model_arg=["temperature=0.5"], out="third")
        assert server.requests == []
    assert files(tmp_path / "third") == files(tmp_path / "far")


def test_an_endpoint_that_refuses_the_key_ends_in_one_sentence(make: Make) -> None:
    from chat_server import status

    with ChatServer([status(401, "Incorrect API key")]) as server:
        with pytest.raises(Unavailable, match="answered 401 Unauthorized"):
            make(f"{server.url}#landlady")
        assert len(server.requests) == 1
