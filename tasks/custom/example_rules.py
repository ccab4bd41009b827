"""Generated problems of the task `examples`: everyday rules of many kinds, with random details.

A kind draws a rule and inputs for it. The rule is Python source, so that a problem can be generated
again from its record, and so that a reader sees what was planted.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta, timezone
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


RULE_NAMES = {  # that the source of a rule may use
    "datetime": datetime,
    "date": date,
    "timedelta": timedelta,
    "timezone": timezone,
    "math": math,
}


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
    result: Json = eval(rule, {**RULE_NAMES, "x": value})
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


def _nouns(rng: random.Random, least: int = 2, most: int = 5) -> list[Json]:
    return [_pick(NOUNS, rng) for _ in range(_between(least, most, rng))]


def _orders(rng: random.Random, least: int = 2, most: int = 5) -> list[Json]:
    return [
        {
            "name": _pick(FIRST, rng),
            "city": _pick(("Rome", "Paris", "Oslo"), rng),
            "n": _between(1, 20, rng),
            "price": _between(2, 60, rng),
            "paid": rng.random() < 0.5,
        }
        for _ in range(_between(least, most, rng))
    ]


def _sorted_list(rng: random.Random) -> tuple[str, Draw]:
    if rng.random() < 0.4:
        rule = _pick(
            (
                "sorted(x, key=len)",
                "sorted(x, key=lambda one: one[-1])",
                "sorted(x, reverse=True)",
                "max(x, key=len)",
                "list(dict.fromkeys(x))",
                "sorted(x, key=lambda one: (len(one), one))",
            ),
            rng,
        )
        return rule, lambda r: _nouns(r, 2, 6)
    if rng.random() < 0.3:
        rule = _pick(
            (
                "sorted(x, key=lambda one: one.split()[-1])",
                "sorted(x, key=lambda one: one.split()[1] + one.split()[0])",
                "max(x, key=len)",
            ),
            rng,
        )
        return rule, lambda r: [_name(r) for _ in range(_between(2, 5, r))]
    field = _pick(("n", "price", "name"), rng)
    rule = _pick(
        (
            f'sorted(x, key=lambda row: row["{field}"])',
            f'sorted(x, key=lambda row: row["{field}"], reverse=True)',
            f'[row["name"] for row in sorted(x, key=lambda row: row["{field}"])]',
            f'sorted(x, key=lambda row: row["{field}"])[:2]',
            f'max(x, key=lambda row: row["{field}"])["city"]',
            f'min(x, key=lambda row: row["{field}"])',
            'sorted(x, key=lambda row: row["n"] * row["price"])',
        ),
        rng,
    )
    return rule, _orders


def _grouped(rng: random.Random) -> tuple[str, Draw]:
    if rng.random() < 0.4:
        rule = _pick(
            (
                "{one: x.count(one) for one in x}",
                "{one: len(one) for one in x}",
                "{key: [one for one in x if one[0] == key] for key in [one[0] for one in x]}",
                "{key: sum(one[0] == key for one in x) for key in [one[0] for one in x]}",
            ),
            rng,
        )
        return rule, lambda r: _nouns(r, 2, 6)
    keys = 'for key in [row["city"] for row in x]'
    same = 'for row in x if row["city"] == key'
    rule = _pick(
        (
            f'{{key: [row["name"] {same}] {keys}}}',
            f'{{key: sum(row["n"] {same}) {keys}}}',
            f"{{key: len([row {same}]) {keys}}}",
            f'{{key: max(row["price"] {same}) {keys}}}',
            '{row["name"]: row["n"] for row in x}',
            '{row["name"].lower(): row["n"] * row["price"] for row in x}',
        ),
        rng,
    )
    return rule, lambda r: _orders(r, 2, 6)


def _nested(rng: random.Random) -> tuple[str, Draw]:
    rule = _pick(
        (
            "[one for row in x for one in row]",
            "[[one * 2 for one in row] for row in x]",
            "[sum(row) for row in x]",
            "[max(row) for row in x]",
            "[sorted(row) for row in x]",
            "[len(row) for row in x]",
            "sum(sum(row) for row in x)",
            "[row for row in x if len(row) > 2]",
            "[row[0] for row in x]",
            "sorted(x, key=len)",
            "max(x, key=sum)",
        ),
        rng,
    )
    if rng.random() < 0.3:
        rule = _pick(
            (
                "[list(column) for column in zip(*x)]",
                "[a + b for a, b in zip(x[0], x[1])]",
                "[[a, b] for a, b in zip(x[0], x[1])]",
                "[sum(column) for column in zip(*x)]",
            ),
            rng,
        )

        def rows(r: random.Random) -> Json:
            size = _between(2, 4, r)
            return [[_between(0, 30, r) for _ in range(size)] for _ in range(2)]

        return rule, rows
    return rule, lambda r: [
        [_between(0, 30, r) for _ in range(_between(1, 4, r))] for _ in range(_between(1, 4, r))
    ]


def _filtered_records(rng: random.Random) -> tuple[str, Draw]:
    bound = _between(6, 14, rng)
    rule = _pick(
        (
            f'[row["name"] for row in x if row["n"] > {bound}]',
            '[row["name"].upper() for row in x if row["paid"]]',
            '[row for row in x if row["city"] == "Rome"]',
            'sum(row["n"] for row in x if row["paid"])',
            'sum(row["n"] * row["price"] for row in x)',
            f'len([row for row in x if row["n"] > {bound}])',
            'sum(len(row["name"]) for row in x)',
            '", ".join(row["name"] for row in x)',
            '", ".join(row["name"] for row in x if row["paid"])',
            '[row["name"] + ": " + str(row["n"]) for row in x]',
            'list(dict.fromkeys(row["city"] for row in x))',
            'any(row["paid"] for row in x)',
        ),
        rng,
    )
    return rule, lambda r: _orders(r, 2, 6)


def _changed_record(rng: random.Random) -> tuple[str, Draw]:
    names = ["id", *_distinct_nouns(rng, 6)]
    bound = _between(10, 20, rng)
    rule = _pick(
        (
            "{name: value * 2 for name, value in x.items()}",
            "{name.upper(): value for name, value in x.items()}",
            '{name: value for name, value in x.items() if name != "id"}',
            f"{{name: value for name, value in x.items() if value > {bound}}}",
            f'x.get("{names[1]}")',
            f'x.get("{names[1]}", 0)',
            '{**x, "id": 0}',
            '{**x, "total": sum(x.values())}',
            "list(x)",
            "sorted(x)",
            "sum(x.values())",
            "max(x, key=x.get)",
            "sorted(x, key=x.get)",
            '", ".join(name + "=" + str(value) for name, value in x.items())',
            "[[name, value] for name, value in x.items()]",
        ),
        rng,
    )

    def record(r: random.Random) -> Json:
        kept = [name for name in names if r.random() < 0.6] or names[:1]
        return {name: _between(1, 40, r) for name in kept}

    return rule, record


def _distinct_nouns(rng: random.Random, count: int) -> list[str]:
    start = _between(0, len(NOUNS) - count, rng)
    return NOUNS[start : start + count]


def _list_and_number(rng: random.Random) -> tuple[str, Draw]:
    if rng.random() < 0.4:
        rule = _pick(
            (
                "x[0].count(x[1])",
                "x[1] in x[0]",
                "[one for one in x[0] if one != x[1]]",
                "x[0] + [x[1]]",
            ),
            rng,
        )
        return rule, lambda r: [_nouns(r, 2, 6), _pick(NOUNS[:5], r)]
    rule = _pick(
        (
            "x[0][:x[1]]",
            "x[0][x[1]]",
            "x[0] * x[1]",
            "[one + str(x[1]) for one in x[0]]",
            "sorted(x[0], key=len)[:x[1]]",
        ),
        rng,
    )
    return rule, lambda r: [_nouns(r, 4, 6), _between(1, 3, r)]


def _curve(rng: random.Random) -> tuple[str, Draw]:
    a, b, c = _between(2, 9, rng), _between(-9, 9, rng), _between(1, 20, rng)
    factor = _pick((2.54, 1.609, 0.4536, 0.3048, 3.785), rng)
    rule = _pick(
        (
            f"{a} * x ** 2 + {b} * x + {c}",
            f"x ** 2 - {c}",
            "x * (x + 1) // 2",
            f"x ** 3 - {a} * x",
            f"round(x * {factor}, {_between(1, 2, rng)})",
            "round((x - 32) * 5 / 9, 1)",
            "round(math.pi * x ** 2, 2)",
            f"x * {a} // {_pick((3, 5, 7), rng)}",
            f"math.ceil(x / {c + 2})",
            "2 ** x",
            "sum(int(one) for one in str(x))",
            "round(math.sqrt(x), 2)",
        ),
        rng,
    )
    most = 20 if "2 **" in rule else 999 if "str" in rule else 120
    return rule, lambda r: _between(0, most, r)


def _two_numbers(rng: random.Random) -> tuple[str, Draw]:
    a, b, c = _between(2, 12, rng), _between(2, 12, rng), _between(1, 9, rng)
    rule = _pick(
        (
            "60 * x[0] + x[1]",
            f"{a} * x[0] + {b} * x[1] + {c}",
            f"{a} * x[0] - {b} * x[1]",
            "2 * (x[0] + x[1])",
            "x[0] * x[1] / 2",
            "round(100 * x[0] / x[1], 1)",
            "round(x[0] / x[1] ** 2, 1)",
            "(x[0] + x[1]) / 2",
            "x[0] * (100 - x[1]) / 100",
            "math.gcd(x[0], x[1])",
            "round(math.hypot(x[0], x[1]), 2)",
        ),
        rng,
    )
    names = _pick(((0, 1), ("width", "height"), ("a", "b")), rng)
    if names[0] == 0:
        return rule, lambda r: [_between(1, 90, r), _between(1, 60, r)]
    rule = rule.replace("x[0]", f'x["{names[0]}"]').replace("x[1]", f'x["{names[1]}"]')
    return rule, lambda r: {names[0]: _between(1, 90, r), names[1]: _between(1, 60, r)}


def _clock(rng: random.Random) -> str:
    return f"{_between(0, 23, rng):02d}:{_between(0, 59, rng):02d}"


def _time(rng: random.Random) -> tuple[str, Draw]:
    read, minutes = 'datetime.strptime(x, "%H:%M")', 5 * _between(1, 24, rng)
    zone = 'datetime.strptime(x, "%Y-%m-%dT%H:%M:%S%z")'
    rule = _pick(
        (
            f'{read}.strftime("%I:%M %p")',
            f"{read}.hour * 60 + {read}.minute",
            f'({read} + timedelta(minutes={minutes})).strftime("%H:%M")',
            f"{read}.hour",
            f'{zone}.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")',
            f'{zone}.strftime("%H:%M")',
            'datetime.strptime(x, "%I:%M %p").strftime("%H:%M")',
        ),
        rng,
    )
    if zone in rule:
        offset = _pick(("+02:00", "-05:00", "+05:30"), rng)
        return rule, lambda r: f"{_day(r).isoformat()}T{_clock(r)}:{_between(0, 59, r):02d}{offset}"
    if rule.startswith('datetime.strptime(x, "%I'):
        return rule, lambda r: datetime.strptime(_clock(r), "%H:%M").strftime("%I:%M %p")
    return rule, _clock


def _calendar(rng: random.Random) -> tuple[str, Draw]:
    form = _pick(("%Y-%m-%d", "%d/%m/%Y", "%d-%b-%Y", "%B %d, %Y"), rng)
    read, days = f'datetime.strptime(x, "{form}")', _pick((1, 7, 10, 14, 30, 90), rng)
    first, second = (f'datetime.strptime(x[{place}], "{form}")' for place in (0, 1))
    rule = _pick(
        (
            f"{read}.timetuple().tm_yday",
            f'"Q" + str(({read}.month - 1) // 3 + 1)',
            f'{read}.replace(day=1).strftime("{form}")',
            f'({read} + timedelta(days={days})).strftime("{form}")',
            f'({read} - timedelta(days={days})).strftime("{form}")',
            f'{read}.strftime("%a")',
            f"({second} - {first}).days",
            f'({first} + timedelta(days=x[1])).strftime("{form}")',
            'datetime.fromtimestamp(x, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")',
        ),
        rng,
    )
    if "fromtimestamp" in rule:
        return rule, lambda r: _between(10**9, 2 * 10**9, r)
    if second in rule:
        return rule, lambda r: [_day(r).strftime(form), _day(r).strftime(form)]
    if first in rule:
        return rule, lambda r: [_day(r).strftime(form), _between(1, 60, r)]
    return rule, lambda r: _day(r).strftime(form)


def _duration(rng: random.Random) -> tuple[str, Draw]:
    rule = _pick(
        (
            'f"{x // 60}:{x % 60:02d}"',
            'f"{x // 60}h {x % 60}m"',
            'f"{x // 3600}:{x // 60 % 60:02d}:{x % 60:02d}"',
            'int(x.split(":")[0]) * 60 + int(x.split(":")[1])',
            'int(x.split("h")[0]) * 60 + int(x.split()[1][:-1])',
            "round(x / 60, 1)",
        ),
        rng,
    )
    if "split(" not in rule:
        most = 30_000 if "3600" in rule else 2_000
        return rule, lambda r: _between(1, most, r)
    if "h" in rule:
        return rule, lambda r: f"{_between(0, 12, r)}h {_between(0, 59, r)}m"
    return rule, lambda r: f"{_between(0, 90, r)}:{_between(0, 59, r):02d}"


def _money(rng: random.Random) -> tuple[str, Draw]:
    sign, tax = _pick("$€£", rng), _pick((1.19, 1.07, 0.9, 0.85), rng)
    texts = (
        f'float(x.replace("{sign}", "").replace(",", ""))',
        'float(x[1:].replace(",", "")) * 2',
    )
    rule = _pick(
        (
            f'f"{sign}{{x:.2f}}"',
            f'f"{sign}{{x:,.2f}}"',
            f'f"{{x:.2f}} {sign}"',
            f"round(x * {tax}, 2)",
            'f"{x:.2f}".replace(".", ",")',
            'f"{x / 100:.1%}"',
            *texts,
        ),
        rng,
    )

    def amount(r: random.Random) -> float:
        return _between(1, 999_999 if r.random() < 0.5 else 9_999, r) / 100

    return rule, (lambda r: f"{sign}{amount(r):,.2f}") if rule in texts else amount


def _level(rng: random.Random) -> tuple[str, Draw]:
    low, high = 5 * _between(2, 8, rng), 5 * _between(10, 16, rng)
    names = _pick((("low", "mid", "high"), ("C", "B", "A"), ("cold", "mild", "hot")), rng)
    rule = f"{names[0]!r} if x < {low} else {names[1]!r} if x < {high} else {names[2]!r}"
    bounds = (low - 1, low, high - 1, high)
    return rule, lambda r: _pick(bounds, r) if r.random() < 0.5 else _between(0, 100, r)


KINDS: dict[str, Callable[[random.Random], tuple[str, Draw]]] = {
    "initials": _initials, "names": _swapped_name, "dates": _date_form, "cases": _case, "slugs": _slug,
    "fields": _field, "insertions": _inserted, "digits": _digits, "replacements": _replaced,
    "counts": _counted, "lines": _scaled, "fractions": _fraction, "truth values": _truth,
    "tests of texts": _truth_of_text, "record fields": _picked_fields, "computed records": _computed_fields,
    "list elements": _each, "parts of lists": _filtered, "lists of records": _column, "null": _missing,
    "arguments": _arguments, "numbers as texts": _padded,
    "sorted lists": _sorted_list, "groups": _grouped, "nested lists": _nested,
    "filtered records": _filtered_records, "changed records": _changed_record,
    "lists and arguments": _list_and_number, "curves": _curve, "two numbers": _two_numbers,
    "times": _time, "calendar": _calendar, "durations": _duration, "money": _money, "levels": _level,
}  # fmt: skip
