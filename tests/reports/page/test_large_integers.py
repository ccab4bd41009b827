"""Integers that a number of the page's script cannot hold are shown digit by digit.

Internals: the encoder of the page's data.
"""

from __future__ import annotations

import json

import pytest
from peirce.reports.page.document import encode_json


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 10**400])
def test_an_integer_beyond_2_to_the_53_is_embedded_as_its_digits(value: int) -> None:
    assert json.loads(encode_json({"x": [value, 2**53 - 1, True]}))["x"] == [
        str(value),
        2**53 - 1,
        True,
    ]


def test_an_integer_too_long_for_python_s_own_text_is_embedded_too() -> None:
    assert json.loads(encode_json([10**5_000])) == [hex(10**5_000)]
