"""The card of a training, from a record that is written by hand.

Internals: the card is written from a record by hand, without a training.
"""

from __future__ import annotations

from peirce.training.dpo import TrainConfig
from peirce.training.model_cards import dpo_card


def test_no_path_of_a_machine_stands_in_it() -> None:
    settings = TrainConfig(chat_template="/home/ada/own.jinja").to_record()
    record = {"training": "abcd", "base": {"name": "/home/ada/models/small", "weights": "ab" * 32},
              "pairs": "cd" * 32, "settings": settings, "examples": 1_280}  # fmt: skip
    text = dpo_card(record, [], {}, {})
    assert "chat_template: own.jinja" in text and "base_model: small" in text
    assert "/home" not in text
