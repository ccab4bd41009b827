"""The embedded search on pairs of any JSON values: what it finds for everyday rules, that the source of
each operation computes what the operation does, and awkward data.

Internals: the grammar's rows are called directly, because a session shows only whole programs.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import subprocess
import sys
import tracemalloc
from collections import Counter
from datetime import datetime, timedelta, timezone
from itertools import accumulate
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.search.budget import STANDARD, Budget
from peirce.search.engines import SearchService, find_engine
from peirce.search.examples import bank, engine
from peirce.search.examples.constants import parts_of
from peirce.search.examples.expressions import Expression
from peirce.search.examples.grammar import OPERATIONS, RAISED, STR, Operation
from peirce.search.examples.search import Search

BUDGET = 60_000
Pair = tuple[Any, Any]

# Of each kind: the shown pairs, and those that the first answer must be right on, too.
KINDS: dict[str, tuple[list[Pair], list[Pair]]] = {
    "initials": ([("Ada Lovelace", "AL"), ("Alan Turing", "AT")], [("Grace Brewster Hopper", "GBH")]),
    "dates": ([("2024-03-15", "15/03/2024"), ("1999-12-01", "01/12/1999")], [("2010-07-30", "30/07/2010")]),
    "day of the week": ([("2024-03-15", "Friday"), ("2024-03-16", "Saturday")], [("2024-03-20", "Wednesday")]),
    "upper case": ([("abc", "ABC"), ("Hello you", "HELLO YOU")], [("x y", "X Y")]),
    "slugs": ([("Hello World Again", "hello-world-again"), ("My First Post!", "my-first-post")], [("What, Now?", "what-now")]),
    "last of a path": ([("a/b/c.txt", "c.txt"), ("x/yy.md", "yy.md")], [("p/q/r/s", "s")]),
    "inserted text": ([("Doe", "Dear Doe,"), ("Lee", "Dear Lee,")], [("Ray Man", "Dear Ray Man,")]),
    "celsius": ([(0, 32.0), (100, 212.0), (37, 98.6)], [(-40, -40.0), (20, 68.0)]),
    "celsius, fractions": ([(0.0, 32.0), (100.0, 212.0), (36.6, 97.88)], [(20.0, 68.0)]),
    "twice": ([(1, 2), (5, 10), (-3, -6)], [(40, 80)]),
    "squares": ([(1, 1), (5, 25), (-3, 9)], [(12, 144)]),
    "even": ([(1, False), (2, True), (7, False), (10, True), (0, True)], [(13, False), (44, True)]),
    "over a bound": ([(3, False), (15, True), (9, False), (11, True), (10, False)], [(40, True), (1, False)]),
    "rounded": ([(3.14159, 3.14), (2.71828, 2.72)], [(1.23456, 1.23)]),
    "a field": ([({"name": "Ann", "age": 3}, "Ann"), ({"name": "Bob", "age": 5}, "Bob")], [({"name": "Cy", "age": 1}, "Cy")]),
    "another record": (
        [({"first": "Ann", "last": "Lee", "n": 1}, {"name": "Ann Lee", "n": 1}), ({"first": "Bob", "last": "Ray", "n": 4}, {"name": "Bob Ray", "n": 4})],
        [({"first": "Cy", "last": "Oh", "n": 9}, {"name": "Cy Oh", "n": 9})],
    ),
    "a computed field": (
        [({"price": 2, "count": 3}, {"total": 6}), ({"price": 5, "count": 4}, {"total": 20}), ({"price": 7, "count": 1}, {"total": 7})],
        [({"price": 9, "count": 9}, {"total": 81})],
    ),
    "each in upper case": ([(["a", "b"], ["A", "B"]), (["xy"], ["XY"])], [(["p", "q", "r"], ["P", "Q", "R"])]),
    "the long ones": ([(["apple", "fig", "banana"], ["apple", "banana"]), (["kiwi", "plum", "cherry"], ["cherry"])], [(["pear", "orange"], ["orange"])]),
    "sorted": ([(["b", "a", "c"], ["a", "b", "c"]), (["z", "y"], ["y", "z"])], [(["n", "m"], ["m", "n"])]),
    "names of records": ([([{"n": "a", "v": 1}, {"n": "b", "v": 2}], ["a", "b"]), ([{"n": "c", "v": 1}], ["c"])], [([{"n": "d", "v": 3}], ["d"])]),
    "a total": ([([{"p": 2}, {"p": 3}], 5), ([{"p": 4}], 4), ([{"p": 1}, {"p": 1}, {"p": 7}], 9)], [([{"p": 10}, {"p": 5}], 15)]),
    "means": ([([1.0, 2.0, 3.0], 2.0), ([4.0, 7.0], 5.5)], [([1.0, 1.0, 4.0], 2.0)]),
    "null": ([("", None), ("5", 5), ("12", 12)], [("7", 7)]),
    "two arguments": ([([3, 4], 12), ([5, 6], 30), ([2, 7], 14)], [([9, 9], 81)]),
    "zeros in front": ([(5, "005"), (42, "042")], [(123, "123")]),
    "not": ([(True, False), (False, True)], []),
    "words": ([("a b c", 3), ("one", 1)], [("to be or not", 4)]),
    "thousands": ([(1234567, "1,234,567"), (1000, "1,000")], [(99999, "99,999")]),
}  # fmt: skip

# Of each kind: the shown pairs, others, and the first answer.
PLAIN: dict[str, tuple[list[Pair], list[Pair], str]] = {
    'hh:mm': ([('01:30', 90), ('02:15', 135), ('10:05', 605)], [('23:59', 1439)], "60 * int(x.split(':')[0]) + int(x.split(':')[-1])"),
    'perimeter': ([({'w': 3, 'h': 4}, 14), ({'w': 5, 'h': 2}, 14), ({'w': 10, 'h': 7}, 34)], [({'w': 1, 'h': 9}, 20)], "2 * (x['w'] + x['h'])"),
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
    'tax': ([(100.0, 119.0), (50.0, 59.5), (19.99, 23.79)], [(10.0, 11.9)], 'round(x * 1.19, 2)'),
    'f2c': ([(32, 0.0), (212, 100.0), (98, 36.7), (50, 10.0)], [(100, 37.8)], 'round((x - 32) * 5 / 9, 1)'),
    'hyp': ([([3, 4], 5.0), ([6, 8], 10.0), ([5, 12], 13.0)], [([8, 15], 17.0)], 'math.hypot(x[0], x[1])'),
    'h:m:s': ([('1:02:03', 3723), ('0:10:00', 600), ('10:00:59', 36059)], [('2:00:01', 7201)], '(2 * int(x.split(\':\')[-1]) + 3 * int(x.replace(\':\', "")) - 12000 * int(x.split(\':\')[0])) // 5'),
}  # fmt: skip
# Of lists and records: the program that the first answer must be, and inputs that show what it does.
LISTS: list[tuple[str, list[Any]]] = [
    ("sorted(x, key=len)", [["ccc", "a", "bb"], ["dddd", "ee", "f"], ["xx", "y"]]),
    ("sorted(x, key=len, reverse=True)", [["ccc", "a", "bb"], ["dd", "eeee", "f"], ["x", "yy"]]),
    ("sorted(x, key=lambda row: row['age'], reverse=True)", [[{"n": "a", "age": 3}, {"n": "b", "age": 9}], [{"n": "c", "age": 7}, {"n": "d", "age": 2}, {"n": "e", "age": 8}]]),
    ("sorted(x, key=lambda one: one.split()[-1])", [["Ada Lovelace", "Alan Turing", "Grace Hopper"], ["Don Knuth", "Bar Liskov"], ["Zed Alpha", "Abe Zulu"]]),
    ("sorted(x, key=lambda one: int(one.split('-')[-1]))", [["a-10", "b-9", "c-1"], ["q-5", "r-20"], ["z-100", "a-20", "b-3"]]),
    ("sorted(x, key=lambda row: row['n'])[:2]", [[{"n": 3, "k": "a"}, {"n": 1, "k": "b"}, {"n": 2, "k": "c"}], [{"n": 9, "k": "u"}, {"n": 4, "k": "v"}, {"n": 7, "k": "w"}, {"n": 1, "k": "z"}]]),
    ("[row['name'] for row in sorted(x, key=lambda row: row['n'])]", [[{"n": 3, "name": "a"}, {"n": 1, "name": "b"}, {"n": 2, "name": "c"}], [{"n": 9, "name": "u"}, {"n": 4, "name": "v"}]]),
    ("[row['name'] for row in sorted(x, key=lambda row: row['n'], reverse=True)[:2]]", [[{"n": 3, "name": "a"}, {"n": 1, "name": "b"}, {"n": 2, "name": "c"}], [{"n": 9, "name": "u"}, {"n": 4, "name": "v"}, {"n": 14, "name": "w"}]]),
    ("max(x, key=lambda row: row['n'])['name']", [[{"n": 3, "name": "a"}, {"n": 1, "name": "b"}, {"n": 2, "name": "c"}], [{"n": 4, "name": "v"}, {"n": 9, "name": "u"}], [{"n": 1, "name": "g"}]]),
    ("min(x, key=lambda row: row['n'])", [[{"n": 3, "name": "a"}, {"n": 1, "name": "b"}, {"n": 2, "name": "c"}], [{"n": 4, "name": "v"}, {"n": 9, "name": "u"}], [{"n": 1, "name": "g"}]]),
    ("max(x, key=len)", [["a", "bbb", "cc"], ["dddd", "e"], ["f", "gg"]]),
    ("sorted(x, key=lambda one: (len(one), one))", [["bb", "aa", "c"], ["dd", "ccc", "bb", "a"], ["zz", "xx", "y"]]),
    ("list(dict.fromkeys(x))", [["a", "b", "a"], ["x", "x", "y"], ["q"]]),
    ("len(set(x))", [["a", "b", "a"], ["x", "x"], ["q", "r", "s"]]),
    ("dict(Counter(x))", [["a", "b", "a"], ["x", "x", "y"], ["q"]]),
    ("{key: [row['name'] for row in x if row['city'] == key] for key in dict.fromkeys(row['city'] for row in x)}", [[{"city": "R", "name": "u"}, {"city": "P", "name": "v"}, {"city": "R", "name": "w"}], [{"city": "L", "name": "a"}, {"city": "P", "name": "b"}]]),
    ("dict(Counter(row['city'] for row in x))", [[{"city": "R", "name": "u"}, {"city": "P", "name": "v"}, {"city": "R", "name": "w"}], [{"city": "L", "name": "a"}, {"city": "P", "name": "b"}]]),
    ("{key: sum(row['n'] for row in x if row['city'] == key) for key in dict.fromkeys(row['city'] for row in x)}", [[{"city": "R", "n": 3}, {"city": "P", "n": 4}, {"city": "R", "n": 5}], [{"city": "L", "n": 6}, {"city": "P", "n": 7}]]),
    ("{key: [one for one in x if one[0] == key] for key in dict.fromkeys(one[0] for one in x)}", [["ab", "ac", "ba"], ["xy", "xz", "zz"], ["q"]]),
    ("{row['id']: row['name'] for row in x}", [[{"id": "1", "name": "a"}, {"id": "2", "name": "b"}], [{"id": "7", "name": "c"}]]),
    ("[a + b for a, b in zip(x[0], x[1])]", [[[1, 2], [3, 4]], [[5, 6, 7], [1, 1, 2]]]),
    ("list(map(list, zip(*x)))", [[["a", "b"], [3, 4]], [["c", "d", "e"], [1, 1, 2]]]),
    ("[[n, one] for n, one in enumerate(x)]", [["a", "b"], ["c", "d", "e"]]),
    ("[str(n + 1) + '. ' + one for n, one in enumerate(x)]", [["a", "b"], ["c", "d", "e"]]),
    ("[one for row in x for one in row]", [[[1, 2], [3]], [[4], [5, 6], []]]),
    ("[[one.upper() for one in row] for row in x]", [[["a", "b"], ["c"]], [["d"], ["e", "f"]]]),
    ("[sum(row) for row in x]", [[[1, 2], [3]], [[4], [5, 6]]]),
    ("[x[k:k + 2] for k in range(0, len(x), 2)]", [[1, 2, 3, 4], [5, 6, 7, 8, 9]]),
    ("[[a, b] for a, b in zip(x, x[1:])]", [["a", "b", "c"], ["d", "e"], ["f", "g", "h", "i"]]),
    ("[row['name'] for row in x if row['n'] > 3]", [[{"n": 6, "name": "h"}, {"n": 3, "name": "a"}, {"n": 5, "name": "b"}, {"n": 4, "name": "c"}], [{"n": 1, "name": "d"}, {"n": 9, "name": "e"}], [{"n": 2, "name": "f"}, {"n": 8, "name": "g"}]]),
    ("[one.upper() for one in x if len(one) > 3]", [["harbor", "abc", "abcd", "xyzzy"], ["q", "quux"], ["foo", "barb"]]),
    ("sum(row['n'] * row['price'] for row in x)", [[{"n": 2, "price": 3}, {"n": 4, "price": 5}], [{"n": 3, "price": 3}], [{"n": 2, "price": 2}, {"n": 1, "price": 10}]]),
    ("sum(row['n'] for row in x if row['ok'])", [[{"n": 2, "ok": True}, {"n": 4, "ok": False}], [{"n": 3, "ok": True}, {"n": 5, "ok": True}], [{"n": 2, "ok": False}, {"n": 1, "ok": True}]]),
    ("any(row['n'] > 3 for row in x)", [[{"n": 5}, {"n": 0}], [{"n": 1}, {"n": 2}, {"n": 3}], [{"n": 2}, {"n": 4}], [{"n": 1}, {"n": 3}], [{"n": 5}], [{"n": 2}]]),
    ("{k.upper(): v for k, v in x.items()}", [{"a": 1, "b": 2}, {"c": 5}, {"a": 4, "d": 7}]),
    ("{k: v for k, v in x.items() if k != 'id'}", [{"a": 1, "id": 2}, {"c": 5, "id": 3, "d": 4}, {"a": 4, "d": 7, "id": 0}]),
    ("{k: v for k, v in x.items() if v > 3}", [{"a": 1, "b": 5}, {"c": 5, "d": 3, "e": 4}, {"a": 4, "d": 7, "g": 0}]),
    ("{k: v for k, v in x.items() if v is not None}", [{"a": None, "c": 4, "b": 6}, {"a": 1, "b": None}, {"c": None, "d": 3, "e": 4}, {"a": 4, "d": 7, "g": None}]),
    ("x.get('a')", [{"a": 1, "b": 5}, {"b": 5}, {"a": 4, "d": 7}]),
    ("x.get('a', 0)", [{"a": 1, "b": 5}, {"b": 5}, {"a": 4, "d": 7}]),
    ("x[0] | x[1]", [[{"a": 1}, {"b": 5}], [{"b": 5}, {"c": 2}], [{"a": 4, "d": 7}, {"a": 0}]]),
    ("{**x, 'total': x['n'] * x['p']}", [{"n": 2, "p": 3, "c": "x"}, {"n": 4, "p": 5, "d": 1}, {"n": 7, "p": 2}]),
    ("list(x)", [{"a": 1, "b": 5}, {"b": 5}, {"a": 4, "d": 7}]),
    ("list(x.values())", [{"a": 1, "b": 5}, {"b": 5}, {"a": 4, "d": 7}]),
    ("sum(x.values())", [{"a": 1, "b": 5}, {"b": 5}, {"a": 4, "d": 7}]),
    ("max(x, key=x.get)", [{"a": 1, "b": 5}, {"b": 5}, {"a": 4, "d": 2}]),
    ("sorted(x, key=x.get)", [{"a": 7, "b": 5}, {"b": 5, "c": 9}, {"a": 4, "d": 2, "e": 3}]),
    ("', '.join(row['name'] for row in x)", [[{"name": "a", "n": 1}, {"name": "b", "n": 1}], [{"name": "c", "n": 1}], [{"name": "d", "n": 2}, {"name": "e", "n": 3}, {"name": "f", "n": 3}]]),
    ("'&'.join(k + '=' + str(v) for k, v in x.items())", [{"a": 1, "b": 5}, {"b": 5, "c": 12}, {"a": 4, "d": 7}]),
    ("x[0][:x[1]]", [[["a", "b", "c"], 2], [["d", "e", "f"], 1], [["g", "h", "i", "j"], 3]]),
    ("x[0][x[1]]", [[["a", "b", "c"], 2], [["d", "e", "f"], 1], [["g", "h", "i", "j"], 0]]),
    ("x[1] in x[0]", [[["a", "b", "c"], "b"], [["d", "e", "f"], "q"], [["g", "h", "i", "j"], "j"], [["a"], "z"]]),
    ("x[0].count(x[1])", [[["a", "b", "a"], "a"], [["d", "e", "f"], "d"], [["g", "g", "g", "j"], "g"], [["a"], "z"]]),
    ("[one * x[1] for one in x[0]]", [[[1, 2, 3], 2], [[4, 5], 3], [[7, 8, 9, 1], 10]]),
    ("[one for one in x[0] if one != x[1]]", [[["a", "b", "a"], "a"], [["d", "e", "f"], "e"], [["g", "h"], "h"]]),
    ("x[0] + [x[1]]", [[["a", "b"], "c"], [["d"], "e"], [["f", "g", "h"], "i"]]),
    ("[row[x[1]] for row in x[0]]", [[[{"a": 1, "b": 2}, {"a": 3, "b": 4}], "a"], [[{"a": 5, "b": 6}, {"a": 3, "b": 9}], "b"], [[{"a": 7, "b": 8}], "a"]]),
    ("x[::-1]", [[{"a": 1}, {"a": 2}], [{"a": 3}, {"a": 4}, {"a": 5}]]),
    ("x[0]", [[{"a": 1}, {"a": 2}], [{"a": 3}, {"a": 4}, {"a": 5}]]),
    ("x[-1]['a']", [[{"a": 1}, {"a": 2}], [{"a": 3}, {"a": 4}, {"a": 5}]]),
    ("[{'id': row['n'], 'name': row['first'] + ' ' + row['last']} for row in x]", [[{"n": 1, "first": "A", "last": "B"}, {"n": 2, "first": "C", "last": "D"}], [{"n": 3, "first": "E", "last": "F"}]]),
    ("[min(x), max(x)]", [[1, 2, 3], [4, 5], [6, 7, 8, 9]]),
    ("{'min': min(x), 'max': max(x)}", [[1, 2, 3], [4, 5], [9, 6, 7, 8]]),
    ("[one for one in x if one is not None]", [["a", None], ["b", "c", None], [None, "d"]]),
    ("[each for one in x for each in one.split()]", [["a b", "c"], ["d e f"], ["g", "h i"]]),
    ("[one for row in x for one in row['tags']]", [[{"tags": ["a", "b"], "n": 1}, {"tags": ["c"], "n": 1}], [{"tags": [], "n": 1}, {"tags": ["d", "e"], "n": 2}]]),
    ("[{**row, 'total': row['n'] * row['p']} for row in x]", [[{"n": 1, "p": 5}, {"n": 2, "p": 3}], [{"n": 7, "p": 2}], [{"n": 4, "p": 4}]]),
    ("list(accumulate(x))", [[1, 2, 3], [4, 5], [6, 7, 8, 9]]),
    ("[b - a for a, b in zip(x, x[1:])]", [[1, 2, 4], [4, 9], [6, 7, 3, 9]]),
    ("next(row['name'] for row in x if row['ok'])", [[{"name": "a", "ok": False}, {"name": "b", "ok": True}], [{"name": "c", "ok": True}, {"name": "d", "ok": True}], [{"name": "e", "ok": False}, {"name": "f", "ok": False}, {"name": "g", "ok": True}]]),
    ("[row for row in x if row['city'] == 'Rome']", [[{"city": "Rome", "n": 1}, {"city": "Paris", "n": 2}], [{"city": "Oslo", "n": 3}, {"city": "Rome", "n": 4}, {"city": "Rome", "n": 5}], [{"city": "Oslo", "n": 6}]]),
]  # fmt: skip


def search(pairs: list[Pair], expansions: float = BUDGET) -> list[engine.Candidate]:
    problem = engine.Problem([list(pair) for pair in pairs], [], expansions)
    return problem.rank()


@pytest.mark.parametrize("kind", KINDS)
def test_an_everyday_rule_is_the_first_answer(kind: str) -> None:
    shown, others = KINDS[kind]
    first = search(shown)[0]
    assert first.is_consistent(shown)
    assert first.is_consistent(others), first.text


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


# Inputs, and up to which price expressions are drawn from them; outputs, where constants depend on them.
SAMPLES: list[tuple[list[Any], int] | tuple[list[Any], int, list[Any]]] = [
@pytest.mark.parametrize(("program", "inputs"), LISTS, ids=[program for program, _ in LISTS])
def test_the_first_answer_on_lists_and_records_is_what_a_person_would_write(
    program: str, inputs: list[Any]
) -> None:
    names: dict[str, Any] = {"Counter": Counter, "accumulate": accumulate}
    pairs = [(given, eval(program, names | {"x": given})) for given in inputs]
    assert search(pairs)[0].text.endswith(f"\n    return {program}")


def test_a_search_for_an_element_that_is_not_there_has_no_result() -> None:
    """As in `next(...)`, on inputs that are unlike the shown ones."""
    (inputs,) = (given for program, given in LISTS if program.startswith("next("))
    names: dict[str, Any] = {}
    exec("def f(x):\n    return next(row['name'] for row in x if row['ok'])", names)
    found = search([(given, names["f"](given)) for given in inputs])
    assert not found[0].predict([[], [{"name": "a", "ok": False}]])[1].any()


def test_long_lists_are_sorted() -> None:
    inputs = [[{"n": k * j % 997, "name": f"w{k}"} for k in range(1_500)] for j in (7, 31, 57)]
    first = search([(given, sorted(given, key=lambda row: row["n"])) for given in inputs])[0]
    assert first.text.endswith("return sorted(x, key=lambda row: row['n'])")


def test_a_bound_is_the_roundest_that_the_pairs_allow() -> None:
    rows = [[3, 8, 47], [62, 12], [38, 41], [51, 44, 1]]
    pairs = [([{"n": n} for n in row], sum(n for n in row if n > 40)) for row in rows]
    assert search(pairs)[0].text.endswith("return sum(row['n'] for row in x if row['n'] > 40)")


SAMPLES: list[
    tuple[list[Any], int]
] = [  # inputs, and up to which price expressions are drawn from them
    (["Ada 12, Lee-3 <b>x</b>", "a-b", "07 07", ""], 13),
    ([["Ann Lee", "n"], ["bob", "b"], ["x-n", "n"]], 14),
    ([3, -12, 1250, 0], 15),
    ([[4, 5], [7, 7], [-3, 40]], 15),
    ([2.5, -0.125, 31.0], 14),
    ([[1.5, 2.0], [0.5]], 13),
    (["12.5", "7", "003"], 14),
    ([["b a", "c", ""], ["z"]], 14),
    ([[3, 1, 2], [5]], 14),
    (["2024-03-15T10:45:00", "1999-12-01T00:05:00"], 16),
    ([True, False], 14),
    ([[1.5, 2.5], [4.0, 0.5]], 14),
    ([["apple", "p"], ["bb", "b"], ["c-1", "c-1"], ["x p", "x"], ["pq", "q"], ["", "a"]], 14),
    (["a-b", "b-a", "-b", "ab-ab-", "cab", "-", "bc-a", "-a-", "a", "a-"], 12),
    ([[1, 1], [2, 3], [4, 4], [5, 1], [0, 7], [7, 0], [9, 9], [12, 4]], 13),
    ([["a", "a"], ["ab", "a"], ["b", "ab"], ["xa", "a"], ["ax", "x"], ["q", "q"], ["axa", "a"]], 9),
    ([[["a", "b", "a", "c", "b"], "b", 2], [["q", "p"], "p", 1], [["z", "z"], "y", 0]], 13),
    ([[[3, 1, 3, 9, 1], 2], [[5, 2], 1], [[7, 7, 8], 7]], 13),
    ([[[0.5, 2.5, 0.5], 2.5, 1], [[4.0, 3.0], 4.0, 0], [[1.0], 2.0, 2]], 13),
    ([[[{"n": 1}, {"n": 2}, {"n": 3}], 2], [[{"n": 5}], 1], [[{"n": 7}, {"n": 7}], 0]], 12),
    ([[[1, "a", None], [True]], [[{"b": 2}], []]], 12),
    ([{"a": 3, "b": 1}, {"b": 7}, {"a": 2, "c": 0}], 12),
    ([[True, False], [True, True], [False, False], [False, True]], 12),
    (["10:45:09", "00:05:30"], 12),
    (["2024-03-15", "1999-12-01"], 14),
    (["2024-03-15T10:45:00+02:00", "1999-12-01T00:05:00-05:00"], 12),
    (["2024-03-15", "1999-12-01"], 12, [1710460800, 944006400]),
    ([1710460800, 944006400], 12, ["2024-03-15", "1999-12-01"]),
    ([5, 8, 19], 8, ["101", "1000", "10011"]),
    (["101", "1000", "10011"], 8, [5, 8, 19]),
]


PAGE = (Path(__file__).parents[2] / "docs/explanation/search.md").read_text("utf-8")
ROWS = re.findall(r"^\| (`.+` → `.+`) \| `(.+)` \|$", PAGE, re.M)


@pytest.mark.parametrize(("pairs", "program"), ROWS)
def test_the_first_answers_on_the_page_are_those_of_the_search(pairs: str, program: str) -> None:
    shown = [tuple(map(json.loads, pair.strip("`").split("` → `"))) for pair in pairs.split("; `")]
    assert search(shown, STANDARD)[0].text.endswith(f"\n    return {program}")


def test_the_page_has_examples() -> None:
    assert len(ROWS) > 10


def test_the_source_of_each_operation_computes_what_its_function_does() -> None:
    """On up to thirty expressions of each, on inputs of several kinds."""
    checked: Counter[str] = Counter()
    for inputs, price, *others in SAMPLES:
        outputs = others[0] if others else ["x"] * len(inputs)
        some = bank.Bank(inputs, outputs, Budget(60_000))
        while some.price < 2 * price and some.grow():
            pass
        names: dict[str, Any] = {
            "re": re, "math": math, "datetime": datetime, "timedelta": timedelta, "timezone": timezone,
            "accumulate": accumulate
        }  # fmt: skip
        here: Counter[str] = Counter()
        for one in (
            e for levels in some.levels.values() for level in levels.values() for e in level
        ):
            if one.operation is None or here[one.operation.name] == 30:
                continue
            for given, value in zip(inputs, one.values, strict=False):
                try:
                    found = eval(one.source(), names, {"x": given})
                except RAISED:
                    found = bank.UNDEFINED
                assert found == value or value is bank.UNDEFINED, one.source()
            here[one.operation.name] += 1
        checked += here
    assert {row.name for row in OPERATIONS} <= set(checked)


def test_a_new_operation_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows, of which each is used."""
    rows = (
        Operation("doubled", (STR,), STR, 3, lambda s: s + s, "{0} * 2", True),
        Operation("hashed", (STR,), STR, 3, lambda s: hex(sum(map(ord, s)))[2:], "hex(sum(map(ord, {0:free})))[2:]"),
        Operation("centred", (STR,), STR, 3, lambda s: s.center(9, "*"), '{0}.center(9, "*")'),
    )  # fmt: skip
    monkeypatch.setattr(bank, "OPERATIONS", (*OPERATIONS, *rows))
    for row in rows:
        pairs = [(text, row.function(text)) for text in ("ab", "cde", "fghij")]
        assert search(pairs)[0].is_consistent([("xyz", row.function("xyz"))])


@pytest.mark.parametrize(
    "pairs",
    [
        [("Straße", "STRASSE"), ("naïve", "NAÏVE")],
        [("日本 東京", "東京"), ("中国 北京", "北京")],
        [("👩‍👧 ok", "ok"), ("👍 yes", "yes")],
        [("", ""), ("a", "a")],
        [("only one", "one")],
        [("a", None), ("b", None)],
        [([1, "a", None], "a"), ([2, "b", True], "b")],
        [({"a": [1, {"b": "x"}]}, "x"), ({"a": [2, {"b": "y"}]}, "y")],
    ],
)
def test_awkward_pairs_have_an_answer(pairs: list[Pair]) -> None:
    assert search(pairs)[0].is_consistent(pairs)


def test_ten_thousand_pairs_are_all_reproduced() -> None:
    """Also the few that differ from the others."""
    pairs = [(f"item {n}", "none" if n == 7_777 else str(n)) for n in range(10_000)]
    plain = [(given, out) for given, out in pairs if out != "none"]
    assert search(plain)[0].is_consistent(plain)
    assert all(one.is_consistent(pairs) for one in search(pairs))


def progress(pairs: list[Pair], expansions: int = 3_000) -> dict[str, object]:
    request = {
        "shown": [list(pair) for pair in pairs], "space": "s", "inputs": [given for given, _ in pairs],
        "expansions": expansions, "earlier": [], "skip": [], "family": "programs",
    }  # fmt: skip
    return SearchService().propose(request)


def test_a_search_without_an_answer_says_how_many_expansions_it_spent() -> None:
    pairs = [("qwe", "0x81"), ("rty", "zz9"), ("uio", "-..-"), ("pas", "\t7"), ("dfg", "Q q")]
    said = progress(pairs)
    assert said["exhausted"] is True and 3_000 <= said["expansions"] < 6_000
    assert (said["right"], said["best"]) == (0, "")
    assert progress([(None, 0), ("a", 1)])["expansions"] == 0  # no operation on both


def test_a_search_without_an_answer_says_what_is_right_on_most_pairs() -> None:
    words = ["ab", "cd", "ef", "gh", "ij", "kl", "mn"]
    said = progress([*((word, word.upper()) for word in words), ("op", "?!")])
    assert (said["right"], said["best"]) == (7, "x.upper()")
    assert progress([(word, "-") for word in words[:6]] + [("a", "?!"), ("b", "!?")])["right"] == 0


LINES = "\n".join(f"row {k}" for k in range(20_000))


def test_a_part_is_written_before_what_leaves_it_unchanged() -> None:
    pairs = [([f"w{n}", f"v{n}"], f"v{n}") for n in range(3)]
    assert search(pairs)[0].text.endswith("return x[1]")


def test_a_rare_case_is_found_among_many_pairs() -> None:
    pairs = [(n, "a" if n < 9_990 else "b") for n in range(10_000)]
    assert search(pairs)[0].text.endswith("return 'a' if (x < 9990) else 'b'")


@pytest.mark.parametrize(
    ("pairs", "wanted"),
    [
        ([(LINES, "row 0"), ("a\nb", "a"), ("q\nr", "q")], "x.split('\\n')[0]"),
        ([([*range(100_000)], 100_000), ([1, 2], 2)], "len(x)"),
        ([([f"k{i * n}" for i in range(2_000)], f"k{5 * n}") for n in (1, 2, 3)], "x[5]"),
        ([({f"k{i}": i * n for i in range(2_000)}, 5 * n) for n in (1, 2, 3)], "x['k5']"),
    ],
    ids=["a text of 20,000 lines", "a list of 100,000", "2,000 arguments", "2,000 fields"],
)
def test_large_inputs_have_an_answer_in_little_memory(pairs: list[Pair], wanted: str) -> None:
    """Without a price for the elements of kept lists, the text needs three times as much."""
    tracemalloc.start()
    try:
        found = search(pairs)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found[0].text.endswith(f"return {wanted}") and most < 150e6


def test_long_outputs_without_a_program_end_soon() -> None:
    """The parts of an output are at most 30, not as many as it has characters."""
    pairs = [("ab", "ab" * 100_000), ("cd", "cd" * 100_000)]
    said = progress(pairs, 20_000)
    assert said["exhausted"] is True and said["expansions"] < 60_000


@pytest.mark.parametrize(
    "pairs",
    [
        [([1, 2, 9], [2, 3, 10]), ([5], [6])],  # [float(one) + 1 for one in x]
        [(0.0, -0.0), (1.5, -1.5), (2.5, -2.5)],  # x * 3 * -1 / 3
    ],
)
def test_programs_whose_outputs_count_as_equal_are_one_answer(pairs: list[Pair]) -> None:
    shown = [list(pair) for pair in pairs]
    space = [given for given, _ in pairs]
    problem = engine.Problem(shown, space, STANDARD)
    first = problem.propose([], frozenset())
    assert first is not None
    assert problem.propose([first.source], frozenset([first.source])) is None


def test_many_pairs_share_one_budget() -> None:
    """Later rounds, with further pairs, spend what the first one left."""
    pairs = [(f"item {n}", "none" if n % 97 == 50 else str(n)) for n in range(1_000)]
    said = progress(pairs)
    assert said["expansions"] < 2 * 3_000
    assert said["right"] == sum(out != "none" for _, out in pairs) and said["best"]


def test_outputs_that_differ_in_the_last_digits_are_no_contradiction() -> None:
    pairs = [(0.1, 0.1 + 0.2), (0.1, 0.3), (0.2, 0.4)]
    assert progress(pairs)["source"] == "def f(x):\n    return x + 0.2"


def test_nothing_found_is_an_empty_list_within_the_budget() -> None:
    pairs = [("qwe", "0x81"), ("rty", "zz9"), ("uio", "-..-"), ("pas", "\t7"), ("dfg", "Q q")]
    shown = [list(pair) for pair in pairs]
    found = Search(shown, 5_000)
    found.run()
    assert found.budget.spent < 3 * 5_000


def test_the_search_is_the_same_however_often_it_runs() -> None:
    for kind in ("slugs", "null", "another record"):
        texts = [[one.text for one in search(KINDS[kind][0])] for _ in range(2)]
        assert texts[0] == texts[1]


def test_constants_have_one_order_in_every_process() -> None:
    """Hashes of texts differ between processes, and the first of two equal expressions is kept."""
    program = (
        "from peirce.search.examples.constants import constants_of\n"
        "print(list(constants_of(['a-b_c, d=e; f', 'g-h_c, d=i; j'], ['<c:d>', '<c/d>'])))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True, check=True,
        ).stdout
        for seed in (1, 2, 3)
    }  # fmt: skip
    assert len(printed) == 1


def test_other_families_get_no_programs() -> None:
    shown = [[{"text": "good"}, "pos"], [{"text": "bad"}, "neg"]]
    names = {family: find_engine(shown, family) for family in ("programs", "text", "logic")}
    assert [one and one.name for one in names.values()] == ["examples", "text", None]


def test_parts_of_inputs_are_named_as_python_names_them() -> None:
    inputs = [{"a": [1, "x"], "b": {"c": 2.0}}, {"a": [2, "y"], "b": {"c": 3.0}, "d": 0}]
    parts = {one.source(): one.values for _, one in parts_of(inputs)}
    assert parts == {
        "x['a'][0]": (1, 2), "x['a'][1]": ("x", "y"), "x['b']['c']": (2.0, 3.0),
        "'d' in x": (False, True), "x.get('d', 0)": (0, 0), "list(x)": (["a", "b"], ["a", "b", "d"]),
        "list(x.values())": ([[1, "x"], {"c": 2.0}], [[2, "y"], {"c": 3.0}, 0]),
    }  # fmt: skip
    pair = {one.source(): one.values for _, one in parts_of([[{"a": 3}, "a"]], ("row", "k"))}
    assert pair == {"row['a']": (3,), "k": ("a",), "row[k]": (3,)}
    null = {one.source(): one.values for _, one in parts_of([None, 2])}
    assert null == {"x is None": (True, False), "x is not None": (False, True)}
    assert isinstance(Expression(1, ("x",), text="x").source(), str)


def test_a_session_answers_ordinary_pairs(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"problem": kind, "input": given, "output": out, "split": split}
        for kind in ("initials", "another record", "null", "twice")
        for split, pairs in zip(("shown", "hidden"), KINDS[kind], strict=True)
        for given, out in pairs
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    digests = set()
    for workers in (1, 2):
        store = tmp_path / f"{workers}.duckdb"
        session = peirce.run(
            "examples", data=path, model="search", max_answers=1, workers=workers, store=store
        )
        digests.add(session.digest)
        assert session.status == "done"
        listed = peirce.show(session.session, store=store)
        assert [row.verdicts["accepted"] for row in listed] == [1] * 4
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("pairs", "wanted"),
    [
        ([("k", 0), ("zz", 0), ("q", 0)], "0"),
        ([(None, None), ("x", "X"), ("y", "Y")], "None if x is None else x.upper()"),
        ([(["Ann", 3], "AnnAnnAnn"), (["Bo", 2], "BoBo"), (["Z", 4], "ZZZZ")], "x[0] * x[1]"),
        ([("ab " * 3_000 + str(k), "AB " * 3_000 + str(k)) for k in range(3)], "x.upper()"),
    ],
    ids=["equal outputs", "null stays null", "text times number", "long texts"],
)
def test_the_first_answer_is_the_plain_one(pairs: list[Pair], wanted: str) -> None:
    assert search(pairs)[0].text.endswith(f"return {wanted}")


@pytest.mark.parametrize(
    "pairs",
    [
        [(10**400, 2 * 10**400), (3, 6), (7, 14)],
        [([10**400, 1], 10**400 + 1), ([1, 2], 3), ([5, 5], 10)],
    ],
)
def test_integers_beyond_floats_are_no_error(pairs: list[Pair]) -> None:
    assert all(one.is_consistent(pairs) for one in search(pairs))


def test_a_long_text_that_outputs_share_is_one_constant() -> None:
    letter = "Dear customer, thank you for your order. " * 4
    pairs = [(name, f"{letter}{name}. Bye") for name in ("Ann", "Bo", "Cy Lee")]
    assert search(pairs)[0].is_consistent([("Di", f"{letter}Di. Bye")])


def test_long_texts_take_little_memory() -> None:
    pairs = [("ab " * 1_000 + str(k), "ab " * 1_000 + str(k) * 2 + "k") for k in range(3)]
    tracemalloc.start()
    try:
        search(pairs, 20_000)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 200 << 20
