"""Generated problems of the task `examples`: everyday rules of twenty kinds, with random details.

A kind draws a rule and inputs for it. The rule is Python source, so that a problem can be generated
again from its record, and so that a reader sees what was planted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from ...records import Json

SHOWN, HIDDEN = 8, 6  # pairs of a problem
_DRAWS = 60  # inputs that are drawn until enough of them are different

FIRST = [
    "Ada",
    "Alan",
    "Grace",
    "Edsger",
    "Barbara",
    "Donald",
    "Frances",
    "John",
    "Radia",
    "Tim",
    "Hedy",
    "Linus",
    "Margaret",
    "Niklaus",
    "Ken",
]
LAST = [
    "Lovelace",
    "Turing",
    "Hopper",
    "Dijkstra",
    "Liskov",
    "Knuth",
    "Allen",
    "McCarthy",
    "Perlman",
    "Lee",
    "Lamarr",
    "Torvalds",
    "Hamilton",
]
NOUNS = [
    "river",
    "stone",
    "cloud",
    "lamp",
    "garden",
    "winter",
    "harbor",
    "engine",
    "mirror",
    "paper",
    "signal",
    "anchor",
    "market",
    "window",
]
MARKS = "-_/:;,|."


class Planted(NamedTuple):
    """A rule with inputs.

    Args:
        rule: the source of an expression in x.
        inputs: the inputs, each different.
    """

    rule: str
    inputs: list[Json]


Draw = Callable[[random.Random], Any]


def plant(kind: str, rng: random.Random, further: int = 0) -> Planted:
    """Draw a rule of a kind, and inputs of which not all have the same output.

    Args:
        kind: a key of `KINDS`.
        rng: the source of randomness.
        further: how many inputs are drawn besides those of a problem; some may be equal.
    """
    while True:
        rule, draw = KINDS[kind](rng)
        inputs: dict[str, Json] = {}
        for _ in range(_DRAWS):
            value = draw(rng)
            inputs.setdefault(repr(value), value)
            if len(inputs) == SHOWN + HIDDEN:
                break
        some = list(inputs.values())
        outputs = [repr(apply_rule(rule, value)) for value in some]
        enough = len(some) == SHOWN + HIDDEN and {"None"} & set(outputs) <= set(outputs[:SHOWN])
        # Both parts show what the rule does.
        if enough and len(set(outputs[:SHOWN])) > 1 and len(set(outputs[SHOWN:])) > 1:
            return Planted(rule, [*some, *(draw(rng) for _ in range(further))])


def apply_rule(rule: str, value: Json) -> Json:
    """Return the output of a planted rule for an input."""
    result: Json = eval(rule, {"datetime": datetime, "date": date}, {"x": value})
    return result


def _pick(values: Sequence[Any], rng: random.Random) -> Any:
    return values[int(rng.random() * len(values))]


def _between(low: int, high: int, rng: random.Random) -> int:
    return low + int(rng.random() * (high - low + 1))


def _name(rng: random.Random) -> str:
    return f"{_pick(FIRST, rng)} {_pick(LAST, rng)}"


def _phrase(rng: random.Random, least: int = 2, most: int = 4) -> str:
    return " ".join(_pick(NOUNS, rng) for _ in range(_between(least, most, rng)))


def _day(rng: random.Random) -> date:
    return date.fromordinal(_between(720_000, 740_000, rng))


def _fields(mark: str, count: int) -> Draw:
    return lambda rng: mark.join(f"{_pick(NOUNS, rng)}{_between(1, 99, rng)}" for _ in range(count))


def _initials(rng: random.Random) -> tuple[str, Draw]:
    between = _pick(("", ".", ". ", "-"), rng)
    return f"{between!r}.join(word[0] for word in x.split())", _name


def _swapped_name(rng: random.Random) -> tuple[str, Draw]:
    return _pick(
        (
            'x.split()[1] + ", " + x.split()[0]',
            'x[0] + ". " + x.split()[-1]',
            "x.split()[-1].upper()",
        ),
        rng,
    ), _name


def _date_form(rng: random.Random) -> tuple[str, Draw]:
    forms = ["%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d %B %Y", "%B %d, %Y"]
    old = _pick(forms, rng)
    new = _pick([form for form in [*forms, "%A", "%B", "%Y"] if form != old], rng)
    return f'datetime.strptime(x, "{old}").strftime("{new}")', lambda r: _day(r).strftime(old)


def _case(rng: random.Random) -> tuple[str, Draw]:
    return f"x.{_pick(('upper', 'title', 'capitalize', 'swapcase'), rng)}()", _phrase


def _slug(rng: random.Random) -> tuple[str, Draw]:
    mark = _pick("-_.", rng)
    return f'x.lower().replace(" ", "{mark}")', lambda r: _phrase(r).title()


def _field(rng: random.Random) -> tuple[str, Draw]:
    mark, count = _pick(MARKS, rng), _between(3, 4, rng)
    place = _pick((0, 1, 2, -1), rng)
    return f"x.split({mark!r})[{place}]", _fields(mark, count)


def _inserted(rng: random.Random) -> tuple[str, Draw]:
    before, after = _pick(("Dear ", "re: ", "<", "id="), rng), _pick((",", "!", ">", ""), rng)
    return f"{before!r} + x + {after!r}", lambda r: _pick(NOUNS, r) + str(_between(1, 99, r))


def _digits(rng: random.Random) -> tuple[str, Draw]:
    rule = _pick(
        (
            '"".join(c for c in x if c.isdigit())',
            '"".join(c for c in x if not c.isdigit())',
            'int("".join(c for c in x if c.isdigit()))',
        ),
        rng,
    )
    return rule, lambda r: f"{_pick(NOUNS, r)}{_between(10, 9999, r)}"


def _replaced(rng: random.Random) -> tuple[str, Draw]:
    old = _pick(MARKS, rng)
    new = _pick([one for one in ("", " ", " - ", *MARKS) if one != old], rng)
    return f"x.replace({old!r}, {new!r})", _fields(old, 3)


def _counted(rng: random.Random) -> tuple[str, Draw]:
    return _pick(
        ("len(x.split())", "len(x)", 'x.count("r")', 'x.count(" ")'), rng
    ), lambda r: _phrase(r, 1, 6)


def _scaled(rng: random.Random) -> tuple[str, Draw]:
    a, b = _between(2, 12, rng), _between(-9, 20, rng)
    return _pick(
        (f"{a} * x", f"{a} * x + {b}", f"x * {a} / 10 + {b}", "x * 9 / 5 + 32"), rng
    ), lambda r: _between(-20, 100, r)


def _fraction(rng: random.Random) -> tuple[str, Draw]:
    places = _between(1, 2, rng)
    return _pick((f"round(x, {places})", "x * 2.54", "x / 4", "round(x)"), rng), lambda r: round(
        r.random() * 100, 4
    )


def _truth(rng: random.Random) -> tuple[str, Draw]:
    bound = _between(5, 60, rng)
    return _pick(
        ("x % 2 == 0", f"x > {bound}", "x % 3 == 0", f"x < {bound}"), rng
    ), lambda r: _between(0, 70, r)


def _truth_of_text(rng: random.Random) -> tuple[str, Draw]:
    noun = _pick(NOUNS, rng)
    rule = _pick(
        (f'"{noun}" in x', f'x.startswith("{noun}")', "len(x) > 12", 'x.endswith("r")'), rng
    )
    return rule, lambda r: f"{noun} {_phrase(r, 1, 2)}" if r.random() < 0.4 else _phrase(r, 1, 3)


def _person(rng: random.Random) -> dict[str, Json]:
    return {
        "first": _pick(FIRST, rng),
        "last": _pick(LAST, rng),
        "age": _between(18, 80, rng),
        "city": _pick(NOUNS, rng),
    }


def _picked_fields(rng: random.Random) -> tuple[str, Draw]:
    return _pick(
        (
            'x["last"]',
            '{"name": x["first"], "years": x["age"]}',
            '{"last": x["last"], "city": x["city"]}',
        ),
        rng,
    ), _person


def _computed_fields(rng: random.Random) -> tuple[str, Draw]:
    rule = _pick(
        (
            '{"name": x["first"] + " " + x["last"]}',
            '{"code": x["city"].upper(), "next": x["age"] + 1}',
            '{"initial": x["first"][0], "old": x["age"] > 40}',
        ),
        rng,
    )
    return rule, _person


def _each(rng: random.Random) -> tuple[str, Draw]:
    rule = _pick(
        (
            "[one.upper() for one in x]",
            "[len(one) for one in x]",
            "[one[0] for one in x]",
            '[one + "s" for one in x]',
        ),
        rng,
    )
    return rule, lambda r: [_pick(NOUNS, r) for _ in range(_between(1, 5, r))]


def _filtered(rng: random.Random) -> tuple[str, Draw]:
    rule = _pick(
        (
            "[one for one in x if len(one) > 5]",
            '[one for one in x if "r" in one]',
            "sorted(x)",
            "x[::-1]",
            "x[1:]",
        ),
        rng,
    )
    return rule, lambda r: [_pick(NOUNS, r) for _ in range(_between(2, 6, r))]


def _column(rng: random.Random) -> tuple[str, Draw]:
    rule = _pick(
        (
            '[row["name"] for row in x]',
            'sum(row["n"] for row in x)',
            'max(row["n"] for row in x)',
            "len(x)",
        ),
        rng,
    )
    return rule, lambda r: [
        {"name": _pick(NOUNS, r), "n": _between(1, 50, r)} for _ in range(_between(1, 4, r))
    ]


def _missing(rng: random.Random) -> tuple[str, Draw]:
    rule = _pick(
        (
            'None if x == "" else int(x)',
            'None if x == "" else x.upper()',
            'None if x == "n/a" else x',
        ),
        rng,
    )
    empty = "n/a" if "n/a" in rule else ""
    words = (
        (lambda r: str(_between(1, 999, r)))
        if "int" in rule
        else (lambda r: _pick(NOUNS, r) + str(_between(1, 9, r)))
    )
    return rule, lambda r: empty if r.random() < 0.3 else words(r)


def _arguments(rng: random.Random) -> tuple[str, Draw]:
    rule = _pick(("x[0] + x[1]", "x[0] * x[1]", "x[0] - x[1]", "max(x[0], x[1])"), rng)
    return rule, lambda r: [_between(1, 40, r), _between(1, 40, r)]


def _padded(rng: random.Random) -> tuple[str, Draw]:
    width = _between(4, 6, rng)
    return _pick(
        (f"str(x).zfill({width})", '"#" + str(x)', 'str(x) + "%"', 'format(x, ",")'), rng
    ), lambda r: _between(1, 99_999 if r.random() < 0.5 else 99, r)


KINDS: dict[str, Callable[[random.Random], tuple[str, Draw]]] = {
    "initials": _initials, "names": _swapped_name, "dates": _date_form, "cases": _case, "slugs": _slug,
    "fields": _field, "insertions": _inserted, "digits": _digits, "replacements": _replaced,
    "counts": _counted, "lines": _scaled, "fractions": _fraction, "truth values": _truth,
    "tests of texts": _truth_of_text, "record fields": _picked_fields, "computed records": _computed_fields,
    "list elements": _each, "parts of lists": _filtered, "lists of records": _column, "null": _missing,
    "arguments": _arguments, "numbers as texts": _padded,
}  # fmt: skip
