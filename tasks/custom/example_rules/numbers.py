"""Rules on numbers, times and sums of money."""

from __future__ import annotations

import random
from datetime import datetime

from .drawing import (
    Kind,
    Rule,
    any_of,
    between,
    draw_day,
    pick,
)


def _scaled(rng: random.Random) -> Rule:
    a, b = between(2, 12, rng), between(-9, 20, rng)
    return pick(
        (f"{a} * x", f"{a} * x + {b}", f"x * {a} / 10 + {b}", "x * 9 / 5 + 32"), rng
    ), lambda r: between(-20, 100, r)


def _fraction(rng: random.Random) -> Rule:
    places = between(1, 2, rng)
    return pick((f"round(x, {places})", "x * 2.54", "x / 4", "round(x)"), rng), lambda r: round(
        r.random() * 100, 4
    )


def _truth(rng: random.Random) -> Rule:
    bound = between(5, 60, rng)
    return pick(
        ("x % 2 == 0", f"x > {bound}", "x % 3 == 0", f"x < {bound}"), rng
    ), lambda r: between(0, 70, r)


_ARGUMENTS = ("x[0] + x[1]", "x[0] * x[1]", "x[0] - x[1]", "max(x[0], x[1])")


def _curve(rng: random.Random) -> Rule:
    a, b, c = between(2, 9, rng), between(-9, 9, rng), between(1, 20, rng)
    factor = pick((2.54, 1.609, 0.4536, 0.3048, 3.785), rng)
    rule = pick(
        (
            f"{a} * x ** 2 + {b} * x + {c}",
            f"x ** 2 - {c}",
            "x * (x + 1) // 2",
            f"x ** 3 - {a} * x",
            f"round(x * {factor}, {between(1, 2, rng)})",
            "round((x - 32) * 5 / 9, 1)",
            "round(math.pi * x ** 2, 2)",
            f"x * {a} // {pick((3, 5, 7), rng)}",
            f"math.ceil(x / {c + 2})",
            "2 ** x",
            "sum(int(one) for one in str(x))",
            "round(math.sqrt(x), 2)",
        ),
        rng,
    )
    most = 20 if "2 **" in rule else 999 if "str" in rule else 120
    return rule, lambda r: between(0, most, r)


def _two_numbers(rng: random.Random) -> Rule:
    a, b, c = between(2, 12, rng), between(2, 12, rng), between(1, 9, rng)
    rule = pick(
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
    names = pick(((0, 1), ("width", "height"), ("a", "b")), rng)
    if names[0] == 0:
        return rule, lambda r: [between(1, 90, r), between(1, 60, r)]
    rule = rule.replace("x[0]", f'x["{names[0]}"]').replace("x[1]", f'x["{names[1]}"]')
    return rule, lambda r: {names[0]: between(1, 90, r), names[1]: between(1, 60, r)}


def _clock(rng: random.Random) -> str:
    return f"{between(0, 23, rng):02d}:{between(0, 59, rng):02d}"


def _time(rng: random.Random) -> Rule:
    read, minutes = 'datetime.strptime(x, "%H:%M")', 5 * between(1, 24, rng)
    zone = 'datetime.strptime(x, "%Y-%m-%dT%H:%M:%S%z")'
    rule = pick(
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
        offset = pick(("+02:00", "-05:00", "+05:30"), rng)
        return (
            rule,
            lambda r: f"{draw_day(r).isoformat()}T{_clock(r)}:{between(0, 59, r):02d}{offset}",
        )
    if rule.startswith('datetime.strptime(x, "%I'):
        return rule, lambda r: datetime.strptime(_clock(r), "%H:%M").strftime("%I:%M %p")
    return rule, _clock


def _calendar(rng: random.Random) -> Rule:
    form = pick(("%Y-%m-%d", "%d/%m/%Y", "%d-%b-%Y", "%B %d, %Y"), rng)
    read, days = f'datetime.strptime(x, "{form}")', pick((1, 7, 10, 14, 30, 90), rng)
    first, second = (f'datetime.strptime(x[{place}], "{form}")' for place in (0, 1))
    rule = pick(
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
        return rule, lambda r: between(10**9, 2 * 10**9, r)
    if second in rule:
        return rule, lambda r: [draw_day(r).strftime(form), draw_day(r).strftime(form)]
    if first in rule:
        return rule, lambda r: [draw_day(r).strftime(form), between(1, 60, r)]
    return rule, lambda r: draw_day(r).strftime(form)


def _duration(rng: random.Random) -> Rule:
    rule = pick(
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
        return rule, lambda r: between(1, most, r)
    if "h" in rule:
        return rule, lambda r: f"{between(0, 12, r)}h {between(0, 59, r)}m"
    return rule, lambda r: f"{between(0, 90, r)}:{between(0, 59, r):02d}"


def _money(rng: random.Random) -> Rule:
    sign, tax = pick("$€£", rng), pick((1.19, 1.07, 0.9, 0.85), rng)
    texts = (
        f'float(x.replace("{sign}", "").replace(",", ""))',
        'float(x[1:].replace(",", "")) * 2',
    )
    rule = pick(
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
        return between(1, 999_999 if r.random() < 0.5 else 9_999, r) / 100

    return rule, (lambda r: f"{sign}{amount(r):,.2f}") if rule in texts else amount


def _level(rng: random.Random) -> Rule:
    low, high = 5 * between(2, 8, rng), 5 * between(10, 16, rng)
    names = pick((("low", "mid", "high"), ("C", "B", "A"), ("cold", "mild", "hot")), rng)
    rule = f"{names[0]!r} if x < {low} else {names[1]!r} if x < {high} else {names[2]!r}"
    bounds = (low - 1, low, high - 1, high)
    return rule, lambda r: pick(bounds, r) if r.random() < 0.5 else between(0, 100, r)


KINDS: dict[str, Kind] = {
    "lines": _scaled, "fractions": _fraction, "truth values": _truth, "arguments": any_of(_ARGUMENTS, lambda rng: [between(1, 40, rng), between(1, 40, rng)]),
    "curves": _curve, "two numbers": _two_numbers, "times": _time, "calendar": _calendar,
    "durations": _duration, "money": _money, "levels": _level,
}  # fmt: skip
