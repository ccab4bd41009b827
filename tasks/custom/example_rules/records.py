"""Rules on lists and records."""

from __future__ import annotations

import random

from ....records import Json
from .drawing import FIRST, LAST, NOUNS, Kind, Rule, any_of, between, draw_name, pick


def _person(rng: random.Random) -> dict[str, Json]:
    return {
        "first": pick(FIRST, rng),
        "last": pick(LAST, rng),
        "age": between(18, 80, rng),
        "city": pick(NOUNS, rng),
    }


_PICKED_FIELDS = (
    'x["last"]',
    '{"name": x["first"], "years": x["age"]}',
    '{"last": x["last"], "city": x["city"]}',
)
_COMPUTED_FIELDS = (
    '{"name": x["first"] + " " + x["last"]}',
    '{"code": x["city"].upper(), "next": x["age"] + 1}',
    '{"initial": x["first"][0], "old": x["age"] > 40}',
)
_EACH = (
    "[one.upper() for one in x]",
    "[len(one) for one in x]",
    "[one[0] for one in x]",
    '[one + "s" for one in x]',
)
_FILTERED = (
    "[one for one in x if len(one) > 5]",
    '[one for one in x if "r" in one]',
    "sorted(x)",
    "x[::-1]",
    "x[1:]",
)
_COLUMN = (
    '[row["name"] for row in x]',
    'sum(row["n"] for row in x)',
    'max(row["n"] for row in x)',
    "len(x)",
)


def _counted_nouns(rng: random.Random) -> list[Json]:
    return [{"name": pick(NOUNS, rng), "n": between(1, 50, rng)} for _ in range(between(1, 4, rng))]


def _nouns(rng: random.Random, least: int = 2, most: int = 5) -> list[Json]:
    return [pick(NOUNS, rng) for _ in range(between(least, most, rng))]


def _orders(rng: random.Random, least: int = 2, most: int = 5) -> list[Json]:
    return [
        {
            "name": pick(FIRST, rng),
            "city": pick(("Rome", "Paris", "Oslo"), rng),
            "n": between(1, 20, rng),
            "price": between(2, 60, rng),
            "paid": rng.random() < 0.5,
        }
        for _ in range(between(least, most, rng))
    ]


def _sorted_list(rng: random.Random) -> Rule:
    if rng.random() < 0.4:
        return any_of(
            (
                "sorted(x, key=len)",
                "sorted(x, key=lambda one: one[-1])",
                "sorted(x, reverse=True)",
                "max(x, key=len)",
                "list(dict.fromkeys(x))",
                "sorted(x, key=lambda one: (len(one), one))",
            ),
            lambda r: _nouns(r, 2, 6),
        )(rng)
    if rng.random() < 0.3:
        return any_of(
            (
                "sorted(x, key=lambda one: one.split()[-1])",
                "sorted(x, key=lambda one: one.split()[1] + one.split()[0])",
                "max(x, key=len)",
            ),
            lambda r: [draw_name(r) for _ in range(between(2, 5, r))],
        )(rng)
    field = pick(("n", "price", "name"), rng)
    rule = pick(
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


def _grouped(rng: random.Random) -> Rule:
    if rng.random() < 0.4:
        rule = pick(
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
    rule = pick(
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


def _nested(rng: random.Random) -> Rule:
    rule = pick(
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
        rule = pick(
            (
                "[list(column) for column in zip(*x)]",
                "[a + b for a, b in zip(x[0], x[1])]",
                "[[a, b] for a, b in zip(x[0], x[1])]",
                "[sum(column) for column in zip(*x)]",
            ),
            rng,
        )

        def rows(r: random.Random) -> Json:
            size = between(2, 4, r)
            return [[between(0, 30, r) for _ in range(size)] for _ in range(2)]

        return rule, rows
    return rule, lambda r: [
        [between(0, 30, r) for _ in range(between(1, 4, r))] for _ in range(between(1, 4, r))
    ]


def _filtered_records(rng: random.Random) -> Rule:
    bound = between(6, 14, rng)
    rule = pick(
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


def _changed_record(rng: random.Random) -> Rule:
    names = ["id", *_distinct_nouns(rng, 6)]
    bound = between(10, 20, rng)
    rule = pick(
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
        return {name: between(1, 40, r) for name in kept}

    return rule, record


def _distinct_nouns(rng: random.Random, count: int) -> list[str]:
    start = between(0, len(NOUNS) - count, rng)
    return NOUNS[start : start + count]


def _list_and_number(rng: random.Random) -> Rule:
    if rng.random() < 0.4:
        rule = pick(
            (
                "x[0].count(x[1])",
                "x[1] in x[0]",
                "[one for one in x[0] if one != x[1]]",
                "x[0] + [x[1]]",
            ),
            rng,
        )
        return rule, lambda r: [_nouns(r, 2, 6), pick(NOUNS[:5], r)]
    rule = pick(
        (
            "x[0][:x[1]]",
            "x[0][x[1]]",
            "x[0] * x[1]",
            "[one + str(x[1]) for one in x[0]]",
            "sorted(x[0], key=len)[:x[1]]",
        ),
        rng,
    )
    return rule, lambda r: [_nouns(r, 4, 6), between(1, 3, r)]


KINDS: dict[str, Kind] = {
    "record fields": any_of(_PICKED_FIELDS, _person),
    "computed records": any_of(_COMPUTED_FIELDS, _person),
    "list elements": any_of(_EACH, lambda rng: _nouns(rng, 1, 5)),
    "parts of lists": any_of(_FILTERED, lambda rng: _nouns(rng, 2, 6)),
    "lists of records": any_of(_COLUMN, _counted_nouns),
    "sorted lists": _sorted_list,
    "groups": _grouped,
    "nested lists": _nested,
    "filtered records": _filtered_records,
    "changed records": _changed_record,
    "lists and arguments": _list_and_number,
}
