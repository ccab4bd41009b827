"""The prices of operations and constants: those set by hand, and what was learnt about them.

The rows of grammar.py and the tables of constants.py have prices that were set by hand. `LEARNT` says by how
many bits an operation or a class of constants is dearer or cheaper than by hand. bench/learn_prices.py learns
these figures from generated problems and prints the table. What the table lacks keeps its price by hand, so
that a new operation is still one row of the grammar.
"""

from __future__ import annotations

import ast
from collections import Counter

from .expressions import Expression
from .grammar import END, FORMAT, INDEX, NUMBER, PATTERN, SEP
from .grammar import OPERATIONS as BY_HAND

LEARNT: dict[str, float] = {}
JOIN, CHOICE, CONSTANT = "join", "choice", "constant"
LETTER, DIGIT, MARK = "letter", "digit", "mark"  # characters of constants
LEAST = 1  # half bits: the price of anything whose price is learnt
_CONSTANTS = (SEP, INDEX, END, PATTERN, NUMBER, FORMAT)
_OPERATIONS = {JOIN, CHOICE, *(one.name for one in BY_HAND)}
_NEAR = 5  # an end from which on all ends are one class


def adjust_price(name: str, by_hand: int) -> int:
    """Return the price of an operation or a class of constants, in half bits."""
    return max(min(LEAST, by_hand), by_hand + round(2 * LEARNT.get(name, 0.0)))


def class_of_constant(kind: str, text: str) -> str:
    """Return the name of the class of constants that share a learnt price.

    Args:
        kind: the kind of the constant.
        text: its source.
    """
    if kind == SEP:
        return f"{SEP} {_shape(ast.literal_eval(text))}"
    if kind == END and abs(int(text)) >= _NEAR:
        return f"{END} far"
    if kind == NUMBER:
        return f"{NUMBER} {'small' if ast.literal_eval(text) in range(11) else 'other'}"
    return kind if kind == FORMAT else f"{kind} {text}"


def _shape(separator: str) -> str:
    if separator in ("", " "):
        return "space" if separator else "empty"
    several = "s" if len(separator) > 1 else ""
    if any(c.isalnum() for c in separator):
        return "word" if several else "letter"
    return f"mark{several}"


def count_prices(program: Expression) -> Counter[str]:
    """Return how often a program has each operation and each class of constants with a learnt price."""
    counts: Counter[str] = Counter()
    waiting = [("", program)]
    while waiting:
        kind, one = waiting.pop()
        if one.operation is not None:
            if one.operation.name in _OPERATIONS:
                counts[one.operation.name] += (
                    len(one.arguments) - 1 if one.operation.name == JOIN else 1
                )
            kinds = one.operation.takes or ("",) * len(one.arguments)
            waiting.extend(zip(kinds, one.arguments, strict=False))
        elif kind in _CONSTANTS:
            counts[class_of_constant(kind, one.text)] += 1
        elif (value := _literal(one.text)) is not None:
            counts[CONSTANT] += 1
            counts.update(class_of_character(c) for c in value)
    return counts


def class_of_character(character: str) -> str:
    """Return the class of characters of constants that share a price."""
    return LETTER if character.isalpha() else DIGIT if character.isdigit() else MARK


def _literal(text: str) -> str | None:
    """Return the characters of a constant that are paid for; None if the source is no constant."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None
    return "" if value is None or type(value) is bool else str(value)


JOIN_PRICE, CHOICE_PRICE = adjust_price(JOIN, 3), adjust_price(CHOICE, 10)  # half bits
CONSTANT_PRICE = adjust_price(CONSTANT, 4)  # half bits, besides its characters
CHARACTERS = {
    name: adjust_price(name, price) for name, price in {MARK: 4, DIGIT: 7, LETTER: 9}.items()
}


def price_of_constant(value: object) -> int:
    """Return the price of a constant, in half bits."""
    if value is None or type(value) is bool:
        return CONSTANT_PRICE
    return CONSTANT_PRICE + sum(map(price_of_character, str(value)))


def price_of_character(character: str) -> int:
    """Return the price of a character of a constant, in half bits."""
    return CHARACTERS[class_of_character(character)]


OPERATIONS = tuple(
    one._replace(price=adjust_price(one.name, round(2 * one.price)) / 2) for one in BY_HAND
)
