"""Checks what prompts hold and what they leave out: structure, not wording.

Internals: prompts are pure functions of a view, and a session would show only some of the views.
"""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from peirce.agents.prompts.protocol import (
    AIMS,
    ANOTHER_REQUEST,
    BETTER_REQUEST,
    HISTORIES,
    TOOLS_HINT,
    build_messages,
    build_tool_messages,
    describe_unreadable,
    prompt_hash,
)
from peirce.records import (
    Hypothesis,
    InputSet,
    Observation,
    PastAnswer,
    Reply,
    ToolCall,
    UsageError,
    Verdict,
    View,
)


class Words:
    """A family whose words are marks that a test can look for."""

    instructions = "<instructions>"

    def contract(self, answer_format):
        return f"<contract {answer_format}>"

    def show_observation(self, number, observation):
        return f"<observation {number} {observation.input}>"

    def show_hypothesis(self, hypothesis):
        return f"<shown {hypothesis.description}>"

    def show_feedback(self, view, agreement):
        return "<feedback>"


SHOWN = (Observation([1], [2]), Observation([5], [6]))
SPACE = InputSet("S", ([987654],))
ACCEPTED = PastAnswer("raw-1", (Hypothesis("code-1", "first"),), Verdict.ACCEPTED)
WRONG = PastAnswer(
    "raw-2", (Hypothesis("code-2", "second"),), Verdict.INCONSISTENT, "got 7 for [1]"
)
UNREAD = PastAnswer("raw-3", (), Verdict.MALFORMED)


def view(*earlier):
    return View("p", "t", "f", SHOWN, {}, SPACE, earlier)


def ask(*earlier, **options):
    return build_messages(view(*earlier), Words(), answer_format="tuple", **options)


def test_the_first_prompt_is_one_user_message_with_task_contract_and_all_observations_in_order():
    (message,) = ask()
    assert message["role"] == "user"
    text = message["content"]
    parts = ["<instructions>", "<contract tuple>", "<observation 1 [1]>", "<observation 2 [5]>"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_the_sample_space_is_in_no_prompt():
    for history in HISTORIES:
        assert "987654" not in json.dumps(ask(ACCEPTED, history=history))


def test_descriptions_number_the_earlier_hypotheses_and_show_no_answer_as_it_came():
    (message,) = ask(ACCEPTED, WRONG)
    text = message["content"]
    assert "1. <shown first>\n2. <shown second>" in text
    assert "raw-" not in text and "code-" not in text


def test_a_description_of_several_lines_stays_one_entry():
    (message,) = ask(PastAnswer("raw", (Hypothesis("c", "a\nb"),), Verdict.ACCEPTED), ACCEPTED)
    assert "1. <shown a\n   b>\n2. <shown first>" in message["content"]


def test_descriptions_count_malformed_answers_and_do_not_show_them():
    (one,) = ask(ACCEPTED, UNREAD)
    (two,) = ask(UNREAD, ACCEPTED, UNREAD)
    assert "1 earlier answer " in one["content"] and "2 earlier answers " in two["content"]
    assert "raw-3" not in two["content"] and "2. " not in two["content"]


def test_only_malformed_answers_so_far_list_no_hypotheses():
    (message,) = ask(UNREAD)
    assert "1. " not in message["content"] and "1 earlier answer " in message["content"]


def test_feedback_stands_under_its_hypothesis_in_descriptions():
    (message,) = ask(WRONG, ACCEPTED)
    text = message["content"]
    assert text.index("second") < text.index("got 7 for [1]") < text.index("<shown first>")


def test_feedback_of_a_malformed_answer_is_shown():
    (message,) = ask(PastAnswer("raw", (), Verdict.MALFORMED, "no closing bracket"))
    assert "no closing bracket" in message["content"]


def test_chat_repeats_each_answer_as_it_came_and_asks_again_after_it():
    turns = ask(ACCEPTED, WRONG, UNREAD, history="chat")
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 3 + ["user"]
    assert [turn["content"] for turn in turns[1::2]] == ["raw-1", "raw-2", "raw-3"]
    assert "got 7 for [1]" in turns[4]["content"] and "got 7" not in turns[2]["content"]
    assert turns[6]["content"] != turns[2]["content"]  # says that the answer was not read


def test_chat_grows_at_its_end_so_that_a_cached_beginning_stays_valid():
    short, long = ask(ACCEPTED, history="chat"), ask(ACCEPTED, WRONG, history="chat")
    assert long[: len(short)] == short


MENDED = PastAnswer(
    "raw-4", (Hypothesis("code-4", "fourth"),), Verdict.ACCEPTED, "costs 2", "search"
)
TOLD = PastAnswer("raw-5", (), Verdict.MALFORMED, describe_unreadable("forbidden: not Q."))


def test_who_is_asked_for_a_better_hypothesis_sees_the_earlier_ones_whole_with_what_is_said_of_them():
    (message,) = ask(ACCEPTED, WRONG, MENDED, TOLD, aim="better")
    text = message["content"]
    assert "1. <shown first>\n   code-1" in text
    assert "2. <shown second>\n   code-2\n   got 7 for [1]" in text
    assert "3. A search made this of it:\n   <shown fourth>\n   code-4\n   costs 2" in text
    assert "4. It gives no hypothesis: forbidden: not Q." in text and "raw-" not in text
    assert (
        BETTER_REQUEST in text and ANOTHER_REQUEST not in text and "could not be read" not in text
    )


def test_a_text_that_the_description_shows_already_is_not_repeated():
    (message,) = ask(
        PastAnswer("raw", (Hypothesis("first", "first"),), Verdict.ACCEPTED), aim="better"
    )
    assert "1. <shown first>\n\n" in message["content"]


def test_the_first_prompt_is_the_same_whatever_the_aim():
    for history in HISTORIES:
        assert ask(history=history, aim="better") == ask(history=history)


def test_in_a_chat_what_a_search_made_stands_in_the_users_turn():
    turns = ask(WRONG, MENDED, TOLD, history="chat", aim="better")
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 2 + ["user"]
    assert [turn["content"] for turn in turns[1::2]] == ["raw-2", "raw-5"]
    told = turns[2]["content"]
    parts = ["got 7 for [1]", "A search made this of it:", "code-4", "costs 2", BETTER_REQUEST]
    assert [told.index(part) for part in parts] == sorted(told.index(part) for part in parts)
    assert turns[4]["content"].startswith("It gives no hypothesis: ")
    short = ask(WRONG, MENDED, history="chat", aim="better")
    assert turns[: len(short)] == short


def test_what_was_said_in_place_of_a_hypothesis_is_shown_up_to_a_limit():
    assert (
        describe_unreadable("syntax: end", "(P x") == "(P x\nIt gives no hypothesis: syntax: end."
    )
    assert len(describe_unreadable("syntax", "(" * 10_000)) < 2_100


def test_an_empty_answer_makes_no_empty_turn():
    turns = ask(PastAnswer(" \n", (), Verdict.MALFORMED), history="chat")
    assert turns[1]["content"].strip()


@pytest.mark.parametrize("history", HISTORIES)
def test_tools_are_spoken_of_only_where_they_are_offered(history):
    assert TOOLS_HINT in ask(ACCEPTED, history=history, tools=True)[-1]["content"]
    assert "tool" not in json.dumps(ask(ACCEPTED, history=history, tools=False))


def test_an_unknown_history_is_refused_with_the_valid_ones():
    with pytest.raises(UsageError, match=r"'chats'.*descriptions, chat"):
        ask(history="chats")


EARLIER = st.lists(st.sampled_from([ACCEPTED, WRONG, UNREAD, MENDED, TOLD]), max_size=4)


@given(EARLIER, st.sampled_from(HISTORIES), st.booleans(), st.sampled_from(AIMS))
def test_prompts_are_pure(earlier, history, tools, aim):
    seen = view(*earlier)
    before = copy.deepcopy(seen)
    first = build_messages(seen, Words(), answer_format="a", history=history, tools=tools, aim=aim)
    second = build_messages(seen, Words(), answer_format="a", history=history, tools=tools, aim=aim)
    assert first == second and seen == before
    assert all(turn["content"] and turn["role"] in ("user", "assistant") for turn in first)
    assert first[-1]["role"] == "user"


def test_the_hash_is_stable_and_depends_on_template_and_words(monkeypatch):
    plain, tuples = prompt_hash(), prompt_hash(Words(), "tuple")
    assert plain == prompt_hash() and tuples == prompt_hash(Words(), "tuple")
    better = prompt_hash(aim="better"), prompt_hash(Words(), "tuple", "better")
    assert len({plain, tuples, prompt_hash(Words(), "fenced"), *better}) == 5
    monkeypatch.setattr("peirce.agents.prompts.protocol.ANOTHER_REQUEST", "another wording")
    assert plain != prompt_hash() and tuples != prompt_hash(Words(), "tuple")
    assert better == (prompt_hash(aim="better"), prompt_hash(Words(), "tuple", "better"))
    monkeypatch.setattr("peirce.agents.prompts.protocol.BETTER_REQUEST", "another wording")
    assert better[0] != prompt_hash(aim="better")


def test_tool_turns_name_each_call_and_carry_its_result():
    calls = (ToolCall("a", "execute", {"code": "x\ny"}), ToolCall("b", "execute", {"code": "z"}))
    turn, first, second = build_tool_messages(
        Reply("thinking", calls, "tool_calls"), ["one", "two"]
    )
    assert turn["role"] == "assistant" and turn["content"] == "thinking"
    assert [call["id"] for call in turn["tool_calls"]] == ["a", "b"]
    assert json.loads(turn["tool_calls"][0]["function"]["arguments"]) == {"code": "x\ny"}
    assert first == {"role": "tool", "tool_call_id": "a", "content": "one"}
    assert second == {"role": "tool", "tool_call_id": "b", "content": "two"}


def test_arguments_that_were_no_object_go_back_as_an_object():
    turn, _ = build_tool_messages(Reply("", (ToolCall("a", "execute", "{code: "),)), ["no"])
    assert json.loads(turn["tool_calls"][0]["function"]["arguments"]) == {"unreadable": "{code: "}


def test_results_that_do_not_match_the_calls_are_a_bug():
    with pytest.raises(ValueError, match="1 tool calls but 0 results"):
        build_tool_messages(Reply("", (ToolCall("a", "execute", {}),)), [])
