"""How much of a prompt repeats the beginning of the prompt before it, for each family.

An endpoint caches the beginning of a prompt, up to the first character that differs. So everything
that a problem's prompts share comes first, and the request comes last.

Internals: prompts are built from a problem and made-up answers, without a session that sends them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from peirce.agents.prompts.protocol import HISTORIES, build_messages
from peirce.agents.prompts.text import DEFAULT_PROMPTS
from peirce.records import Hypothesis, InputSet, Oracles, PastAnswer, Verdict
from peirce.tasks import load_task, problem_family

TASKS = {"programs": "list_functions", "logic": "abd", "text": "labels", "laws": "laws"}
TURNS = 12
NO_SPACE = InputSet("none", ())


@pytest.fixture(scope="module", params=sorted(TASKS))
def problems(request):
    """Two problems of one family's task."""
    return load_task(TASKS[request.param]).generate(2, 0)


def past_answers(count, feedback):
    """Answers of every verdict in turn; malformed ones have no hypothesis."""
    verdicts = (Verdict.ACCEPTED, Verdict.INCONSISTENT, Verdict.MALFORMED, Verdict.REDUNDANT)
    return tuple(
        PastAnswer(
            f"answer {n}",
            () if verdict is Verdict.MALFORMED else (Hypothesis(f"text {n}", f"meaning {n}"),),
            verdict,
            f"comment {n}" if feedback and verdict is Verdict.INCONSISTENT else "",
        )
        for n in range(count)
        for verdict in (verdicts[n % 4],)
    )


def write(messages):
    """The text of a request, in the order in which a chat template writes it."""
    return "".join(f"\n<{one['role']}>\n{one['content']}" for one in messages)


def prompts(problem, **style):
    """The prompts of a problem's first answers."""
    family, feedback = problem_family(problem), style.get("aim") == "better"
    view = problem.make_view(NO_SPACE, ())
    return [
        write(
            build_messages(
                replace(view, past_answers=past_answers(n, feedback)), family.words,
                answer_format=family.answer_formats[0], **style,
            )
        )
        for n in range(TURNS)
    ]  # fmt: skip


def shared(before, after):
    """The number of characters at the beginning of both."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(before), len(after)))


@pytest.mark.parametrize("aim", ["another", "better"])
@pytest.mark.parametrize("tools", [False, True])
@pytest.mark.parametrize("template", ["full", "compact"])
def test_a_chat_prompt_begins_with_the_whole_prompt_before(problems, template, tools, aim):
    for problem in problems:
        found = prompts(problem, history="chat", template=template, tools=tools, aim=aim)
        assert all(after.startswith(before) for before, after in pairwise(found))


@pytest.mark.parametrize("aim", ["another", "better"])
@pytest.mark.parametrize("tools", [False, True])
def test_a_list_of_descriptions_repeats_all_of_a_prompt_but_its_request(problems, tools, aim):
    for problem in problems:
        found = prompts(problem, history="descriptions", tools=tools, aim=aim)
        # The paragraphs that differ: the number of unreadable answers, and the request itself.
        for before, after in pairwise(found[2:]):
            tail = before[shared(before, after) :]
            lines = [one for one in tail.split("\n\n") if one.strip()]
            assert len(lines) <= 4 + tools, tail
            assert "Observations:" not in tail and "meaning" not in tail
        shares = [shared(a, b) / len(a) for a, b in pairwise(found)]
        assert min(shares) > 0.65


@pytest.mark.parametrize("history", HISTORIES)
def test_the_problems_of_a_task_begin_with_what_they_share(problems, history):
    one, other = problems
    family = problem_family(one)
    first = [prompts(problem, history=history)[0] for problem in problems]
    words = problem_family(one).words, problem_family(other).words
    together = shared(words[0].instructions, words[1].instructions)
    assert shared(*first) >= together > 250
    if words[0].instructions == words[1].instructions:  # then the contract is shared too
        contract = words[0].contract(family.answer_formats[0])
        assert shared(*first) >= together + len(contract)


def test_the_tools_of_a_problem_are_the_same_in_each_request(problems):
    for problem in problems:
        family = problem_family(problem)
        view = problem.make_view(NO_SPACE, ())
        written = {
            repr([
                (tool.name, tool.description, tool.args_schema.model_json_schema())
                for tool in family.make_tools(replace(view, past_answers=past_answers(n, True)), Oracles())
            ])
            for n in range(TURNS)
        }  # fmt: skip
        assert len(written) == 1


def test_a_judge_s_prompts_of_one_sentence_differ_from_the_row_on():
    (problem,) = load_task("labels").generate(1, 0)
    view = problem.make_view(NO_SPACE, ())
    rows = [one.input for one in problem.shown[:6]]
    for ask in (
        lambda row: DEFAULT_PROMPTS.infer(view, "sentence", row),
        lambda row: DEFAULT_PROMPTS.infer_many(view, ["one", "two"], row),
        lambda row: DEFAULT_PROMPTS.judge_relevance(view, "sentence", row),
        lambda row: DEFAULT_PROMPTS.label_directly(view, problem.shown[:3], row),
    ):
        found = [write(ask(row)) for row in rows]
        assert shared(found[0], found[1]) >= found[0].rindex("Input:")
