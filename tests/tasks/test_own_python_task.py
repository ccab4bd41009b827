"""A user's own task of one Python file: what it defines, and its mistakes, each in one sentence."""

from __future__ import annotations

import json
import textwrap

import peirce
import pytest
from own_files import PYTHON, load, write
from peirce import tasks
from peirce.agents.scripted import ScriptedProposer
from peirce.records import (
    DataError,
    Observation,
    PeirceError,
    Problem,
)

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
    assert tasks.judgeable_pairs(problem) == (False,)  # without the file, from what the store keeps
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
    session = peirce.run(
        path, data=folder, model=ScriptedProposer([]), store=tmp_path / "s.duckdb", workers=1
    )
    trace = peirce.load(session.session, store=session.store)
    assert [problem.id for problem in trace.problems] == ["3"]
    assert trace.settings["operational"]["data"]["name"] == "data"
    assert trace.settings["operational"]["task_file"]["name"] == "own.py"


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
    ("x = 1", "", "the module must define TASK"),
    ("class T:\n    pass\nTASK = T", "", "line 3, TASK: must be an object, not a class; write TASK = T()"),
    ("TASK = Own()", "TASK = Own()\nFAMILY = 1", "a task file cannot define FAMILY"),
    ('    name = "own"\n', "", "line 4, TASK.name: missing"),
    ('name = "own"', 'name = "list_functions"', "line 5, TASK.name: 'list_functions' is the name of a task of"),
    ('about = "a task"', "about = 3", "line 6, TASK.about: must be a text, not 3"),
    ('about = "a task"', 'about = ""; family = "logic"', "TASK.family: must be 'programs', not logic"),
    ('about = "a task"', 'about = ""; equality = {"number": 1}', "TASK.equality.number: unknown key"),
    ('about = "a task"', 'about = ""; pair = "{x}"', "TASK.pair: besides plain text it may contain only"),
    ('about = "a task"', 'about = ""; observe = 3', "TASK.observe: must be a method, not 3"),
    ("def generate", "def make", "needs one of the methods generate, problems and load"),
    ("for i in range(count)]", "for i in range(count / 0)]", "line 9, TASK.generate: ZeroDivisionError: division by zero"),
    ("def generate(self, count, seed)", "def generate(self, count)", "line 8, TASK.generate: TypeError"),
    ('return [self.problem(f"{seed}-{i}") for i in range(count)]', "return 3", "line 8, TASK.generate: it must return a nonempty list of records.Problem, not int: 3"),
    ('f"{seed}-{i}"', '"p"', "TASK.generate, problem 1: the id 'p' occurs twice"),
    ('f"{seed}-{i}"', "i", "problem 0, id: must be a text, not 0"),
    ("[self.problem(", "[str(", "problem 0: must be a records.Problem, not "),
    ("pairs[:1], pairs[1:]", "(), pairs", "problem 0, shown: must be a tuple of Observation, not ()"),
    ("pairs[:1], pairs[1:]", "([1, 2],)", "shown[0]: must be a records.Observation, not [1, 2]"),
    ('"?", "programs"', '"?", "text"', "problem 0, family: must be 'programs', not text"),
    ("([1], [2, 3])", "([1], (True,))", "inputs[1]: the input [True] occurs twice with different"),
    ("Observation([4], 4)", "Observation({4}, 4)", "hidden[0].input: JSON cannot represent the value"),
    ("Observation([4], 4)", 'Observation([4], float("nan"))', "hidden[0].output: nan is not a finite"),
    ("Observation([4], 4)", 'Observation([4], "\\ud800")', "JSON cannot represent the value"),
    ('InputSet("S", ([1], [2, 3]), (1, 2.5))', "[1, 2]", "line 15, TASK.space: it must return a records.InputSet, not list"),
    ("(1, 2.5)", "(1,)", "line 15, TASK.space: it must return a weight for each of its 2 inputs"),
    ("(1, 2.5)", "(1, -2)", "weights[1]: a weight must be a number of at least 0, not -2"),
    ("(1, 2.5)", "(0, 0)", "all weights are 0"),
    ("([1], [2, 3])", "()", "it must return a nonempty InputSet"),
    ("([1], [2, 3])", "([1], {2, 3})", "inputs[1]: JSON cannot represent the value"),
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
