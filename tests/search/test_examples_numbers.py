"""The embedded search on pairs of numbers, dates and times: the first answers, and what is not believed.

Internals: the engine is asked directly for one sentence and one order of answers.
"""

from __future__ import annotations

import random

import pytest
from peirce.search.examples import engine

from .example_pairs import BUDGET, Pair, search

# Of each kind: the shown pairs, others, and the first answer.
PLAIN: dict[str, tuple[list[Pair], list[Pair], str]] = {
    'hh:mm': ([('01:30', 90), ('02:15', 135), ('10:05', 605)], [('23:59', 1439)], "60 * int(x.split(':')[0]) + int(x.split(':')[-1])"),
    'perimeter': ([({'w': 3, 'h': 4}, 14), ({'w': 5, 'h': 2}, 14), ({'w': 10, 'h': 7}, 34)], [({'w': 1, 'h': 9}, 20)], "2 * (x['h'] + x['w'])"),
    'tri area': ([([3, 4], 6.0), ([5, 7], 17.5), ([9, 2], 9.0)], [([3, 3], 4.5)], 'x[0] * x[1] / 2'),
    'bmi round': ([({'w': 70, 'h': 1.75}, 22.9), ({'w': 82, 'h': 1.8}, 25.3), ({'w': 55, 'h': 1.62}, 21.0), ({'w': 95, 'h': 1.9}, 26.3)], [({'w': 60, 'h': 1.7}, 20.8)], "round(x['w'] / x['h'] ** 2, 1)"),
    'quad': ([(1, 3), (2, 11), (4, 45), (5, 71)], [(0, 1), (10, 291)], '3 * x ** 2 - x + 1'),
    'triangular': ([(1, 1), (4, 10), (7, 28), (10, 55)], [(100, 5050)], '(x ** 2 + x) // 2'),
    'sqrt': ([(4, 2.0), (9, 3.0), (2.25, 1.5)], [(16, 4.0)], 'math.sqrt(x)'),
    'pow2': ([(1, 2), (3, 8), (10, 1024)], [(5, 32)], '2 ** x'),
    'inch': ([(10, 25.4), (3, 7.6), (7, 17.8), (1.5, 3.8)], [(100, 254.0), (11, 27.9)], 'round(x * 2.54, 1)'),
    '9//5': ([(3, 5), (10, 18), (7, 12), (21, 37)], [(13, 23)], 'x * 9 // 5'),
    'trunc': ([(2.7, 2), (9.1, 9), (5.5, 5)], [(8.99, 8)], 'int(x)'),
    'ceil': ([(2.2, 3), (9.1, 10), (5.0, 5), (7.9, 8)], [(8.01, 9)], 'math.ceil(x)'),
    'digit sum': ([(123, 6), (405, 9), (99, 18), (7, 7)], [(888, 24)], 'sum([int(one) for one in str(x)])'),
    'gcd': ([([12, 18], 6), ([35, 14], 7), ([9, 4], 1), ([100, 75], 25)], [([8, 12], 4)], 'math.gcd(x[0], x[1])'),
    'bin': ([(5, '101'), (8, '1000'), (19, '10011')], [(6, '110')], "format(x, 'b')"),
    'unhex': ([('ff', 255), ('10', 16), ('a0', 160)], [('ab', 171)], 'int(x, 16)'),
    'levels': ([(3, 'low'), (7, 'low'), (12, 'mid'), (35, 'mid'), (55, 'high'), (80, 'high')], [(1, 'low'), (20, 'mid'), (99, 'high')], "'low' if x < 10 else 'mid' if x < 50 else 'high'"),
    'percent': ([(0.25, '25%'), (0.5, '50%'), (0.07, '7%')], [(0.29, '29%')], 'f"{x:.0%}"'),
    'dollar,': ([(1234.5, '$1,234.50'), (12.0, '$12.00'), (99999.99, '$99,999.99')], [(7000.25, '$7,000.25')], 'f"${x:,.2f}"'),
    'v1.2': ([('v1.2', 'v1.3'), ('v2.9', 'v2.10'), ('v0.0', 'v0.1')], [('v3.4', 'v3.5')], 'x[:-1] + str(int(x[-1]) + 1)'),
    'comma': ([('3,5', 3.5), ('12,25', 12.25), ('0,75', 0.75)], [('7,1', 7.1)], "float(x.replace(',', '.'))"),
    'mixed': ([(1, 0.5), (2, 1), (3, 1.5)], [(5, 2.5)], 'x / 2'),
    '12h short': ([('14:30', '2:30 PM'), ('09:05', '9:05 AM'), ('23:59', '11:59 PM')], [('00:10', '12:10 AM')], 'datetime.strptime(x, \'%H:%M\').strftime(\'%I:%M %p\').lstrip("0")'),
    'dbY': ([('15-Mar-2024', '2024-03-15'), ('01-Dec-1999', '1999-12-01')], [('30-Jul-2010', '2010-07-30')], "datetime.strptime(x, '%d-%b-%Y').strftime('%Y-%m-%d')"),
    'tz utc': ([('2024-03-15T10:00:00+02:00', '2024-03-15T08:00:00Z'), ('1999-12-01T23:30:00-05:00', '1999-12-02T04:30:00Z')], [('2010-07-30T01:00:00+02:00', '2010-07-29T23:00:00Z')], "datetime.strptime(x, '%Y-%m-%dT%H:%M:%S%z').astimezone(timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')"),
    'quarter': ([('2024-03-15', 'Q1'), ('1999-12-01', 'Q4'), ('2010-05-30', 'Q2')], [('2011-08-01', 'Q3')], "'Q' + str((datetime.strptime(x, '%Y-%m-%d').month - 1) // 3 + 1)"),
    'first of month': ([('2024-03-15', '2024-03-01'), ('1999-12-01', '1999-12-01'), ('2010-05-30', '2010-05-01')], [('2011-08-11', '2011-08-01')], "datetime.strptime(x, '%Y-%m-%d').replace(day=1).strftime('%Y-%m-%d')"),
    '+30 days': ([('2024-03-15', '2024-04-14'), ('1999-12-01', '1999-12-31'), ('2010-04-30', '2010-05-30')], [('2011-08-11', '2011-09-10')], "(datetime.strptime(x, '%Y-%m-%d') + timedelta(days=30)).strftime('%Y-%m-%d')"),
    '+weeks': ([(['2024-03-15', 2], '2024-03-29'), (['1999-12-30', 1], '2000-01-06'), (['2010-04-30', 3], '2010-05-21')], [(['2011-08-11', 4], '2011-09-08')], "(datetime.strptime(x[0], '%Y-%m-%d') + timedelta(weeks=x[1])).strftime('%Y-%m-%d')"),
    'days between': ([(['2024-03-15', '2024-03-20'], 5), (['1999-12-30', '2000-01-02'], 3), (['2010-04-30', '2010-07-01'], 62)], [(['2011-08-11', '2011-08-12'], 1)], "(datetime.strptime(x[1], '%Y-%m-%d') - datetime.strptime(x[0], '%Y-%m-%d')).days"),
    'm:ss': ([(90, '1:30'), (75, '1:15'), (605, '10:05'), (59, '0:59')], [(3000, '50:00')], 'f"{x // 60}:{x % 60:02d}"'),
    'from h m': ([('1h 30m', 90), ('1h 15m', 75), ('10h 5m', 605), ('0h 59m', 59)], [('5h 0m', 300)], '60 * int(re.findall(r"\\d+", x)[0]) + int(re.findall(r"\\d+", x)[-1])'),
    'to h:mm:ss': ([(3723, '1:02:03'), (600, '0:10:00'), (36059, '10:00:59')], [(7201, '2:00:01')], 'f"{x // 3600}:{(x // 60) % 60:02d}:{x % 60:02d}"'),
    'unix': ([(1710496800, '2024-03-15T10:00:00Z'), (0, '1970-01-01T00:00:00Z'), (1000000000, '2001-09-09T01:46:40Z')], [(1600000000, '2020-09-13T12:26:40Z')], "(datetime(1970, 1, 1) + timedelta(seconds=x)).strftime('%Y-%m-%dT%H:%M:%SZ')"),
    'to unix': ([('2024-03-15T10:00:00Z', 1710496800), ('1970-01-01T00:00:00Z', 0), ('2001-09-09T01:46:40Z', 1000000000)], [('2020-09-13T12:26:40Z', 1600000000)], "(datetime.strptime(x, '%Y-%m-%dT%H:%M:%SZ') - datetime(1970, 1, 1)) // timedelta(seconds=1)"),
    'time diff': ([(['09:00', '10:30'], 90), (['11:15', '11:20'], 5), (['00:00', '23:00'], 1380)], [(['12:00', '14:00'], 120)], "(datetime.strptime(x[1], '%H:%M') - datetime.strptime(x[0], '%H:%M')) // timedelta(minutes=1)"),
    'time+': ([('09:00', '09:45'), ('11:15', '12:00'), ('22:50', '23:35')], [('12:00', '12:45')], "(datetime.strptime(x, '%H:%M') + timedelta(minutes=45)).strftime('%H:%M')"),
    'long date': ([('2024-03-15', 'Friday, 15 March 2024'), ('1999-12-01', 'Wednesday, 01 December 1999')], [('2010-07-30', 'Friday, 30 July 2010')], "datetime.strptime(x, '%Y-%m-%d').strftime('%A, %d %B %Y')"),
    'circle': ([(1, 3.14), (2, 12.57), (5, 78.54)], [(10, 314.16)], 'round(math.pi * x ** 2, 2)'),
    'interest': ([([1000, 5], 1050.0), ([200, 10], 220.0), ([50, 4], 52.0)], [([100, 7], 107.0)], 'x[0] + x[0] * x[1] / 100'),
    'kilobytes': ([(2048, '2.0 KB'), (5000, '4.9 KB'), (123456, '120.6 KB'), (900, '0.9 KB')], [(70000, '68.4 KB')], 'f"{x / 1024:.1f} KB"'),
    'hours': ([(5000, 1.39), (123456, 34.29), (900, 0.25), (70000, 19.44)], [(33333, 9.26)], 'round(x / 3600, 2)'),
    'thousands': ([(2048, 2.0), (5500, 5.5), (123456, 123.5), (900, 0.9)], [(70010, 70.0)], 'round(x / 1000, 1)'),
    'tax': ([(100.0, 119.0), (50.0, 59.5), (19.99, 23.79)], [(10.0, 11.9)], 'round(x * 1.19, 2)'),
    'f2c': ([(32, 0.0), (212, 100.0), (98, 36.7), (50, 10.0)], [(100, 37.8)], 'round((x - 32) * 5 / 9, 1)'),
    'hyp': ([([3, 4], 5.0), ([6, 8], 10.0), ([5, 12], 13.0)], [([8, 15], 17.0)], 'math.hypot(x[0], x[1])'),
    'h:m:s': ([('1:02:03', 3723), ('0:10:00', 600), ('10:00:59', 36059)], [('2:00:01', 7201)], '(2 * int(x.split(\':\')[-1]) + 3 * int(x.replace(\':\', "")) - 12000 * int(x.split(\':\')[0])) // 5'),
}  # fmt: skip


@pytest.mark.parametrize("kind", PLAIN)
def test_the_first_answer_on_numbers_and_dates_is_the_plain_one(kind: str) -> None:
    shown, others, body = PLAIN[kind]
    first = search(shown)[0]
    assert first.text.endswith(f"\n    return {body}")
    assert first.is_consistent(others)


def test_random_numbers_have_no_program() -> None:
    """Three to eight pairs of one, two or three random numbers, and of texts of them."""
    rng = random.Random(0)
    for count in (3, 4, 5, 8):
        for size in (1, 2, 3):
            inputs = [[round(100 * rng.random(), 1) for _ in range(size)] for _ in range(count)]
            outputs = [int(1_000 * rng.random()) for _ in inputs]
            assert search(list(zip(inputs, outputs, strict=True)), 20_000) == []
            texts = [" ".join(map(str, one)) for one in inputs]
            fractions = [round(n / 7, 2) for n in outputs]
            assert search(list(zip(texts, fractions, strict=True)), 20_000) == []


def test_the_sentence_says_that_two_readings_of_dates_fit() -> None:
    """The other reading is the next answer."""
    shown = [["03/03/2024", "2024-03-03"], ["04/04/2024", "2024-04-04"]]
    space = ["03/03/2024", "04/04/2024", "05/06/2024", "07/08/2024"]
    problem = engine.Problem(shown, space, BUDGET)
    first = problem.propose([], frozenset())
    assert first is not None
    assert first.description.endswith("reads dates as day/month; no shown pair excludes month/day.")
    second = problem.propose([first.source], frozenset())
    assert second is not None and second.source == first.source.replace("%d/%m", "%m/%d")


@pytest.mark.parametrize("wanted", ["2024-04-03", "2024-03-04"])
def test_the_outputs_decide_how_dates_are_read(wanted: str) -> None:
    first = search([("03/04/2024", wanted), ("05/05/2023", "2023-05-05")])[0]
    assert first.is_consistent([("03/04/2024", wanted)]) and "reads dates" not in first.sentence


def test_whole_numbers_among_fractions_are_fractions() -> None:
    pairs = [(1, 0.5), (2, 1), (3, 1.5), (8, 4)]
    assert [type(out) for _, out in engine.Problem(list(map(list, pairs)), [], 9).shown] == [
        float
    ] * 4
