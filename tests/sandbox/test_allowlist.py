"""The modules that a source may use and stay stateless: no permitted name is or holds anything that
changes, and nothing of them is imported late.

Internals: the list of permitted names is gone through name by name.
"""

from __future__ import annotations

import dis
import importlib
import json
import subprocess
import sys
import types
from pathlib import Path

from peirce.sandbox.inside import allowlist, state

MUTABLE = (list, dict, set, bytearray, types.ModuleType)


def test_a_permitted_name_is_no_module_and_no_container_and_holds_none() -> None:
    for module, names in allowlist.PERMITTED.items():
        real = importlib.import_module(module)
        present = [name for name in names if hasattr(real, name)]
        assert len(present) >= 0.8 * len(names), module
        for name in present:
            value = getattr(real, name)
            assert not isinstance(value, MUTABLE), (module, name)
            assert not hasattr(value, "cache_info"), (module, name)
            if isinstance(value, type):
                for at in dir(value):
                    if not at.startswith("_") and (module, name) != ("typing", "Any"):
                        assert not isinstance(getattr(value, at, None), MUTABLE), (module, name, at)
            if f"{module}.{name}" in allowlist.CONSTANTS:
                assert type(value) in (int, float, complex, str)


def stores(code: types.CodeType) -> bool:
    return any(
        at.opname in ("STORE_ATTR", "DELETE_ATTR") for at in dis.get_instructions(code)
    ) or any(stores(one) for one in code.co_consts if isinstance(one, types.CodeType))


def test_foreign_classes_that_set_attributes_of_any_object_are_known() -> None:
    """Their methods could be called with a foreign function as `self`. The others: enumerations and
    typing are never values, those of C and of checked methods refuse a `self` of another type."""
    known = {"fractions.Fraction", "functools.cached_property", "random.Random"}
    for module, names in allowlist.PERMITTED.items():
        for name in names:
            kind = getattr(importlib.import_module(module), name, None)
            if isinstance(kind, type) and module not in ("enum", "typing"):
                methods = [m for at in kind.__mro__ for m in vars(at).values()]
                found = [
                    m for m in methods if isinstance(m, types.FunctionType) and stores(m.__code__)
                ]
                assert not found or f"{module}.{name}" in known | state._SETTERS, (name, found)


def test_foreign_functions_share_no_mutable_default() -> None:
    for module, names in allowlist.PERMITTED.items():
        for name in names:
            value = getattr(importlib.import_module(module), name, None)
            for one in [value, *(vars(value).values() if isinstance(value, type) else [])]:
                if isinstance(one, types.FunctionType) and name != "deepcopy":
                    every = [*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
                    assert not any(isinstance(default, MUTABLE) for default in every), (
                        module,
                        name,
                    )


def test_all_preloaded_modules_exist_and_nothing_is_imported_by_the_common_functions() -> None:
    calls = """
import json, sys
for name in json.loads(sys.argv[1]):
    __import__(name)
before = set(sys.modules)
import ast, base64, calendar, copy, datetime, decimal, difflib, fractions, functools, json, random, re
import statistics, string, textwrap, typing, unicodedata, dataclasses, collections, enum
datetime.datetime.strptime("2020-01-02", "%Y-%m-%d").strftime("%a")
datetime.date(2020, 1, 2).isoformat(), datetime.date.fromisoformat("2020-01-02")
for codec in ("latin-1", "utf-16", "utf-32", "utf-8-sig", "cp1252", "ascii", "rot13", "hex"):
    import codecs; codecs.lookup(codec)
"a".encode("utf-7"), b"a".decode("cp437"), "a".encode("unicode_escape"), "a".encode("punycode")
statistics.quantiles([1, 2, 3]), statistics.linear_regression([1, 2, 3], [1, 2, 4])
statistics.mode("aab"), statistics.fmean([1, 2]), statistics.pstdev([1, 2])
random.sample(range(9), 3), random.Random(3).gauss(0, 1), random.shuffle([1, 2])
re.sub("(?i)[a-z]+", "b", "abc"), re.compile("a|b", re.X).findall("aab")
json.loads(json.dumps({"a": [1.5, None]}, indent=1, sort_keys=True))
copy.deepcopy({"a": [set([1])]}), copy.copy(collections.deque([1]))
str(decimal.Decimal("1.10").quantize(decimal.Decimal("0.1"))), fractions.Fraction("1/3")
textwrap.fill("a b c", 2), difflib.get_close_matches("a", ["ab"]), list(difflib.ndiff(["a"], ["b"]))
base64.b85encode(b"abc"), unicodedata.normalize("NFKD", "a"), unicodedata.lookup("LATIN SMALL LETTER A")
collections.namedtuple("P", "x y")(1, 2)._asdict(), typing.List[int], calendar.isleap(2020)
dataclasses.asdict(dataclasses.make_dataclass("D", ["x"])(1)), enum.Enum("E", "a b").a
list[int] | None, "{:,.2f}".format(1e9), sorted({1: 2}.items(), key=functools.cmp_to_key(lambda a, b: 0))
"\\N{DIGIT ONE}".encode().decode("unicode_escape")
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", calls.replace("\\\\", "\\"),
         json.dumps(allowlist.PRELOADED)],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == []


def test_it_loads_beside_the_harness_as_a_plain_file() -> None:
    folder = str(Path(state.__file__).parent)
    code = f"""
import sys
sys.path.insert(0, {folder!r})
import allowlist, ast, state
print(int(state.analyse_reach(ast.parse("def f(x, a=[]): return a"), "f")), len(state.PRELOADED) > 30)
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout == "1 True\n"
