"""A user's own task file: what it becomes, and the one sentence that a mistake in it gets."""

from __future__ import annotations

import asyncio
import json
import textwrap
import warnings

import pytest
from peirce import tasks
from peirce.agents.prompts import messages
from peirce.records import (
    Agreement,
    DataError,
    Hypothesis,
    Limits,
    Observation,
    Oracles,
    PeirceError,
    Problem,
    UsageError,
)
from peirce.sandbox import open_sandbox
from peirce.tasks.own_words import OwnWords, equality_said, shown
from peirce.tasks.sentences import DataWarning
from peirce.tools.execute import executor
from peirce.verbs.problems import choose

WHOLE = """
    name: gauge
    about: what a gauge shows
    instructions: A gauge turns a length into a reading.
    pair: "{number}: {input[cm]} cm reads {output}"
    observations:
      - [{cm: 1}, 0.4]
      - {input: {cm: 2}, output: 0.8}
    hidden:
      - [{cm: 10}, 3.9]
    equality:
      numbers: {decimals: 1}
    sample_space:
      generate: {fields: {cm: {range: [0, 9]}}}
      weights: 2 if x["cm"] > 4 else 1
"""
SHORT = "name: t\nabout: a task\nobservations: [[1, 2], [3, 4]]\n"
PYTHON = """
    from peirce.records import InputSet, Observation, Problem

    class Own:
        name = "own"
        about = "a task"

        def generate(self, count, seed):
            return [self.problem(f"{seed}-{i}") for i in range(count)]

        def problem(self, name):
            pairs = Observation((1, 2), 3), Observation([4], 4)
            return Problem(name, "?", "programs", pairs[:1], pairs[1:])

        def space(self, problem, seed):
            return InputSet("S", ([1], [2, 3]), (1, 2.5))

    TASK = Own()
"""


def write(folder, text, name="t.yaml"):
    path = folder / name
    path.write_text(textwrap.dedent(text), "utf-8")
    return str(path)


def load(folder, text, name="t.yaml", **options):
    return tasks.load_problems(write(folder, text, name), **options)


def space_of(folder, declared):
    return load(folder, SHORT + f"sample_space: {json.dumps(declared)}\n")[0][1]


# --- YAML: what it becomes -----------------------------------------------------------


def test_a_yaml_file_is_a_task_with_space_weights_words_and_equality(tmp_path):
    ((problem, space),) = load(tmp_path, WHOLE)
    assert (problem.id, problem.task, problem.family) == ("gauge", "gauge", "programs")
    assert problem.shown[1] == Observation({"cm": 2}, 0.8) and len(problem.hidden) == 1
    assert problem.public["equality"] == {"numbers": {"decimals": 1}}
    assert space.inputs == tuple({"cm": n} for n in range(10))
    assert space.weights == (1.0,) * 5 + (2.0,) * 5


def test_a_prompt_has_the_task_s_own_words(tmp_path):
    ((problem, space),) = load(tmp_path, WHOLE)
    words = tasks.family_of(problem).words
    (message,) = messages(problem.view(space), words, answer_format="tuple")
    text = message["content"]
    assert text.startswith("A gauge turns a length into a reading.")
    assert "2: 2 cm reads 0.8" in text and "3.9" not in text
    assert "numbers are rounded to 1 decimals" in text


def test_the_rule_holds_for_shown_pairs_and_for_the_space(tmp_path):
    ((problem, space),) = load(tmp_path, WHOLE)
    family = tasks.family_of(problem)
    near, off = (
        Hypothesis(f"def f(x):\n    return 0.4 * x['cm'] + {more}", meta={"entry": "f"})
        for more in (0.04, 0.06)
    )
    exact = Hypothesis("def f(x):\n    return 0.4 * x['cm']", meta={"entry": "f"})

    async def ask():
        sandbox = await open_sandbox("process", 1)
        try:
            oracles = Oracles(execute=executor(sandbox, Limits()))
            view = problem.view(space)
            agreed = [await family.agree(h, problem.shown, view, oracles) for h in (near, off)]
            return agreed, await family.predict([exact, near, off], space, view, oracles)
        finally:
            await sandbox.close()

    (first, second), codes = asyncio.run(ask())
    assert first.marks == (True, True) and second.marks == (False, False)
    assert first.got[0] == {"value": 0.44}  # what came is kept as it came
    assert codes[0].codes.tolist() == codes[1].codes.tolist()
    assert not (codes[0].codes == codes[2].codes).any()


def test_a_task_without_words_of_its_own_asks_as_every_other(tmp_path):
    ((problem, _),) = load(tmp_path, SHORT)
    assert problem.public == {} and tasks.family_of(problem).words is tasks.family("programs").words


def test_several_problems_stand_in_one_file(tmp_path):
    text = """
        name: t
        about: two rules
        problems:
          a: {observations: [[1, 2]], hidden: [[5, 6]]}
          b: {observations: [[1, 3]]}
    """
    loaded = load(tmp_path, text)
    assert [problem.id for problem, _ in loaded] == ["a", "b"]
    assert [len(problem.hidden) for problem, _ in loaded] == [1, 0]
    assert [problem.id for problem, _ in load(tmp_path, text, ids=["b"])] == ["b"]


def test_more_than_twelve_problems_all_run(tmp_path):
    rows = "\n".join(f"  p{n}: {{observations: [[{n}, 1]]}}" for n in range(20))
    assert len(load(tmp_path, f"name: t\nabout: a task\nproblems:\n{rows}\n")) == 20


def test_pairs_may_stand_in_a_file_beside_it(tmp_path):
    (tmp_path / "pairs.csv").write_text("problem,input,output,split\np,1,2,shown\np,2,3,hidden\n")
    path = write(tmp_path, "name: t\nabout: a task\ndata: pairs.csv\n")
    ((problem, _),) = tasks.load_problems(path)
    assert problem.id == "p" and problem.task == "t" and len(problem.hidden) == 1
    beside = tasks.task(path).task_file["beside"]
    assert [one["name"] for one in beside] == ["pairs.csv"]


def test_data_gives_other_pairs_to_the_same_task(tmp_path):
    (tmp_path / "more.jsonl").write_text('{"problem": 7, "input": {"cm": 3}, "output": 1.2}\n')
    ((problem, space),) = load(tmp_path, WHOLE, data=str(tmp_path / "more.jsonl"))
    assert problem.id == "7" and problem.public["equality"] and len(space) == 10


def test_observations_are_drawn_from_a_task_file_as_from_any(tmp_path):
    ((problem, _),) = load(tmp_path, WHOLE, observations="1")
    assert len(problem.shown) == 1 and len(problem.hidden) == 2
    assert problem.public["pair"]


def test_without_a_space_it_is_made_from_the_inputs(tmp_path):
    ((_, space),) = load(tmp_path, SHORT)
    assert space.inputs[:2] == (1, 3) and len(space) > 20


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("no", "no"), ("12:30", "12:30"), ("2024-01-01", "2024-01-01"), ("007", "007"),
        ("0x10", "0x10"), ("1_000", "1_000"), ("1e3", 1000.0), ("-2", -2), (".5", 0.5),
        ("true", True), ("~", None), ("'5'", "5"), ("=", "="),
    ],
)  # fmt: skip
def test_a_value_is_what_it_looks_like(tmp_path, written, meant):
    ((problem, _),) = load(tmp_path, f"name: t\nabout: a\nobservations: [[[{written}], 1]]\n")
    (value,) = problem.shown[0].input
    assert value == meant and type(value) is type(meant)


# --- sample spaces --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("generator", "inputs"),
    [
        ({"range": [1, 3]}, [1, 2, 3]),
        ({"range": [0, 1], "step": 0.5}, [0.0, 0.5, 1.0]),
        ({"range": [0.1, 0.4], "step": 0.1}, [0.1, 0.2, 0.3, 0.4]),
        ({"range": [-2, 3], "step": 2}, [-2, 0, 2]),
        ({"choices": ["a", 1, None]}, ["a", 1, None]),
        ({"text": "ab", "length": [0, 2]}, ["", "a", "b", "aa", "ab", "ba", "bb"]),
        ({"list": {"range": [0, 1]}, "length": 2}, [[0, 0], [0, 1], [1, 0], [1, 1]]),
        ({"product": [{"range": [1, 2]}, {"choices": ["x"]}]}, [[1, "x"], [2, "x"]]),
        ({"fields": {"a": {"range": [1, 2]}}}, [{"a": 1}, {"a": 2}]),
        ({"any": [{"range": [1, 2]}, {"choices": [2, "b"]}]}, [1, 2, "b"]),
    ],
)
def test_a_small_space_holds_all_values_in_order(tmp_path, generator, inputs):
    found = list(space_of(tmp_path, {"generate": generator}).inputs)
    assert found == inputs and [type(one) for one in found] == [type(one) for one in inputs]


def test_one_seed_gives_one_space_on_any_machine(tmp_path):
    declared = {
        "generate": {
            "fields": {
                "row": {"list": {"range": [0, 99]}, "length": [0, 9]},
                "name": {"text": "xyz", "length": [1, 5]},
                "at": {"any": [{"range": [0, 50], "step": 0.25}, {"choices": [None]}]},
            }
        },
        "count": 300,
        "weights": "sqrt(len(x['row'])) / 3 + (1 if x['at'] == 2 or 'x' in x['name'] else 0.1)",
    }
    space = space_of(tmp_path, declared)
    assert len({json.dumps(one) for one in space.inputs}) == len(space) == 300
    assert space.digest == "c9cd68966765b8beafa7cbd12c7f4363fe38726c5e51fcb1ec099146d357b61c"
    assert space_of(tmp_path, {**declared, "seed": 1}).digest != space.digest


def test_weights_may_be_listed_or_stand_in_the_space_s_file(tmp_path):
    listed = space_of(tmp_path, {"inputs": [1, 2], "weights": [0, 1.5]})
    assert listed.weights == (0.0, 1.5)
    (tmp_path / "s.jsonl").write_text('{"input": 1, "weight": 0}\n{"input": 2, "weight": 1.5}\n')
    assert space_of(tmp_path, {"file": "s.jsonl"}).digest == listed.digest


def test_a_space_with_few_distinct_values_says_so(tmp_path):
    alike = {"any": [{"choices": [1]}] * 3}
    with pytest.warns(DataWarning, match="1 inputs: 40 draws gave no more"):
        assert space_of(tmp_path, {"generate": alike, "count": 2}).inputs == (1,)


def test_an_input_that_stands_twice_counts_once(tmp_path):
    declared = {"inputs": [1, [True, 2], 1.0, 3, True, [1, 2.0]], "weights": [2, 1, 2, 1, 2, 1]}
    with pytest.warns(DataWarning, match=r"t\.yaml: 3 inputs of the sample space equal one before"):
        space = space_of(tmp_path, declared)
    assert (space.inputs, space.weights) == ((1, [True, 2], 3), (2.0, 1.0, 1.0))
    assert type(space.inputs[0]) is int
    (tmp_path / "s.jsonl").write_text("1\n2\n1.0\n")
    with pytest.warns(DataWarning, match="1 inputs .* equal one before them"):
        space = space_of(tmp_path, {"file": "s.jsonl", "weights": [3, 4, 3]})
    assert (space.inputs, space.weights) == ((1, 2), (3.0, 4.0))
    text = textwrap.dedent(PYTHON).replace("[2, 3]), (1, 2.5)", "[2, 3], (1.0,)), (1, 2.5, 1)")
    with pytest.warns(DataWarning, match="own.py, line 15, TASK.space: 1 inputs"):
        ((_, space),) = load(tmp_path, text, "own.py", problems=1)
    assert (space.inputs, space.weights) == (([1], [2, 3]), (1.0, 2.5))
    with pytest.warns(DataWarning, match="own.py, line 15, TASK.space: 1 inputs"):
        ((_, space),) = load(tmp_path, text.replace(", (1, 2.5, 1)", ""), "own.py", problems=1)
    assert (space.inputs, space.weights) == (([1], [2, 3]), None)


def test_what_a_generator_makes_and_what_pairs_hold_counts_once_too(tmp_path):
    numbers = {"any": [{"range": [0, 2]}, {"range": [0, 1], "step": 0.5}, {"choices": [True]}]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is left out of what is generated
        assert space_of(tmp_path, {"generate": numbers}).inputs == (0, 1, 2, 0.5)
    many = {"any": [{"range": [0, 99]}, {"range": [0, 99], "step": 0.5}]}
    drawn = space_of(tmp_path, {"generate": many, "count": 120}).inputs
    assert len(set(drawn)) == len(drawn) == 120
    ((_, space),) = load(tmp_path, SHORT.replace("[3, 4]", "[1.0, 2], [true, 2], [a, 5]"))
    assert space.inputs == (1, "a")


def test_the_end_of_its_name_may_be_written_large(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("T.YAML", SHORT), ("t.Yml", SHORT), ("OWN.PY", PYTHON)):
        write(tmp_path, text, name)
        assert tasks.load_problems(name, problems=1)


def test_a_bad_space_file_is_named_where_it_is_asked_for(tmp_path):
    (tmp_path / "s.jsonl").write_text("{\n1\n")
    with pytest.raises(DataError) as error:
        load(tmp_path, SHORT + "sample_space:\n  file: s.jsonl\n")
    said = str(error.value).replace(f"{tmp_path}/", "")
    assert said.startswith("t.yaml, line 5, sample_space.file: s.jsonl, line 1: not JSON")


# --- YAML: mistakes --------------------------------------------------------------------

SPACE = SHORT + "sample_space:\n"
MISTAKES = [
    ("", "the file is empty"),
    ("- 1", "line 1: not a mapping of name, about"),
    ("name: t\nabout: a\nobservatons: []", "line 3, observatons: no such key; did you mean obs"),
    ("name: t\nname: u", "line 2, name: stands there twice, first in line 1"),
    ("about: a\nobservations: []", "line 1, name: missing"),
    ("name: 3\nabout: a", "line 1, name: not a text: 3"),
    ("name: a b\nabout: a\nobservations: [[1, 2]]", "line 1, name: a name begins with a letter"),
    ("name: examples\nabout: a\nobservations: [[1, 2]]", "'examples' is a task of Peirce"),
    ("name: t\nabout: a", "pairs stand under one of observations, problems, data; there are none"),
    (SHORT + "data: x.csv", "there are both observations and data"),
    (SHORT.replace("[[1, 2], [3, 4]]", "[]"), "line 3, observations: no pair is shown"),
    (SHORT.replace("[3, 4]", "[3]"), "line 3, observations[1]: neither [input, output] nor"),
    (SHORT.replace("[3, 4]", "{input: 3}"), "observations[1].output: missing"),
    (SHORT.replace("[3, 4]", "{in: 3}"), "observations[1].in: no such key; there are input, output"),
    (SHORT.replace("3,", ".inf,"), "observations[1][0]: not a finite number: .inf"),
    (SHORT.replace("3,", "1e999,"), "not a finite number"),
    (SHORT.replace("3,", "{1: 2},"), "a key must be text: 1; put it in quotes"),
    (SHORT.replace("3,", '"\\uD800",'), "half a character"),
    (SHORT + "hidden: 3", "line 4, hidden: not a list of pairs: 3"),
    ("name: t\nabout: a\nproblems: {p: {observation: []}}", "problems.p.observation: no such key"),
    ("name: t\nabout: a\nproblems: []", "problems: not a mapping of ids"),
    ("name: t\nabout: a\nproblems: {p: {observations: [[1, 2]]}}\nhidden: []", "line 4, hidden: it"),
    ("name: t\nabout: a\ndata: no.csv", "line 3, data: "),
    (SHORT + "instructions: [a]", "line 4, instructions: not a text"),
    (SHORT + "pair: '{input.x}'", "line 4, pair: beside plain text it takes {number}"),
    (SHORT + "pair: '{input[a]}'", "line 4, pair: {input[a]} is not in the pair 't', obs"),
    (SHORT + "pair: hello", "line 4, pair: it shows neither input nor output"),
    (SHORT + "equality: {numbers: {decimal: 1}}", "line 4, equality.numbers.decimal: no such key"),
    (SHORT + "equality: {numbers: {decimals: 1.5}}", "decimals: not a whole number from -12 to 15"),
    (SHORT + "equality: {numbers: {nearest: 0}}", "nearest: not a number from 1e-12"),
    (SHORT + "equality: {numbers: {nearest: 1, decimals: 1}}", "numbers: one of decimals"),
    (SHORT + "equality: {strings: {ignore: [cases]}}", "ignore[0]: neither case nor blanks: cases"),
    (SHORT + "equality: {lists: {ignore: all}}", "ignore: neither order nor repeats: all"),
    (SHORT + "equality: close", "line 4, equality: not a mapping of numbers, strings, lists"),
    (SPACE + "  input: []", "line 5, sample_space.input: no such key; did you mean inputs?"),
    (SPACE + "  seed: 1", "it has one of the keys inputs, file, generate"),
    (SPACE + "  inputs: []", "line 5, sample_space.inputs: not a list of inputs"),
    (SPACE + "  inputs: [1]\n  count: 3", "line 6, sample_space.count: it goes with generate"),
    (SPACE + "  file: no.jsonl", "line 5, sample_space.file: "),
    (SPACE + "  generate: {rang: [1, 2]}", "line 5, sample_space.generate.rang: no such key; did"),
    (SPACE + "  generate: {step: 2}", "a generator has one of the keys range"),
    (SPACE + "  generate: {range: [2, 1]}", "a range is [lowest, highest]"),
    (SPACE + "  generate: {range: [1, 2], step: 0}", "generate.step: not a number above 0: 0"),
    (SPACE + "  generate: {range: [1, 2], length: 1}", "length: no key of a generator by range"),
    (SPACE + "  generate: {range: [0, 1], step: 1.0e-300}", "a range of over"),
    (SPACE + "  generate: {list: {range: [1, 2]}}", "generate.length: a length is N or [N, N]"),
    (SPACE + "  generate: {text: '', length: 1}", "generate.text: not the characters of a text"),
    (SPACE + "  generate: {choices: []}", "not a list with anything in it"),
    (SPACE + "  generate: {range: [1, 2]}\n  count: 1.5", "count: not a whole number from 1"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: x ** 2", "weights: Pow is not known"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: open(x)", "weights: open(x) is not known"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: x.real", "weights: x.real is not known"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: 1 / (x - 1)", "ZeroDivisionError for the inp"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: 1 - x", "from 0, not -1 for the input 2"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: x * 0", "no input weighs anything"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: '\"a\" * 9'", "arithmetic is of numbers"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: '1 +'", "weights: not an expression"),
    (SPACE + "  inputs: [1, 2]\n  weights: [1]", "a number for each input: 1 for 2"),
    (SPACE + "  inputs: [1, 2]\n  weights: [1, a]", "weights[1]: a weight is a number from 0, not a"),
    (SPACE + "  inputs: [1, 2,\n   1.0]\n  weights: [1, 1, 2]", "line 6, sample_space.inputs[2]: the input 1.0 stands there twice with different weights, 1 and 2"),
    ("a: &x [1]\nb: *x", "line 1: &x: anchors and aliases are not taken"),
    ("a: !!python/object:os.system x", "line 1: the tag "),
    ("a: !!binary aaaa", "line 1: the tag "),
    ("a: 1\n---\nb: 2", "line 2: expected a single document"),
    ("a: [1, 2", "expected ',' or ']'"),
    ("a: " + "[" * 60 + "]" * 60, "line 1: nested deeper than 50"),
    ("a: \x07", "line 1: a character that YAML does not take"),
    ("a: " + "9" * 5000, "line 1, a: an integer of 5,000 digits"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_in_yaml_gets_one_sentence_with_file_line_and_key(tmp_path, text, said):
    path = write(tmp_path, text)
    with pytest.raises(DataError) as error:
        tasks.load_problems(path)
    sentence = str(error.value)
    assert sentence.startswith(path) and said in sentence and "\n" not in sentence


def test_a_bomb_of_aliases_is_refused_at_once(tmp_path):
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    with pytest.raises(DataError, match="line 1: &a0: anchors"):
        load(tmp_path, "\n".join(lines))


def test_a_large_file_is_refused_unread(tmp_path):
    with pytest.raises(DataError, match="larger than 1,000,000 bytes: put the pairs"):
        load(tmp_path, "a: '" + "x" * 1_000_000 + "'")


def test_what_is_no_utf_8_is_named_with_its_line(tmp_path):
    (tmp_path / "t.yaml").write_bytes(b"name: t\nabout: \xff\n")
    with pytest.raises(DataError, match=r"t\.yaml, line 2: not UTF-8 text"):
        tasks.task(str(tmp_path / "t.yaml"))


def test_outputs_that_the_rule_rounds_are_told(tmp_path):
    with pytest.warns(DataWarning, match=r"1 of 2 outputs are rounded .* such as 2\.5"):
        load(tmp_path, SHORT.replace("4]", "2.5]") + "equality: {numbers: {decimals: 0}}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(tmp_path, SHORT.replace("4]", "2.5]") + "equality: {numbers: {nearest: 0.5}}\n")


def test_a_path_names_its_neighbours_where_it_is_wrong(tmp_path):
    path = write(tmp_path, SHORT)
    with pytest.raises(UsageError, match=r"no such file; did you mean t\.yaml"):
        tasks.task(path.replace("t.yaml", "tt.yaml"))
    with pytest.raises(UsageError, match=r"name ends in \.yaml, \.yml, \.py"):
        tasks.task(write(tmp_path, SHORT, "t.txt"))
    with pytest.raises(UsageError, match="no task 'lst_functions'; did you mean list_functions"):
        tasks.task("lst_functions")


# --- words ---------------------------------------------------------------------------


def test_a_template_names_no_attribute_of_anything():
    pair = Observation({"a": [1, 2]}, "text")
    assert shown("{input[a][-1]} {output} {number}", 3, pair) == "2 'text' 3"
    for template in ("{input.__class__}", "{input[__class__]}", "{0}", "{input!r}", "{output[0]}"):
        assert shown(template, 3, pair) == template


def test_each_rule_is_said_in_a_sentence():
    rule = {
        "numbers": {"significant": 3}, "strings": {"ignore": ["case", "blanks"]},
        "lists": {"ignore": "repeats", "at": "everywhere"},
    }  # fmt: skip
    assert equality_said(rule) == (
        "Before outputs are compared, numbers are rounded to 3 significant digits; in texts the case"
        " of letters and blanks that lead, end or repeat do not count; the order of lists at every"
        " depth and how often an element stands in it does not count."
    )


def test_own_words_answer_as_the_family_s_do(tmp_path):
    ((problem, space),) = load(tmp_path, WHOLE)
    own, family = tasks.family_of(problem).words, tasks.family("programs").words
    assert isinstance(own, OwnWords)
    agreement = Agreement((True, True), ({"value": 0.4}, {"value": 0.8}))
    view = problem.view(space)
    assert own.show_feedback(view, agreement) == family.show_feedback(view, agreement)
    for form in tasks.family("programs").answer_formats:
        assert own.contract(form) == family.contract(form)
        assert own.schema(form) == family.schema(form)


# --- Python ---------------------------------------------------------------------------


def test_a_python_file_is_a_task_with_what_it_defines(tmp_path):
    loaded = load(tmp_path, PYTHON, "own.py", problems=2, seed=5)
    assert [problem.id for problem, _ in loaded] == ["5-0", "5-1"]
    problem, space = loaded[0]
    assert (problem.task, problem.family, problem.group) == ("own", "programs", "5-0")
    assert problem.shown == (Observation([1, 2], 3),)  # tuples are JSON's lists
    assert space.inputs == ([1], [2, 3]) and space.weights == (1.0, 2.5)


def test_its_words_its_rule_and_its_marks_stand_in_the_problem(tmp_path):
    more = """
    about = "a task"
    instructions = "Add."
    pair = "{input} gives {output}"
    equality = {"numbers": {"nearest": 1}}

    def judgeable(self, observation):
        return observation.output != 4
"""
    text = textwrap.dedent(PYTHON).replace('    about = "a task"\n', more)
    ((problem, _),) = load(tmp_path, text, "own.py", problems=1)
    assert problem.public["equality"] == {"numbers": {"nearest": 1}}
    assert problem.public["instructions"] == "Add."
    assert tasks.judgeable(problem) == (False,)  # without the file, from what the store keeps
    assert Problem.from_json(json.loads(json.dumps(problem.as_json()))) == problem


def test_its_problems_may_be_fixed_and_its_data_be_pairs(tmp_path):
    text = textwrap.dedent(PYTHON).replace("def generate(self, count, seed)", "def problems(self)")
    text = text.replace('f"{seed}-{i}"', "str(i)").replace("range(count)", "range(20)")
    assert len(load(tmp_path, text, "own.py")) == 20
    (tmp_path / "d.csv").write_text("problem,input,output\np,[1],2\n")
    ((problem, _),) = load(tmp_path, text, "own.py", data=str(tmp_path / "d.csv"))
    assert problem.id == "p" and problem.task == "own"


def test_it_may_read_a_folder_of_its_own(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.txt").write_text("3")
    text = textwrap.dedent(PYTHON).replace(
        "    def space",
        "    def load(self, path, observations, seed):\n"
        "        return [self.problem((__import__('pathlib').Path(path) / 'a.txt').read_text())]\n\n"
        "    def space",
    )
    path = write(tmp_path, text, "own.py")
    chosen = choose(path, data=folder)
    assert [problem.id for problem in chosen.problems] == ["3"]
    assert chosen.sources["data"]["name"] == "data"
    assert chosen.sources["task_file"]["name"] == "own.py"


def test_what_it_prints_is_no_data(tmp_path, capsys):
    text = textwrap.dedent(PYTHON).replace("class Own", 'print("hello")\nclass Own')
    load(tmp_path, text, "own.py", problems=1)
    out, err = capsys.readouterr()
    assert out == "" and err == "hello\n"


def test_nothing_is_written_beside_it(tmp_path):
    load(tmp_path, PYTHON, "own.py", problems=1)
    assert [path.name for path in tmp_path.iterdir()] == ["own.py"]


PYTHON_MISTAKES = [
    ("def f(:", "", "line 1, loading the module: SyntaxError: invalid syntax"),
    ("import nosuch", "", "line 1, loading the module: ModuleNotFoundError: No module named 'nosuch'"),
    ("raise SystemExit(3)", "", "line 1, loading the module: SystemExit: 3"),
    ("x = 1", "", "it defines no TASK"),
    ("class T:\n    pass\nTASK = T", "", "line 3, TASK: a class, where an object is needed: TASK = T()"),
    ("TASK = Own()", "TASK = Own()\nFAMILY = 1", "a task file brings no FAMILY"),
    ('    name = "own"\n', "", "line 4, TASK.name: not a text: missing"),
    ('name = "own"', 'name = "list_functions"', "line 5, TASK.name: 'list_functions' is a task of"),
    ('about = "a task"', "about = 3", "line 6, TASK.about: not a text: 3"),
    ('about = "a task"', 'about = ""; family = "logic"', "TASK.family: it must be 'programs': logic"),
    ('about = "a task"', 'about = ""; equality = {"number": 1}', "TASK.equality.number: no such key"),
    ('about = "a task"', 'about = ""; pair = "{x}"', "TASK.pair: beside plain text it takes"),
    ('about = "a task"', 'about = ""; observe = 3', "TASK.observe: not a method: 3"),
    ("def generate", "def make", "it has none of the methods generate, problems, load"),
    ("for i in range(count)]", "for i in range(count / 0)]", "line 9, TASK.generate: ZeroDivisionError: division by zero"),
    ("def generate(self, count, seed)", "def generate(self, count)", "line 8, TASK.generate: TypeError"),
    ('return [self.problem(f"{seed}-{i}") for i in range(count)]', "return 3", "line 8, TASK.generate: it must return a list of records.Problem with anything in it, not int: 3"),
    ('f"{seed}-{i}"', '"p"', "TASK.generate, problem 1: the id 'p' stands there twice"),
    ('f"{seed}-{i}"', "i", "problem 0, id: not a text: 0"),
    ("[self.problem(", "[str(", "problem 0: not a records.Problem: "),
    ("pairs[:1], pairs[1:]", "(), pairs", "problem 0, shown: not a tuple of Observation: ()"),
    ("pairs[:1], pairs[1:]", "([1, 2],)", "shown[0]: not a records.Observation: [1, 2]"),
    ('"?", "programs"', '"?", "text"', "problem 0, family: it must be 'programs': text"),
    ("([1], [2, 3])", "([1], (True,))", "inputs[1]: the input [True] stands there twice with different"),
    ("Observation([4], 4)", "Observation({4}, 4)", "hidden[0].input: a value that JSON cannot hold"),
    ("Observation([4], 4)", 'Observation([4], float("nan"))', "hidden[0].output: nan is not a finite"),
    ("Observation([4], 4)", 'Observation([4], "\\ud800")', "a value that JSON cannot hold"),
    ('InputSet("S", ([1], [2, 3]), (1, 2.5))', "[1, 2]", "line 15, TASK.space: it must return a records.InputSet, not list"),
    ("(1, 2.5)", "(1,)", "line 15, TASK.space: it must return a weight for each of its 2 inputs"),
    ("(1, 2.5)", "(1, -2)", "weights[1]: a weight is a number from 0, not -2"),
    ("(1, 2.5)", "(0, 0)", "no input weighs anything"),
    ("([1], [2, 3])", "()", "it must return an InputSet with inputs in it"),
    ("([1], [2, 3])", "([1], {2, 3})", "inputs[1]: a value that JSON cannot hold"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "said"), PYTHON_MISTAKES, ids=range(len(PYTHON_MISTAKES)))
def test_a_mistake_in_python_gets_one_sentence_with_file_and_line(tmp_path, old, new, said):
    whole = textwrap.dedent(PYTHON)
    text = whole.replace(old, new) if old in whole else old
    path = write(tmp_path, text, "own.py")
    with pytest.raises(PeirceError) as error:
        tasks.load_problems(path, problems=2)
    sentence = str(error.value)
    assert sentence.startswith(path) and said in sentence and "\n" not in sentence


def test_a_bug_keeps_its_traceback_for_who_calls_from_python(tmp_path):
    text = textwrap.dedent(PYTHON).replace("range(count)", "range(count / 0)")
    with pytest.raises(DataError) as error:
        load(tmp_path, text, "own.py")
    assert isinstance(error.value.__cause__, ZeroDivisionError)
