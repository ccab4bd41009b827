"""List operations on blocks of many lists at once, by fingerprint.

An operation here does to a block what the operation of the same name in grammar.py does to a list.
Operations that take numbers are in batched_expansion.py. Where fingerprints of slices and sums are
enough, no list is built. An operation that has no block version runs by its Python text. A test
compares all block versions with the Python texts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .fingerprints import (
    LONGEST,
    POWERS,
    SHIFT,
    SUMS,
    Block,
    BoolArray,
    Codes,
    IntArray,
    Part,
    all_last_axis,
    ramp,
    unsigned,
)
from .grammar import LARGEST_COUNT, LARGEST_INTEGER

Kernel = Callable[..., Part | None]


def new_lists(values: IntArray, lengths: IntArray) -> Part:
    """Return the fingerprints of newly computed lists.

    A list is marked as undefined if one of its elements is larger than `LARGEST_INTEGER`.

    Args:
        values: The elements, shape (rows, width). Values after the end of a list are ignored.
        lengths: The length of each list, shape (rows,).
    """
    there = np.arange(values.shape[1]) < lengths[:, None]
    values = np.where(there, values, 0)
    fine = all_last_axis(np.abs(values) <= LARGEST_INTEGER)
    part = Block(values, lengths).part
    return Part(part.codes, lengths, fine)


def _neighbours(b: Block, made: IntArray) -> Part:
    if b.width == 1:
        return b.slice(0, 0)
    return new_lists(made, np.maximum(b.lengths - 1, 0))


def mask_repeatable(b: Block) -> BoolArray:
    """Return which lists have no element beyond `LARGEST_COUNT`, so that repetition is safe.

    The result is a bool array of shape (rows,).
    """
    return all_last_axis(np.abs(b.values) <= LARGEST_COUNT)


def _repeating(b: Block, part: Part) -> Part:
    return Part(part.codes, part.lengths, mask_repeatable(b))


def _around_max(
    b: Block, first: bool, place: Callable[[IntArray, IntArray], tuple[IntArray, IntArray]]
) -> Part:
    at, _ = b.index_of(b.greatest if first else b.least)
    low, high = place(at, b.lengths)
    return b.slice_between(np.minimum(low, b.lengths), np.minimum(high, b.lengths))


def drop_first_equal(b: Block, wanted: IntArray) -> Part:
    """Return each list of a block without its first element that equals an integer.

    Args:
        b: The block.
        wanted: The integer for each list, shape (rows,).
    """
    at, found = b.index_of(wanted)
    low = np.where(found, at, b.lengths)
    return b.slice_between(np.zeros_like(low), low) + b.slice_between(
        np.minimum(low + 1, b.lengths), b.lengths
    )


def _starts(b: Block) -> BoolArray:
    """Return where the runs of a list start."""
    new = b.present.copy()
    new[:, 1:] &= b.values[:, 1:] != b.values[:, :-1]
    return new


def _run_ends(b: Block) -> Part:
    ends = b.present.copy()
    ends[:, :-1] &= (b.values[:, 1:] != b.values[:, :-1]) | ~b.present[:, 1:]
    return b.compress(ends, np.broadcast_to(b.places + 1, b.values.shape))


def _tally_pairs(b: Block) -> Part:
    codes = unsigned(b.values) + SHIFT + (unsigned(b.counts) + SHIFT) * POWERS[1]
    return b.replace_each(codes * b.firsts, 2 * b.firsts.astype(np.int64))


def _interleaved(b: Block, even: Codes, odd: Codes) -> Part:
    return Part(even + POWERS[1] * odd, 2 * b.lengths)


def _numbered(b: Block, start: int, behind: bool) -> Part:
    numbers = b.encode_at_even(np.broadcast_to(b.places + start, b.values.shape))
    pair = (b.even_codes, numbers) if behind else (numbers, b.even_codes)
    return _interleaved(b, *pair)


def _path(b: Block) -> Part:
    if b.width == 1:
        return _repeating(b, b.part)
    here, then = b.values[:, :-1], b.values[:, 1:]
    between = b.present[:, 1:]
    counts = np.where(between, np.abs(then - here), 0)
    codes = np.where(then > here, ramp(here, counts, 1), ramp(here, counts, -1))
    inner = Block(here, np.maximum(b.lengths - 1, 0)).replace_each(codes, counts)
    return _repeating(b, inner + b.slice(-1, None))


def _counted(b: Block, start: int | None) -> Part:
    """Return the numbers from 0, from 1, or (None) down from each element."""
    counts = np.maximum(b.values, 0)
    first = b.values if start is None else np.full_like(b.values, start)
    return _repeating(b, b.replace_each(ramp(first, counts, -1 if start is None else 1), counts))


def _span(b: Block) -> Part:
    least, greatest = (np.where(b.lengths > 0, v, 0) for v in (b.least, b.greatest))
    counts = np.where(b.lengths > 0, greatest - least + 1, 0)
    return _repeating(b, Part(ramp(least, counts, 1), counts))


def _digits(b: Block) -> Part:
    rest = np.abs(b.values)
    codes = np.zeros(rest.shape, dtype=np.uint64)
    counts = np.zeros(rest.shape, dtype=np.int64)
    more = b.present
    while more.any():
        codes = np.where(more, unsigned(rest % 10) + SHIFT + POWERS[1] * codes, codes)
        counts += more
        rest = rest // 10
        more = rest > 0
    return b.replace_each(codes, counts)


def _inwards(width: int, lengths: IntArray) -> IntArray:
    """Return the places of a list from its ends inwards, (rows, width)."""
    k = np.arange(width)
    return np.where(k % 2 == 0, k // 2, np.maximum(lengths[:, None] - 1 - k // 2, 0))


def _weave_ends(b: Block) -> Part:
    return b.take(np.where(b.present, _inwards(b.width, b.lengths), 0)).part


def _extremes(b: Block) -> Part:
    return new_lists(_inwards(b.width, b.lengths), b.lengths)


def _swap_pairs(b: Block) -> Part:
    other = b.places ^ 1
    return b.take(
        np.where(b.present, np.where(other < b.lengths[:, None], other, b.places), 0)
    ).part


def _swap_ends(b: Block) -> Part:
    made = b.slice(-1, None) + b.slice(1, -1) + b.slice(0, 1)
    short = b.lengths < 2
    return Part(np.where(short, b.part.codes, made.codes), b.lengths)


def _evens(b: Block) -> Part:
    return Block(b.values[:, ::2], (b.lengths + 1) // 2).part


def _odds(b: Block) -> Part:
    return b.slice(0, 0) if b.width < 2 else Block(b.values[:, 1::2], b.lengths // 2).part


def _mirror(b: Block) -> Part:
    return b.part + b.reversed_block.part


def _digit_sums(b: Block) -> IntArray:
    return b.values // 10 + b.values % 10


UNARY_KERNELS: dict[str, Kernel] = {
    "reverse": lambda b: b.reversed_block.part,
    "sort": lambda b: b.sorted_block.part,
    "sort_down": lambda b: b.sorted_block.reversed_block.part,
    "unique": lambda b: b.compress(b.firsts),
    "tail": lambda b: b.slice(1, None),
    "init": lambda b: b.slice(0, -1),
    "evens": _evens,
    "odds": _odds,
    "first": lambda b: b.slice(0, 1),
    "last": lambda b: b.slice(-1, None),
    "inner": lambda b: b.slice(1, -1),
    "twice": lambda b: b.part + b.part,
    "mirror": _mirror,
    "mirror_left": lambda b: b.reversed_block.part + b.part,
    "stutter": lambda b: _interleaved(b, b.even_codes, b.even_codes),
    "by_itself": lambda b: repeat_each(b, b.values),
    "rotate_left": lambda b: b.slice(1, None) + b.slice(0, 1),
    "rotate_right": lambda b: b.slice(-1, None) + b.slice(0, -1),
    "swap_ends": _swap_ends,
    "running_sum": lambda b: new_lists(np.cumsum(b.values, axis=1), b.lengths),
    "running_product": lambda b: _running_product(b),
    "running_max": lambda b: new_lists(np.maximum.accumulate(b.values, axis=1), b.lengths),
    "running_min": lambda b: new_lists(np.minimum.accumulate(b.values, axis=1), b.lengths),
    "differences": lambda b: _neighbours(b, b.values[:, 1:] - b.values[:, :-1]),
    "gaps": lambda b: _neighbours(b, np.abs(b.values[:, 1:] - b.values[:, :-1])),
    "pair_sums": lambda b: _neighbours(b, b.values[:, 1:] + b.values[:, :-1]),
    "pair_max": lambda b: _neighbours(b, np.maximum(b.values[:, 1:], b.values[:, :-1])),
    "pair_min": lambda b: _neighbours(b, np.minimum(b.values[:, 1:], b.values[:, :-1])),
    "add_mirror": lambda b: new_lists(b.values + b.reversed_block.values, b.lengths),
    "squeeze": lambda b: b.compress(_starts(b)),
    "run_ends": _run_ends,
    "steps": lambda b: new_lists(np.diff(b.values, axis=1, prepend=0), b.lengths),
    "indices": lambda b: Part(ramp(np.zeros_like(b.lengths), b.lengths, 1), b.lengths),
    "ordinals": lambda b: Part(ramp(np.ones_like(b.lengths), b.lengths, 1), b.lengths),
    "span": _span,
    "path": _path,
    "all_below": lambda b: _counted(b, 0),
    "all_upto": lambda b: _counted(b, 1),
    "all_downto": lambda b: _counted(b, None),
    "digits": _digits,
    "tallies": lambda b: b.compress(b.firsts, b.counts),
    "tally_pairs": _tally_pairs,
    "with_index": lambda b: _numbered(b, 0, behind=False),
    "with_ordinal": lambda b: _numbered(b, 1, behind=False),
    "then_index": lambda b: _numbered(b, 0, behind=True),
    "then_ordinal": lambda b: _numbered(b, 1, behind=True),
    "with_mirror": lambda b: _interleaved(b, b.even_codes, b.reversed_block.even_codes),
    "swap_pairs": _swap_pairs,
    "first_half": lambda b: b.slice(0, b.lengths // 2),
    "second_half": lambda b: b.slice(b.lengths // 2, None),
    "first_half_up": lambda b: b.slice(0, (b.lengths + 1) // 2),
    "second_half_up": lambda b: b.slice((b.lengths + 1) // 2, None),
    "swap_halves": lambda b: b.slice(b.lengths // 2, None) + b.slice(0, b.lengths // 2),
    "evens_first": lambda b: _evens(b) + _odds(b),
    "no_max": lambda b: b.compress(b.present & (b.values != b.greatest[:, None])),
    "no_min": lambda b: b.compress(b.present & (b.values != b.least[:, None])),
    "drop_max": lambda b: drop_first_equal(b, b.greatest),
    "drop_min": lambda b: drop_first_equal(b, b.least),
    "after_max": lambda b: _around_max(b, True, lambda at, n: (at + 1, n)),
    "before_max": lambda b: _around_max(b, True, lambda at, n: (np.zeros_like(at), at)),
    "after_min": lambda b: _around_max(b, False, lambda at, n: (at + 1, n)),
    "before_min": lambda b: _around_max(b, False, lambda at, n: (np.zeros_like(at), at)),
    "from_max": lambda b: _around_max(b, True, lambda at, n: (at, n)),
    "till_max": lambda b: _around_max(b, True, lambda at, n: (np.zeros_like(at), at + 1)),
    "once": lambda b: b.compress(b.present & (b.counts == 1)),
    "repeated": lambda b: b.compress(b.present & (b.counts > 1)),
    "by_count": lambda b: b.sort_by_key(b.counts),
    "by_count_down": lambda b: b.sort_by_key(-b.counts),
    "by_digits": lambda b: b.sort_by_key(_digit_sums(b)),
    "by_units": lambda b: b.sort_by_key(b.values % 10),
    "by_parity": lambda b: b.sort_by_key(b.values % 2),
    "odd_first": lambda b: b.sort_by_key(-(b.values % 2)),
    "extremes": _extremes,
    "weave_ends": _weave_ends,
}


def _running_product(b: Block) -> Part:
    """Return the running products, undefined where one exceeds the largest integer.

    A float product detects the integers that would overflow unnoticed.
    """
    exact = np.cumprod(np.where(b.present, b.values, 1), axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        about = np.cumprod(np.where(b.present, b.values, 1).astype(np.float64), axis=1)
        fine = all_last_axis(np.abs(about) <= LARGEST_INTEGER)
    part = new_lists(exact, b.lengths)
    return Part(part.codes, part.lengths, fine)


def repeat_each(b: Block, counts: IntArray) -> Part:
    """Return the lists of a block with each element repeated.

    Args:
        b: The block.
        counts: How often to repeat each element, shape (rows, width). Negative counts mean 0.
    """
    counts = np.clip(counts, 0, LONGEST - 1)
    codes = (unsigned(b.values) + SHIFT) * SUMS[counts]
    return _repeating(b, b.replace_each(codes, counts))
