"""The one file: data come back as they were and end no element, and nothing else counts as a script.

Internals: data that no store can hold are embedded in the document and read back.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import random
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from peirce.reports.page.document import (
    BLOCK_CHARACTERS,
    MEMORY_BYTES,
    SCRIPTS,
    ProblemBlocks,
    encode_json,
    read_part,
    render_page,
)
from peirce.tests.page_blocks import read_blocks

OVERVIEW = {"sessions": [{"task": "list_functions"}]}
HOSTILE = [
    "</script>", "<script>alert(1)</script>", "<!--", "-->", "<![CDATA[", "]]>", "</SCRIPT ", "&lt;",
    "&amp;", "<", ">", "&", "\u2028", "\u2029", "\x00", "\x1b[31m", "\u202e", "\ud800", "\udfff\ud800",
    "\ufeff", "\ufdd0", '"', "\\", "\\u003c", "'", "`${1}`", "{{7*7}}", "javascript:alert(1)",
    "</style><img src=x onerror=alert(1)>", "\r\n", "é", "😀", "",
]  # fmt: skip


class Elements(HTMLParser):
    """Start tags, and the text of each script and style, as a parser of HTML sees them."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts, self.comments = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag in ("script", "style"):
            self.texts.append((tag, dict(attributes), []))

    def handle_data(self, data):
        if self.cdata_elem:
            self.texts[-1][2].append(data)

    def handle_comment(self, data):
        self.comments.append(data)

    def scripts(self):
        return [(told, "".join(text)) for tag, told, text in self.texts if tag == "script"]


def blocks_of(problems):
    """(session, problem, details) of each problem, in blocks."""
    blocks = ProblemBlocks()
    for one in problems:
        blocks.add(*one)
    return blocks


def values(*texts):
    return {text: [text, {text: text}] for text in texts}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()) | st.sampled_from(HOSTILE),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
def test_data_come_back_as_they_were(value):
    text = encode_json(value)
    assert json.loads(text) == value
    assert text.isascii() and not set(text) & set("<>&")


def test_what_is_no_number_of_json_is_written_as_a_text():
    value = {"a": [math.nan, math.inf, {"b": -math.inf}], "c": 1.5, "d": (1, math.nan)}
    told = json.loads(encode_json(value), parse_constant=pytest.fail)
    assert told == {"a": ["nan", "inf", {"b": "-inf"}], "c": 1.5, "d": [1, "nan"]}


def test_no_value_is_too_deep():
    value = []
    for _ in range(5_000):
        value = [value]
    text = encode_json({"deep": value, "other": "<b>"})
    told = json.loads(text)
    assert told["other"] == "<b>"
    at, depth = told["deep"], 0
    while isinstance(at, list):
        at, depth = at[0], depth + 1
    assert depth > 50 and "nested" in at


def test_hostile_data_end_no_element_and_open_none():
    plain = Elements("".join(render_page(OVERVIEW, blocks_of([("s", "p", {"x": 1})]))))
    hostile = {"sessions": [{"task": text, **values(*HOSTILE)} for text in HOSTILE]}
    problems = [("s", text, values(*HOSTILE)) for text in HOSTILE]
    text = "".join(render_page(hostile, blocks_of(problems)))
    found = Elements(text)
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in plain.tags]
    assert found.comments == plain.comments == []
    assert list(read_blocks(text).values()) == [
        {"session": session, "id": name, **told} for session, name, told in problems
    ]
    for told, said in found.scripts():
        if "data-first" in told:
            assert re.fullmatch("[A-Za-z0-9+/]+=*", said)


def test_each_problem_is_in_a_block_by_its_number():
    text = "".join(
        render_page(OVERVIEW, blocks_of([("s", "a", {}), ("s", "b", {}), ("t", "a", {})]))
    )
    (overview,) = [said for told, said in Elements(text).scripts() if told.get("id") == "told"]
    assert json.loads(overview) == OVERVIEW
    assert read_blocks(text) == {
        0: {"session": "s", "id": "a"},
        1: {"session": "s", "id": "b"},
        2: {"session": "t", "id": "a"},
    }


def test_large_problems_have_blocks_of_their_own_and_wait_in_a_file():
    rng = random.Random(0)
    large = [rng.randbytes(BLOCK_CHARACTERS // 4).hex() for _ in range(80)]
    problems = [("s", f"{n}", {"x": [one, one]}) for n, one in enumerate(large)]
    with blocks_of([*problems, ("s", "last", {})]) as blocks:
        text = "".join(render_page(OVERVIEW, blocks))
        again = "".join(render_page(OVERVIEW, blocks))
    assert len(text) > MEMORY_BYTES and again == text
    assert sum("data-first" in told for told, _ in Elements(text).scripts()) == len(large) + 1
    found = read_blocks(text)
    assert [found[n] for n in range(80)] == [
        {"session": "s", "id": name, **told} for _, name, told in problems
    ]
    assert found[80] == {"session": "s", "id": "last"}


@pytest.mark.parametrize("live", [False, True])
def test_the_content_policy_lets_the_two_inline_parts_count_and_no_network(live):
    found = Elements("".join(render_page(OVERVIEW, (), live=live)))
    (policy,) = [told["content"] for tag, told in found.tags
                 if tag == "meta" and told.get("http-equiv") == "Content-Security-Policy"]  # fmt: skip
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))

    def hashed(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    (style,) = ["".join(text) for tag, _, text in found.texts if tag == "style"]
    (script,) = [text for told, text in found.scripts() if "type" not in told]
    assert parts == {
        "default-src": "'none'", "style-src": hashed(style), "script-src": hashed(script),
        "img-src": "data:", "connect-src": "'self'" if live else "'none'", "base-uri": "'none'",
        "form-action": "'none'",
    }  # fmt: skip


def test_the_page_names_nothing_outside_and_writes_no_html():
    for name in SCRIPTS:
        text = read_part(name)
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|\.srcdoc",
            text,
        )
        assert len(text.splitlines()) < 400
    whole = "".join(render_page(OVERVIEW, ()))
    assert set(re.findall(r"https?://[^\s\"'`]+", whole)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(on[a-z]+|style)=", read_part("page.html"))


def test_the_title_is_text():
    text = "".join(render_page({"sessions": [{"task": "</title><script>x()</script>"}]}, ()))
    assert "<script>x" not in text and "&lt;/title&gt;" in text


def test_the_overview_and_the_script_precede_the_problems():
    text = "".join(render_page(OVERVIEW, blocks_of([("s", "a", {})])))
    assert text.index("<body>") < text.index('"told"') < text.index("use strict")
    assert text.index("use strict") < text.index("data-first")


def test_blocks_are_complete_before_all_problems_are_there():
    """A page of thousands of problems is never in memory whole."""
    blocks = ProblemBlocks()
    for number in range(20):
        blocks.add("s", f"{number}", {"x": "y" * BLOCK_CHARACTERS})
        assert blocks.waiting == 0
    blocks.add("s", "20", {})
    assert blocks.waiting == 1
