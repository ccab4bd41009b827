"""Checks that recorded answers come back in their order, with the fields of their turn, from both
forms of file, and that a broken file is named by file, line and field.

Internals: the order and the description of a record are read before a proposer hides them.
"""

import asyncio
import gzip
import json

import pytest
from peirce.agents import open_model
from peirce.agents.recorded import read_record
from peirce.records import DataError, InputSet, PastAnswer, UsageError, Verdict, View
from peirce.tasks import DataWarning

PUBLISHED = {
    "model": "gpt-x",
    "temperature": 0.7,
    "dataset": "list_function",
    "problems": [
        {
            "idx": 4,
            "turns": [
                {"query": "q", "history": None, "responses": ["a", "b"]},
                {"query": "q", "history": [], "responses": ["c", ""]},
            ],
            "chosen_rules": ["rule 1", "rule 2"],
            "published_test_accs": [1.0, 0.0],
        },
        {"idx": "six", "turns": [{"responses": ["d"]}]},
    ],
}


def answers(path, problem, count=10):
    """What the proposer says step by step, as far as `count`."""

    async def ask():
        proposer = await open_model(f"recorded:{path}", {})
        said = []
        for number in range(count):
            earlier = (PastAnswer("x", (), Verdict.MALFORMED),) * number
            view = View(problem, "t", "f", (), {}, InputSet("S", ()), earlier)
            said.append(await proposer.propose(view, [], [], 0))
        await proposer.close()
        return said

    return asyncio.run(ask())


def settings(path):
    async def ask():
        return (await open_model(f"recorded:{path}", {})).settings()

    return asyncio.run(ask())


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_the_published_form_gives_every_answer_of_every_turn_and_then_is_exhausted(tmp_path):
    path = write(tmp_path / "gpt.json", PUBLISHED)
    said = answers(path, "4", 6)
    assert [reply.text for reply in said[:4]] == ["a", "b", "c", ""]
    assert [reply.finish for reply in said] == ["stop"] * 4 + ["exhausted"] * 2


def test_the_last_answer_of_a_turn_carries_the_chosen_rule_and_the_last_of_all_the_figures(
    tmp_path,
):
    said = answers(write(tmp_path / "gpt.json", PUBLISHED), "4", 4)
    assert [reply.meta["last_of_turn"] for reply in said] == [False, True, False, True]
    assert said[1].meta["fields"] == {"chosen_rule": "rule 1"}
    assert said[3].meta["fields"] == {"chosen_rule": "rule 2", "published_test_accs": [1.0, 0.0]}
    assert "fields" not in said[0].meta


def test_indented_and_packed_files_read_the_same(tmp_path):
    indented = write(tmp_path / "indented.json", json.dumps(PUBLISHED, indent=1))
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(indented.read_bytes()))
    assert answers(indented, "4") == answers(packed, "4")
    assert settings(indented)["digest"] == settings(packed)["digest"]


def test_a_problem_that_is_not_on_record_is_exhausted_at_once(tmp_path):
    path = write(tmp_path / "gpt.json", PUBLISHED)
    assert answers(path, "99", 1)[0].finish == "exhausted"
    assert list(read_record(path).answers) == ["4", "six"]


def test_settings_name_the_content_and_not_where_it_lies(tmp_path):
    told = settings(write(tmp_path / "gpt.json", PUBLISHED))
    assert told["recorded"]["model"] == "gpt-x" and str(tmp_path) not in json.dumps(told)
    other = settings(write(tmp_path / "gpt.json", {**PUBLISHED, "problems": []}))
    assert other["digest"] != told["digest"]


def test_jsonl_goes_by_step_and_takes_lines_of_one_step_as_one_turn(tmp_path):
    rows = [
        {"problem": "p", "step": 2, "answer": "late", "other": 1},
        {"problem": 7, "step": 1, "answer": "of seven"},
        {"problem": "p", "step": 1, "answer": "x\ny"},
        {"problem": "p", "step": 1, "answer": "z", "fields": {"chosen_rule": "r"}},
    ]
    text = "\n\n".join(json.dumps(row) for row in rows)
    path = write(tmp_path / "own.jsonl", text)
    said = answers(path, "p", 4)
    assert [reply.text for reply in said] == ["x\ny", "z", "late", ""]
    assert [reply.meta.get("last_of_turn") for reply in said] == [False, True, True, None]
    assert said[1].meta["fields"] == {"chosen_rule": "r"}
    assert answers(path, "7", 1)[0].text == "of seven"


def test_one_line_of_jsonl_is_jsonl(tmp_path):
    path = write(tmp_path / "own.jsonl", {"problem": "p", "step": 1, "answer": "a"})
    assert answers(path, "p", 1)[0].text == "a"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"problem": "p", "step": 1, "answer": "a"}\n{"problem": "p", "step": 2}',
            r"line 2, answer",
        ),
        ('{"problem": "p", "step": 1, "answer": 5}', "line 1, answer: 5 is not a string"),
        (
            '{"problem": "p", "step": "1", "answer": "a"}',
            r"line 1, step: '1' is not a whole number",
        ),
        ('{"problem": null, "step": 1, "answer": "a"}', r"line 1, problem: None is not an id"),
        ('{"problem": "p", "step": 1, "answer": "a"}\n\n{"x"', r"line 3: not JSON"),
        ('{\n "problems": [\n  {"idx": 1,}\n ]\n}', r"line 3: not JSON"),
        ('{\n "temperature": NaN, "problems": []}', r"NaN is no JSON number"),
        ('{\n "temperature": 1e400, "problems": []}', r"line 2, temperature: 1e400"),
        ("[\n1\n]", r"the file: \[1\] is not an object"),
        ("[1]", r"line 1: \[1\] is not an object"),
        ("\n \n", r"empty"),
        ('{"problems": 3}', r"problems: 3 is not a list"),
        ('{"problems": [{"idx": 1}]}', r"problems\[0\], turns: the field is missing"),
        ('{"problems": [{"turns": []}]}', r"problems\[0\], idx: the field is missing"),
        (
            '{"problems": [{"idx": 1, "turns": [{"responses": ["a", null]}]}]}',
            r"problems\[0\]\.turns\[0\]\.responses\[1\]: None is not a string",
        ),
        (
            '{"problems": [{"idx": 1, "turns": []}, {"idx": "1", "turns": []}]}',
            r"problems\[1\]\.idx: problem '1' occurs twice",
        ),
    ],
)
def test_a_broken_file_is_named_with_line_and_field(tmp_path, text, said):
    path = write(tmp_path / "broken.json", text)
    with pytest.raises(DataError, match=said) as caught:
        read_record(path)
    assert "broken.json" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"problem": "p", "step": 1, "answer": "a", "fields": [1]}',
            r"fields .* line 1, fields: ",
        ),
        (
            '{"problems": [\n{"idx": "p", "turns": [{"responses": ["a"]}], "chosen_rules": ["r", "s"]}]}',
            r"chosen rules .* line 2: problems\[0\]\.chosen_rules: 2 for 1 turns",
        ),
    ],
)
def test_an_optional_field_that_cannot_be_read_is_left_out_with_a_warning(tmp_path, text, said):
    path = write(tmp_path / "f.json", text)
    with pytest.warns(DataWarning, match=rf"f\.json: (the )?{said}"):
        (answer,) = read_record(path).answers["p"]
    assert (answer.text, answer.fields) == ("a", {})


def test_skip_bad_leaves_out_answers_that_cannot_be_read(tmp_path):
    good = {"idx": 1, "turns": [{"responses": ["a"]}]}
    whole = {"problems": [good, {"idx": 2}, {"idx": 3, "turns": [{"responses": [None]}]}]}
    path = write(tmp_path / "f.json", json.dumps(whole, indent=1))
    with pytest.raises(DataError, match=r"f\.json, line 13: problems\[1\], turns: "):
        settings(path)
    said = r"f\.json: 2 records that cannot be read are left out: line 13: .*; also line 16"
    with pytest.warns(DataWarning, match=said):
        asyncio.run(open_model(f"recorded:{path}", {"skip_bad": True}))


def test_a_missing_file_and_a_missing_name_are_usage_errors(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        settings(tmp_path / "none.json")
    with pytest.raises(UsageError, match="recorded:FILE"):
        settings("")


def test_settings_of_a_model_are_refused(tmp_path):
    path = write(tmp_path / "gpt.json", PUBLISHED)
    with pytest.raises(UsageError, match="'temperature'"):
        asyncio.run(open_model(f"recorded:{path}", {"temperature": 1}))


def test_the_published_gpt4_file_reads_whole(shared_data):
    path = shared_data / "recorded" / "gpt4_list_function_python.json"
    published = json.loads(path.read_text())["problems"]
    assert read_record(path).about["dataset"] == "list_function"
    assert list(read_record(path).answers) == [str(problem["idx"]) for problem in published]
    longest = max(published, key=lambda problem: len(problem["turns"]))
    said = answers(path, str(longest["idx"]), 16)
    told = [reply.text for reply in said if reply.finish == "stop"]
    assert told == [text for turn in longest["turns"] for text in turn["responses"]]
    rules = [r.meta["fields"]["chosen_rule"] for r in said if r.meta.get("last_of_turn")]
    assert rules == longest["chosen_rules"]
