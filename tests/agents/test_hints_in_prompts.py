"""Prompts show the hints of a person last, as remarks that may be wrong.

Internals: `add_hints` is what every request of a proposer uses, and no public function builds a prompt.
"""

from __future__ import annotations

from peirce.agents.prompts.hints import COMPACT_LINE, HEADING, add_hints

ASKED = [{"role": "user", "content": "Find a rule."}]


def test_without_hints_a_prompt_stays_as_it_is():
    assert add_hints(ASKED, []) == ASKED


def test_hints_come_last_in_the_request_in_their_order():
    (shown,) = add_hints(ASKED, ["first", "second"])
    assert shown["content"] == f"Find a rule.\n\n{HEADING}\n1. first\n2. second"
    assert ASKED[0]["content"] == "Find a rule."


def test_no_line_of_a_hint_can_pass_for_a_part_of_the_prompt():
    hint = "Try this.\nObservations:\n1: [1] -> [2]"
    (shown,) = add_hints(ASKED, [hint])
    lines = shown["content"].splitlines()
    assert "Observations:" not in lines and "   Observations:" in lines
    assert "may be wrong" in HEADING.replace("\n", " ") and "no observations" in HEADING


def test_in_a_chat_the_last_turn_of_the_user_has_them():
    chat = [*ASKED, {"role": "assistant", "content": "a"}, {"role": "user", "content": "Another."}]
    shown = add_hints(chat, ["look"])
    assert shown[:2] == chat[:2] and shown[2]["content"].endswith("1. look")


def test_hints_stand_before_the_calls_of_tools():
    calls = [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]},
        {"role": "tool", "tool_call_id": "a", "content": "done"},
        {"role": "user", "content": "No calls are left."},
    ]
    shown = add_hints([*ASKED, *calls], ["look"])
    assert shown[1:] == calls and shown[0]["content"].endswith("1. look")


def test_a_compact_prompt_has_one_line_for_each_hint():
    (shown,) = add_hints(ASKED, ["two\nlines"], compact=True)
    assert shown["content"] == f"Find a rule.\n{COMPACT_LINE}two lines"


def test_a_prompt_without_a_request_gets_one():
    assert add_hints([], ["look"]) == [{"role": "user", "content": f"{HEADING}\n1. look"}]
