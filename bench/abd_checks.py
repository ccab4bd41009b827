"""Judging exception rules in larger worlds: `python bench/abd_checks.py [--worlds N] [--rounds N]
[--json FILE]`.

Random worlds of 16 to 256 elements, in which each element has three neighbours by R and three by S
and 18 atoms are unknown. The rules have quantifier depth 2 to 4, or four variables at once, and all
but one are guarded: atoms say which neighbours matter. Each is joined to the antecedent of the theory,
so that it is valid and its completions count. One line for each number of elements and rule:
milliseconds of CPU by the fast path in each regime, the ratio to the full regime, and "Z3" where the
fast path gives up. Theory and worlds are prepared before the clock runs, once for all rules.
"""

from __future__ import annotations

import argparse
import random
import time
from statistics import median

from peirce.tools.logic.fast_path import REGIMES, BeyondFastPath, PreparedWorlds
from peirce.tools.logic.parser import parse_formula
from peirce.tools.logic.theories import PUBLISHED_THEORIES, SIGNATURE
from peirce.tools.logic.worlds import World
from table import Row, add_json_option, write_rows

SIZES = (16, 64, 256)
NEIGHBOURS, UNKNOWN = 3, 18
RULES = {
    "depth 2": "(exists y (and (R x y) (and (P y) (forall z (implies (R y z) (P z))))))",
    "depth 3": "(exists y (and (R x y) (exists z (and (S y z) (and (Q z)"
    " (forall w (implies (R z w) (or (R x w) (P w)))))))))",
    "depth 3, three variables": "(forall y (implies (R x y) (exists z (and (R x z)"
    " (and (R y z) (exists w (and (S z w) (or (R y w) (Q w)))))))))",
    "depth 3, two of three": "(exists y (exists z (and (R x y) (and (R x z) (and (not (= y z))"
    " (forall w (implies (R x w) (or (= w y) (or (= w z) (P w))))))))))",
    "depth 4": "(forall y (implies (R x y) (exists z (and (R y z) (forall w (implies (S z w)"
    " (exists v (and (R w v) (or (= v x) (P v))))))))))",
    "four variables": "(exists y (exists z (exists w (and (R x y) (and (R y z) (and (R z w)"
    " (or (S w x) (and (P w) (not (= y w)))))))))) ",
    "unguarded, depth 3": "(exists y (forall z (or (R x z) (exists w (iff (S y w) (R z w))))))",
}
THEORY = PUBLISHED_THEORIES["TH11"]
ANTECEDENT = "(exists y (and (R x y) (P y)))"
OTHER = parse_formula("(P x)", SIGNATURE)


def draw_world(draw: random.Random, size: int, name: str) -> World:
    true, unknown = {}, {}
    for predicate, places in SIGNATURE.items():
        if places == 1:
            true[predicate] = tuple((e,) for e in range(size) if draw.random() < 0.35)
            continue
        pairs = {(draw.randrange(size), draw.randrange(size)) for _ in range(NEIGHBOURS * size)}
        open_ = set(draw.sample(sorted(pairs), UNKNOWN // 2))
        true[predicate] = tuple(sorted(pairs - open_))
        unknown[predicate] = tuple(sorted(open_))
    return World(name, tuple(f"a{e}" for e in range(size)), true, unknown)


def measure(prepared: PreparedWorlds, text: str, rounds: int) -> float | None:
    """Median seconds of CPU; None where the fast path gives up."""
    found = []
    formula = parse_formula(f"(or {ANTECEDENT} {text})", SIGNATURE)
    for _ in range(1 + rounds):  # the first one fills what is kept of the worlds
        prepared.judge(OTHER)  # or the rule's values could be kept from the last round
        start = time.process_time()
        try:
            prepared.judge(formula)
        except BeyondFastPath:
            return None
        found.append(time.process_time() - start)
    return median(found[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=5, help="worlds judged at once (default 5)")
    parser.add_argument("--rounds", type=int, default=5, help="measured judgements (default 5)")
    add_json_option(parser)
    options = parser.parse_args()
    rows = []
    for size in SIZES:
        draw = random.Random(f"{size} elements")
        worlds = tuple(draw_world(draw, size, f"W{n}") for n in range(options.worlds))
        regimes = {regime: PreparedWorlds(THEORY, worlds, regime) for regime in REGIMES}
        for name, text in RULES.items():
            found = {key: measure(one, text, options.rounds) for key, one in regimes.items()}
            full = found["full"]
            said = []
            for regime, seconds in found.items():
                if seconds is None:
                    said.append(f"{regime} Z3")
                    continue
                ratio = f" ({seconds / full:.1f})" if full and regime != "full" else ""
                said.append(f"{regime} {1000 * seconds:.2f} ms{ratio}")
                rows.append(
                    Row(f"judging a rule in {options.worlds} worlds of {size} elements, {name},"
                        f" {regime}, CPU", 1000 * seconds, "ms")
                )  # fmt: skip
            print(f"{size:4} elements, {name:26} {', '.join(said)}", flush=True)
    write_rows(options.json, rows)


if __name__ == "__main__":
    main()
