"""Operations of the bank on whole blocks of lists, with one or two numbers: arrays (many, rows), which
make as many results of each row. One that says None to its numbers runs by its Python text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .batches import Kernel, each_times, few_repeats, fresh, without_first
from .fingerprints import (
    LONGEST,
    ONE,
    PAIRS,
    POWERS,
    SHIFT,
    Block,
    Codes,
    Part,
    Whole,
    power,
    unsigned,
)
from .grammar import LARGEST_COUNT


def _single(numbers: Whole) -> Part:
    return Part(unsigned(numbers) + SHIFT, np.ones_like(numbers))


def _one_by_one(kernel: Callable[[Block, Whole], Part]) -> Kernel:
    """A kernel of one row of numbers (rows,) for several."""

    def made(b: Block, numbers: Whole) -> Part:
        parts = [kernel(b, some) for some in numbers]
        everywhere = np.ones(b.rows, dtype=bool)
        fine = [everywhere if p.fine is None else p.fine for p in parts]
        return Part(
            np.stack([p.codes for p in parts]),
            np.stack([p.lengths for p in parts]),
            np.stack(fine),
        )

    return made


def _fixed(kernel: Callable[[Block, int], Part]) -> Kernel:
    """A kernel of one positive number that is the same on all rows, for several."""

    def made(b: Block, numbers: Whole) -> Part | None:
        if (numbers != numbers[:, :1]).any() or (numbers < 1).any():
            return None
        return _one_by_one(lambda b, k: kernel(b, int(k[0])))(b, numbers)

    return made


def _times(b: Block, count: Whole) -> Part:
    """The sum of the first `count` powers of the list's own, by the bits of `count`."""
    fine = few_repeats(b) & (np.abs(count) <= LARGEST_COUNT)
    lengths = b.lengths * np.maximum(count, 0)
    count = np.where(lengths > 0, np.minimum(count, LONGEST), 0)
    own = power(b.lengths)
    total, reach = np.zeros(count.shape, np.uint64), np.ones(count.shape, np.uint64)
    for bit in reversed(range(11)):
        total, reach = total * (ONE + reach), reach * reach
        odd = (count >> bit & 1).astype(bool)
        total = np.where(odd, total + reach, total)
        reach = np.where(odd, reach * own, reach)
    return Part(b.all.codes * total, lengths, fine)


def _step(b: Block, first: int, k: int) -> Part:
    if b.width <= first:
        return b.slice(0, 0)
    return Block(b.values[:, first::k], np.maximum(b.lengths - first + k - 1, 0) // k).all


def _chunks(b: Block, k: int) -> Part:
    many = -(-b.width // k)
    padded = np.zeros((b.rows, many * k), dtype=np.int64)
    padded[:, : b.width] = b.values
    return fresh(padded.reshape(b.rows, many, k).sum(axis=2), -(-b.lengths // k))


def _chunk_flip(b: Block, k: int) -> Part:
    start = b.places // k * k
    last = np.minimum(start + k, b.lengths[:, None]) - 1
    return b.taken(np.where(b.there, last - (b.places - start), 0)).all


def _lag(b: Block, k: int) -> Part:
    if b.width <= k:
        return b.slice(0, 0)
    return fresh(b.values[:, k:] - b.values[:, :-k], np.maximum(b.lengths - k, 0))


def _sorted_head(b: Block, k: int) -> Part:
    return b.sorted_from(np.zeros_like(b.lengths), np.minimum(b.lengths, k)).all


def _sorted_tail(b: Block, k: int) -> Part:
    return b.sorted_from(np.minimum(b.lengths, k), b.lengths).all


def _before(b: Block, value: Whole) -> Part:
    at, found = b.index_of(value)
    return b.between(np.zeros_like(at), np.where(found, at, b.lengths))


def _after(b: Block, value: Whole) -> Part:
    at, found = b.index_of(value)
    return b.between(np.where(found, at + 1, b.lengths), b.lengths)


def _flip_head(b: Block, k: Whole) -> Part:
    at = b.bound(k)
    return b.backwards.between(b.lengths - at, np.broadcast_to(b.lengths, at.shape)) + b.slice(
        k, None
    )


def _flip_tail(b: Block, k: Whole) -> Part:
    at = b.bound(k)
    return b.slice(0, k) + b.backwards.between(np.zeros_like(at), b.lengths - at)


def _join(b: Block, value: Whole) -> Part:
    inner = np.maximum(b.lengths - 1, 0)
    odd = (unsigned(value) + SHIFT) * PAIRS[inner]
    return Part(b.doubled + POWERS[1] * odd, np.broadcast_to(b.lengths + inner, value.shape))


def _each_then(b: Block, value: Whole) -> Part:
    odd = (unsigned(value) + SHIFT) * PAIRS[b.lengths]
    return Part(b.doubled + POWERS[1] * odd, np.broadcast_to(2 * b.lengths, value.shape))


def _replace(b: Block, old: Whole, new: Whole) -> Part:
    known: dict[bytes, Codes] = {}
    codes = np.empty(old.shape, dtype=np.uint64)
    weights = POWERS[: b.width]
    for k, wanted in enumerate(old):
        key = wanted.tobytes()
        if key not in known:
            same = (b.values == wanted[:, None]) & b.there
            known[key] = same.astype(np.uint64) @ weights
        codes[k] = known[key]
    made = b.all.codes + unsigned(new - old) * codes
    return Part(made, np.broadcast_to(b.lengths, made.shape))


def _swap(b: Block, p: Whole, q: Whole) -> Part:
    made = b.slice(0, p) + b.slice(q, q + 1) + b.slice(p + 1, q)
    return made + b.slice(p, p + 1) + b.slice(q + 1, None)


def _each_fixed(b: Block, k: Whole) -> Part:
    part = each_times(b, np.broadcast_to(k[:, None], b.values.shape))
    fine = few_repeats(b) & (np.abs(k) <= LARGEST_COUNT)
    return Part(part.codes, part.lengths, fine)


NUMBERED: dict[str, Kernel] = {
    "take": lambda b, k: b.slice(0, k),
    "drop": lambda b, k: b.slice(k, None),
    "take_last": lambda b, k: b.slice(-k, None),
    "drop_last": lambda b, k: b.slice(0, -k),
    "step": _fixed(lambda b, k: _step(b, 0, k)),
    "step_from": _fixed(lambda b, k: _step(b, k - 1, k)),
    "nth": lambda b, k: b.slice(k, k + 1),
    "omit": lambda b, k: b.slice(0, k) + b.slice(k + 1, None),
    "without": _one_by_one(lambda b, k: b.kept(b.there & (b.values != k[:, None]))),
    "remove": _one_by_one(without_first),
    "append": lambda b, k: b.all + _single(k),
    "prepend": lambda b, k: _single(k) + b.all,
    "rotate": lambda b, k: b.slice(k, None) + b.slice(0, k),
    "rotate_back": lambda b, k: b.slice(-k, None) + b.slice(0, -k),
    "times": _times,
    "each": _one_by_one(_each_fixed),
    "larger": lambda b, k: b.ascending.slice(-k, None),
    "before": _one_by_one(_before),
    "after": _one_by_one(_after),
    "flip_head": _flip_head,
    "flip_tail": _flip_tail,
    "sort_head": _fixed(_sorted_head),
    "sort_tail": _fixed(_sorted_tail),
    "join": _join,
    "each_then": _each_then,
    "chunks": _fixed(_chunks),
    "chunk_flip": _fixed(_chunk_flip),
    "lag": _fixed(_lag),
    "slice": lambda b, p, q: b.slice(p, q),
    "insert": lambda b, p, v: b.slice(0, p) + _single(v) + b.slice(p, None),
    "put": lambda b, p, v: b.slice(0, p) + _single(v) + b.slice(p + 1, None),
    "swap": _swap,
    "cut": lambda b, p, q: b.slice(0, p) + b.slice(q, None),
    "replace": _replace,
}
