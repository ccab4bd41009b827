"""Rules on texts, their dates included."""

from __future__ import annotations

import random

from .drawing import (
    MARKS,
    NOUNS,
    Kind,
    Rule,
    any_of,
    between,
    draw_day,
    draw_fields,
    draw_name,
    draw_phrase,
    pick,
)


def _initials(rng: random.Random) -> Rule:
    between = pick(("", ".", ". ", "-"), rng)
    return f"{between!r}.join(word[0] for word in x.split())", draw_name


_NAMES = (
    'x.split()[1] + ", " + x.split()[0]',
    'x[0] + ". " + x.split()[-1]',
    "x.split()[-1].upper()",
)


def _date_form(rng: random.Random) -> Rule:
    forms = ["%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d %B %Y", "%B %d, %Y"]
    old = pick(forms, rng)
    new = pick([form for form in [*forms, "%A", "%B", "%Y"] if form != old], rng)
    return f'datetime.strptime(x, "{old}").strftime("{new}")', lambda r: draw_day(r).strftime(old)


def _case(rng: random.Random) -> Rule:
    return f"x.{pick(('upper', 'title', 'capitalize', 'swapcase'), rng)}()", draw_phrase


def _slug(rng: random.Random) -> Rule:
    mark = pick("-_.", rng)
    return f'x.lower().replace(" ", "{mark}")', lambda r: draw_phrase(r).title()


def _field(rng: random.Random) -> Rule:
    mark, count = pick(MARKS, rng), between(3, 4, rng)
    place = pick((0, 1, 2, -1), rng)
    return f"x.split({mark!r})[{place}]", draw_fields(mark, count)


def _inserted(rng: random.Random) -> Rule:
    before, after = pick(("Dear ", "re: ", "<", "id="), rng), pick((",", "!", ">", ""), rng)
    return f"{before!r} + x + {after!r}", lambda r: pick(NOUNS, r) + str(between(1, 99, r))


_DIGITS = (
    '"".join(c for c in x if c.isdigit())',
    '"".join(c for c in x if not c.isdigit())',
    'int("".join(c for c in x if c.isdigit()))',
)


def _replaced(rng: random.Random) -> Rule:
    old = pick(MARKS, rng)
    new = pick([one for one in ("", " ", " - ", *MARKS) if one != old], rng)
    return f"x.replace({old!r}, {new!r})", draw_fields(old, 3)


_COUNTS = ("len(x.split())", "len(x)", 'x.count("r")', 'x.count(" ")')


def _truth_of_text(rng: random.Random) -> Rule:
    noun = pick(NOUNS, rng)
    rule = pick(
        (f'"{noun}" in x', f'x.startswith("{noun}")', "len(x) > 12", 'x.endswith("r")'), rng
    )
    return (
        rule,
        lambda r: f"{noun} {draw_phrase(r, 1, 2)}" if r.random() < 0.4 else draw_phrase(r, 1, 3),
    )


def _missing(rng: random.Random) -> Rule:
    rule = pick(
        (
            'None if x == "" else int(x)',
            'None if x == "" else x.upper()',
            'None if x == "n/a" else x',
        ),
        rng,
    )
    empty = "n/a" if "n/a" in rule else ""
    words = (
        (lambda r: str(between(1, 999, r)))
        if "int" in rule
        else (lambda r: pick(NOUNS, r) + str(between(1, 9, r)))
    )
    return rule, lambda r: empty if r.random() < 0.3 else words(r)


def _padded(rng: random.Random) -> Rule:
    width = between(4, 6, rng)
    return pick(
        (f"str(x).zfill({width})", '"#" + str(x)', 'str(x) + "%"', 'format(x, ",")'), rng
    ), lambda r: between(1, 99_999 if r.random() < 0.5 else 99, r)


KINDS: dict[str, Kind] = {
    "initials": _initials,
    "names": any_of(_NAMES, draw_name),
    "dates": _date_form,
    "cases": _case,
    "slugs": _slug,
    "fields": _field,
    "insertions": _inserted,
    "digits": any_of(_DIGITS, lambda rng: f"{pick(NOUNS, rng)}{between(10, 9999, rng)}"),
    "replacements": _replaced,
    "counts": any_of(_COUNTS, lambda rng: draw_phrase(rng, 1, 6)),
    "tests of texts": _truth_of_text,
    "null": _missing,
    "numbers as texts": _padded,
}
