"""Checks that published prompt templates are rendered as their authors meant them: roles, blocks,
snippets, values with `$`; that roles a config lacks are asked in this project's words; and that a
template that cannot be filled is named before anything is asked.

Internals: templates are rendered for every role, and a session asks only some of the roles.
"""

from types import SimpleNamespace

import pytest
import yaml
from peirce.agents.prompts.config_prompts import ROLES, ConfigPrompts
from peirce.agents.prompts.text import DEFAULT_PROMPTS
from peirce.records import DataError, InputSet, Observation, View

CONFIG = """
lead_in: "Cases already decided:\\n"
observations:
  prefix: "BEGIN\\n"
  multi_content: |
    Case ${idx}: ${message} (basket $basket) -> ${outcome}
  suffix: "END\\n"
relevant_papers:
  multi_content: "${title}: ${summary}\\n"
adaptive_info_prompt:
  multi_content: |
    Pattern ${idx}: ${hypothesis_text}
    ${observations}
batched_generation:
  system: You find patterns.
  user: "${lead_in}${observations}Write ${num_hypotheses} for $5."
batched_generation_with_paper:
  system: ""
  user: "${relevant_papers}${observations}${num_hypotheses}"
inference:
  system: Apply the pattern.
  user: "Pattern: ${hypothesis}\\nCase: ${message} (basket ${basket})"
multiple_hypotheses_inference:
  user: "${hypotheses}\\n${message}"
adaptive_selection:
  user: "${adaptive_info_prompt}New: ${message}"
few_shot_baseline:
  user: "${observations}New: ${message}"
IO_refine_with_feedback:
  system:
  user: "${hypothesis_text}|${observations}|${num_hypotheses}"
check_hypothesis_pair_repetition:
  user: "${hypotheses}"
summarize_paper: "${title}|${paper_text}"
"""
PUBLIC = {
    "labels": ["granted", "refused"],
    "label_name": "outcome",
    "columns": {"message": {"kind": "text"}, "basket": {"kind": "number"}},
    "shape": "fields",
}
ROWS = (
    Observation({"message": "late", "basket": 3}, "granted"),
    Observation({"message": "costs $basket", "basket": True}, "refused"),
)
PAPERS = (SimpleNamespace(title="T", summary="S", source="f", text="X"),)
OBSERVED = (
    "BEGIN\nCase 1: late (basket 3) -> granted\n"
    "Case 2: costs $basket (basket True) -> refused\nEND\n"
)


def templates(**changes):
    return {**yaml.safe_load(CONFIG), **changes}


def view(rows=ROWS, **changes):
    return View("p", "labels", "text", rows, {**PUBLIC, **changes}, InputSet("S", ()))


def prompts():
    return ConfigPrompts.for_problem({**PUBLIC, "templates": templates()})


def test_messages_stand_in_their_roles_with_blocks_and_snippets_filled():
    assert prompts().propose(view(), 4) == [
        {"role": "system", "content": "You find patterns."},
        {
            "role": "user",
            "content": f"Cases already decided:\n{OBSERVED}Write 4 for $5.",
        },
    ]


def test_a_block_of_no_items_is_nothing_with_neither_prefix_nor_suffix():
    (message,) = prompts().label_directly(view(), (), {"message": "$late", "basket": 1})
    assert message["content"] == "New: $late"
    (message,) = prompts().label_directly(view(), ROWS[:1], {"message": "b"})
    assert message["content"] == "BEGIN\nCase 1: late (basket 3) -> granted\nEND\nNew: b"


def test_a_hypothesis_is_applied_to_the_columns_of_a_row():
    asked = prompts().infer(view(), "costs ${basket}", {"message": "m", "basket": 2.5})
    assert asked[1]["content"] == "Pattern: costs ${basket}\nCase: m (basket 2.5)"
    (message,) = prompts().infer_many(view(), ["a", "b"], {"message": "m"})
    assert message["content"] == "1. a\n2. b\nm"


def test_patterns_hold_their_rows_numbered_anew_for_each():
    (message,) = prompts().select_pattern(view(), [("a", ROWS[:1]), ("b", ())], {"message": "m"})
    assert message["content"] == (
        "Pattern 1: a\nBEGIN\nCase 1: late (basket 3) -> granted\nEND\n\nPattern 2: b\n\nNew: m"
    )


def test_patterns_may_be_blocks_of_their_own_rows():
    inner = {"prefix": "P${idx} ${hypothesis_text}:", "multi_content": " ${idx}=${message}"}
    brought = templates(adaptive_info_prompt={"multi_content": {**inner, "suffix": ";"}})
    asked = ConfigPrompts(brought).select_pattern(
        view(), [("a", ROWS), ("b", ())], {"message": "m"}
    )
    assert asked[0]["content"] == "P1 a: 1=late 2=costs $basket;P2 b:;New: m"


def test_feedback_pairs_and_summaries():
    (message,) = prompts().refine_with_feedback(view(), "h", [(ROWS[0], "refused")], 5)
    assert message["content"] == "h|BEGIN\nCase 1: late (basket 3) -> granted\nEND\n|5"
    assert prompts().compare_hypotheses(view(), "a", "b") == [
        {"role": "user", "content": "1. a\n2. b"}
    ]
    assert prompts().summarise(view(), PAPERS[0]) == [{"role": "user", "content": "T|X"}]


def test_with_papers_each_hypothesis_is_to_name_its_own():
    (message,) = prompts().propose(view(), 2, PAPERS)
    assert message["content"].startswith(f"T: S\n{OBSERVED}2") and "quote" in message["content"]


def test_roles_that_a_config_lacks_are_asked_in_our_words():
    row = {"message": "m", "basket": 1}
    assert prompts().judge_relevance(view(), "h", row) == DEFAULT_PROMPTS.judge_relevance(
        view(), "h", row
    )
    assert prompts().propose(view(()), 3) == DEFAULT_PROMPTS.propose(view(()), 3)
    assert prompts().propose(view(()), 3, PAPERS) == DEFAULT_PROMPTS.propose(view(()), 3, PAPERS)
    assert prompts().infer_adaptively(
        view(), [("h", ROWS)], row
    ) == DEFAULT_PROMPTS.infer_adaptively(view(), [("h", ROWS)], row)
    assert prompts().refine_with_data(view(), ["h"], 1) == DEFAULT_PROMPTS.refine_with_data(
        view(), ["h"], 1
    )
    empty = ConfigPrompts({"inference": {"system": "", "user": None}})
    assert empty.infer(view(), "h", row) == DEFAULT_PROMPTS.infer(view(), "h", row)


def test_a_problem_without_templates_has_our_words():
    assert (
        ConfigPrompts.for_problem(PUBLIC) is DEFAULT_PROMPTS
        and ConfigPrompts.for_problem({**PUBLIC, "templates": {}}) is DEFAULT_PROMPTS
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"inference": {"user": "${mesage}"}}, "'inference' names.*mesage"),
        ({"inference": {"user": "${observations}"}}, "'inference' names.*observations"),
        ({"batched_generation": {"user": "${hypothesis}"}}, "hypothesis"),
        ({"observations": {"multi_content": "${nothing}"}}, "'observations' names.*nothing"),
        ({"lead_in": "${nothing}"}, "'lead_in' names.*nothing"),
        ({"lead_in": {"user": "a"}}, "'lead_in', which is not a string"),
        ({"observations": {"user": "a"}}, "'observations' has no multi_content"),
        ({"observations": {"multi_content": 5}}, "multi_content is not a string: 5"),
        ({"observations": {"multi_content": "a", "join": ", "}}, "'join' is none of"),
        (
            {"adaptive_info_prompt": {"multi_content": {"prefix": "a"}}},
            "multi_content is not a string: ",
        ),
        ({"inference": {"multi_content": "a"}}, "'inference' is a block"),
        ({"inference": {"human": "a"}}, "'human' is none of system, user, assistant"),
        ({"inference": {"user": ["a"]}}, "user is not a string: "),
        ({"inference": 5}, "neither a text nor a mapping"),
    ],
)
def test_a_template_that_cannot_be_filled_is_named(changes, said):
    with pytest.raises(DataError, match=said):
        ConfigPrompts.for_problem({**PUBLIC, "templates": templates(**changes)})


def test_other_templates_of_a_config_are_no_matter_of_ours():
    ConfigPrompts.for_problem(
        {**PUBLIC, "templates": templates(boost_specificity={"user": "${anything}"})}
    )


def test_the_digest_is_of_the_templates():
    other = ConfigPrompts(templates(lead_in="x"))
    assert ConfigPrompts(templates()).digest() == prompts().digest() != other.digest()


@pytest.mark.filterwarnings("ignore")  # what is odd about the data is tested elsewhere
def test_every_prompt_of_the_published_sets_is_rendered(shared_data):
    from peirce.tasks import load_task

    problems = load_task("labels").load(str(shared_data / "text"), None, 42)
    asked = 0
    for problem in {problem.group: problem for problem in problems}.values():
        brought = problem.public.get("templates", {})
        seen = problem.make_view(InputSet("S", ()))
        seen = View(seen.problem, seen.task, seen.family, seen.shown[:3], seen.public, seen.space)
        own = ConfigPrompts.for_problem(problem.public)
        row, patterns = seen.shown[0].input, [("a", seen.shown), ("b", ())]
        bare = View(seen.problem, seen.task, seen.family, (), seen.public, seen.space)
        rendered = {
            "initialize_zero_shot": own.propose(bare, 3),
            "batched_generation": own.propose(seen, 3),
            "initialize_hypotheses_only_paper": own.propose(bare, 3, PAPERS),
            "batched_generation_with_paper": own.propose(seen, 3, PAPERS),
            "refine_with_data": own.refine_with_data(seen, ["a"], 1),
            "refine_with_literature": own.refine_with_papers(seen, ["a"], PAPERS, 1),
            "IO_refine_with_feedback": own.refine_with_feedback(
                seen, "a", [(seen.shown[0], "")], 5
            ),
            "inference": own.infer(seen, "a", row),
            "multiple_hypotheses_inference": own.infer_many(seen, ["a"], row),
            "is_relevant": own.judge_relevance(seen, "a", row),
            "adaptive_inference": own.infer_adaptively(seen, patterns, row),
            "adaptive_selection": own.select_pattern(seen, patterns, row),
            "few_shot_baseline": own.label_directly(seen, seen.shown, row),
            "summarize_paper": own.summarise(seen, PAPERS[0]),
            "check_hypothesis_pair_repetition": own.compare_hypotheses(seen, "a", "b"),
        }
        assert rendered.keys() == ROLES.keys()
        for messages in rendered.values():
            assert messages and all("${" not in message["content"] for message in messages)
        asked += len(brought.keys() & ROLES.keys())
        assert str(next(iter(row.values()))) in rendered["inference"][-1]["content"]
    assert asked >= 20
