"""A user's own task file: what it becomes, and the one sentence that a mistake in it gets.

Internals: the words of a task are made of single options of its file.
"""

from __future__ import annotations

import asyncio
import warnings

import pytest
from own_files import SHORT, WHOLE, load, write
from peirce import tasks
from peirce.records import (
    Agreement,
    DataError,
    Hypothesis,
    Limits,
    Observation,
    Oracles,
    UsageError,
)
from peirce.sandbox import open_sandbox
from peirce.tasks import DataWarning
from peirce.tasks.custom.words import OwnWords, describe_equality, format_pair
from peirce.tools.execute import build_executor

# --- YAML: what it becomes -----------------------------------------------------------


def test_a_yaml_file_is_a_task_with_space_weights_words_and_equality(tmp_path):
    ((problem, space),) = load(tmp_path, WHOLE)
    assert (problem.id, problem.task, problem.family) == ("gauge", "gauge", "programs")
    assert problem.shown[1] == Observation({"cm": 2}, 0.8) and len(problem.hidden) == 1
    assert problem.public["equality"] == {"numbers": {"decimals": 1}}
    assert space.inputs == tuple({"cm": n} for n in range(10))
    assert space.weights == (1.0,) * 5 + (2.0,) * 5


def test_the_rule_holds_for_shown_pairs_and_for_the_space(tmp_path):
    ((problem, space),) = load(tmp_path, WHOLE)
    family = tasks.problem_family(problem)
    near, off = (
        Hypothesis(f"def f(x):\n    return 0.4 * x['cm'] + {more}", meta={"entry": "f"})
        for more in (0.04, 0.06)
    )
    exact = Hypothesis("def f(x):\n    return 0.4 * x['cm']", meta={"entry": "f"})

    async def ask():
        sandbox = await open_sandbox("process", 1)
        try:
            oracles = Oracles(execute=build_executor(sandbox, Limits()))
            view = problem.make_view(space)
            agreed = [
                await family.measure_agreement(h, problem.shown, view, oracles) for h in (near, off)
            ]
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
    assert (
        problem.public == {}
        and tasks.problem_family(problem).words is tasks.load_family("programs").words
    )


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
    beside = tasks.load_task(path).task_file["beside"]
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


# --- YAML: mistakes --------------------------------------------------------------------

SPACE = SHORT + "sample_space:\n"

MISTAKES = [
    ("", "the file is empty"),
    ("- 1", "line 1: must be a mapping with keys from name, about"),
    ("name: t\nabout: a\nobservatons: []", "line 3, observatons: unknown key; did you mean obs"),
    ("name: t\nname: u", "line 2, name: occurs twice, first in line 1"),
    ("about: a\nobservations: []", "line 1, name: missing"),
    ("name: 3\nabout: a", "line 1, name: must be a text, not 3"),
    ("name: a b\nabout: a\nobservations: [[1, 2]]", "line 1, name: a name must begin with a letter"),
    ("name: examples\nabout: a\nobservations: [[1, 2]]", "'examples' is the name of a task of Peirce"),
    ("name: t\nabout: a", "pairs must be under one of observations, problems and data, not under none"),
    (SHORT + "data: x.csv", "not under observations and data"),
    (SHORT.replace("[[1, 2], [3, 4]]", "[]"), "line 3, observations: must contain at least one pair"),
    (SHORT.replace("[3, 4]", "[3]"), "line 3, observations[1]: must be [input, output] or"),
    (SHORT.replace("[3, 4]", "{input: 3}"), "observations[1].output: missing"),
    (SHORT.replace("[3, 4]", "{in: 3}"), "observations[1].in: unknown key; valid choices are input, output"),
    (SHORT.replace("3,", ".inf,"), "observations[1][0]: must be a finite number, not .inf"),
    (SHORT.replace("3,", "1e999,"), "must be a finite number"),
    (SHORT.replace("3,", "{1: 2},"), "a key must be text, not 1; put it in quotes"),
    (SHORT.replace("3,", '"\\uD800",'), "half a character"),
    (SHORT + "hidden: 3", "line 4, hidden: must be a list of pairs, not 3"),
    ("name: t\nabout: a\nproblems: {p: {observation: []}}", "problems.p.observation: unknown key"),
    ("name: t\nabout: a\nproblems: []", "problems: must be a mapping of ids"),
    ("name: t\nabout: a\nproblems: {p: {observations: [[1, 2]]}}\nhidden: []", "line 4, hidden: needs observations, but the file has problems"),
    ("name: t\nabout: a\ndata: no.csv", "line 3, data: "),
    (SHORT + "instructions: [a]", "line 4, instructions: must be a text"),
    (SHORT + "pair: '{input.x}'", "line 4, pair: besides plain text it may contain only {number}"),
    (SHORT + "pair: '{input[a]}'", "line 4, pair: {input[a]} does not exist in the pair 't', obs"),
    (SHORT + "pair: hello", "line 4, pair: it shows neither input nor output"),
    (SHORT + "equality: {numbers: {decimal: 1}}", "line 4, equality.numbers.decimal: unknown key"),
    (SHORT + "equality: {numbers: {decimals: 1.5}}", "decimals: must be a whole number from -12 to 15"),
    (SHORT + "equality: {numbers: {nearest: 0}}", "nearest: must be a number from 1e-12"),
    (SHORT + "equality: {numbers: {nearest: 1, decimals: 1}}", "numbers: must have one of the keys decimals"),
    (SHORT + "equality: {strings: {ignore: [cases]}}", "ignore[0]: must be case or blanks, not cases"),
    (SHORT + "equality: {lists: {ignore: all}}", "ignore: must be order or repeats, not all"),
    (SHORT + "equality: close", "line 4, equality: must be a mapping with keys from numbers, strings, lists"),
    (SPACE + "  input: []", "line 5, sample_space.input: unknown key; did you mean inputs?"),
    (SPACE + "  seed: 1", "must have exactly one of the keys inputs, file and generate"),
    (SPACE + "  inputs: []", "line 5, sample_space.inputs: must be a list of inputs"),
    (SPACE + "  inputs: [1]\n  count: 3", "line 6, sample_space.count: needs generate, but the sample space has inputs"),
    (SPACE + "  file: no.jsonl", "line 5, sample_space.file: "),
    (SPACE + "  generate: {rang: [1, 2]}", "line 5, sample_space.generate.rang: unknown key; did"),
    (SPACE + "  generate: {step: 2}", "a generator must have exactly one of the keys range"),
    (SPACE + "  generate: {range: [2, 1]}", "a range must be [lowest, highest]"),
    (SPACE + "  generate: {range: [1, 2], step: 0}", "generate.step: must be a number above 0, not 0"),
    (SPACE + "  generate: {range: [1, 2], length: 1}", "length: a generator with the key range does not take this key"),
    (SPACE + "  generate: {range: [0, 1], step: 1.0e-300}", "a range must have at most"),
    (SPACE + "  generate: {list: {range: [1, 2]}}", "generate.length: a length must be N or [N, N]"),
    (SPACE + "  generate: {text: '', length: 1}", "generate.text: must be a text with the allowed characters, not "),
    (SPACE + "  generate: {choices: []}", "must be a nonempty list, not []"),
    (SPACE + "  generate: {range: [1, 2]}\n  count: 1.5", "count: must be a whole number from 1"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: x ** 2", "weights: an expression cannot contain Pow"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: open(x)", "weights: an expression cannot contain open(x)"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: x.real", "weights: an expression cannot contain x.real"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: 1 / (x - 1)", "ZeroDivisionError for the inp"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: 1 - x", "of at least 0, not -1 for the input 2"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: x * 0", "all weights are 0"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: '\"a\" * 9'", "arithmetic needs numbers"),
    (SPACE + "  generate: {range: [1, 2]}\n  weights: '1 +'", "weights: the expression is not valid"),
    (SPACE + "  inputs: [1, 2]\n  weights: [1]", "a list of 2 numbers, one for each input, not a list of 1"),
    (SPACE + "  inputs: [1, 2]\n  weights: [1, a]", "weights[1]: a weight must be a number of at least 0, not a"),
    (SPACE + "  inputs: [1, 2,\n   1.0]\n  weights: [1, 1, 2]", "line 6, sample_space.inputs[2]: the input 1.0 occurs twice with different weights, 1 and 2"),
    ("a: &x [1]\nb: *x", "line 1: &x: anchors and aliases are not supported"),
    ("a: !!python/object:os.system x", "line 1: the tag "),
    ("a: !!binary aaaa", "line 1: the tag "),
    ("a: 1\n---\nb: 2", "line 2: not YAML: expected a single document"),
    ("a: [1, 2", "expected ',' or ']'"),
    ("a: " + "[" * 60 + "]" * 60, "line 1: the value is nested deeper than 50"),
    ("a: \x07", "line 1: the file has a character that YAML does not allow"),
    ("a: " + "9" * 5000, "line 1, a: an integer of 5,000 digits is too long"),
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
        tasks.load_task(str(tmp_path / "t.yaml"))


def test_outputs_that_the_rule_rounds_are_told(tmp_path):
    with pytest.warns(DataWarning, match=r"1 of 2 outputs are rounded .* such as 2\.5"):
        load(tmp_path, SHORT.replace("4]", "2.5]") + "equality: {numbers: {decimals: 0}}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(tmp_path, SHORT.replace("4]", "2.5]") + "equality: {numbers: {nearest: 0.5}}\n")


def test_a_path_names_its_neighbours_where_it_is_wrong(tmp_path):
    path = write(tmp_path, SHORT)
    with pytest.raises(UsageError, match=r"no such file; did you mean t\.yaml"):
        tasks.load_task(path.replace("t.yaml", "tt.yaml"))
    with pytest.raises(UsageError, match="a data file, but a task is required"):
        tasks.load_task(write(tmp_path, SHORT, "t.txt"))
    with pytest.raises(UsageError, match="no task 'lst_functions'; did you mean list_functions"):
        tasks.load_task("lst_functions")


# --- words ---------------------------------------------------------------------------


def test_a_template_names_no_attribute_of_anything():
    pair = Observation({"a": [1, 2]}, "text")
    assert format_pair("{input[a][-1]} {output} {number}", 3, pair) == "2 'text' 3"
    for template in ("{input.__class__}", "{input[__class__]}", "{0}", "{input!r}", "{output[0]}"):
        assert format_pair(template, 3, pair) == template


def test_each_rule_is_said_in_a_sentence():
    rule = {
        "numbers": {"significant": 3}, "strings": {"ignore": ["case", "blanks"]},
        "lists": {"ignore": "repeats", "at": "everywhere"},
    }  # fmt: skip
    assert describe_equality(rule) == (
        "Before outputs are compared, numbers are rounded to 3 significant digits; in texts the case"
        " of letters and blanks that lead, end or repeat do not count; the order of lists at every"
        " depth and how often an element stands in it does not count."
    )


def test_own_words_answer_as_the_family_s_do(tmp_path):
    ((problem, space),) = load(tmp_path, WHOLE)
    own, family = tasks.problem_family(problem).words, tasks.load_family("programs").words
    assert isinstance(own, OwnWords)
    agreement = Agreement((True, True), ({"value": 0.4}, {"value": 0.8}))
    view = problem.make_view(space)
    assert own.show_feedback(view, agreement) == family.show_feedback(view, agreement)
    for form in tasks.load_family("programs").answer_formats:
        assert own.contract(form) == family.contract(form)
        assert own.schema(form) == family.schema(form)
