"""Lessons as rows of tokens: what the answers of a lesson share stands there once.

A row of a fixed width holds several lessons. A lesson is a trunk, the observations, and a branch
for each answer; a token sees what stands before it in the trunk of its lesson and in its own
branch, and its position counts these alone. So a row says exactly what one sequence for each answer
would say, in a fraction of the tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .corpus import Lesson
from .model import ASSISTANT, END, USER

OUTPUT_WEIGHT = 0.3  # of the loss on outputs in a prompt: a rule can be told from these
ARROW = "->"


@dataclass(frozen=True)
class Tree:
    """One lesson: int32 (t,) each. branch: 0 in the trunk. targets: the token that follows in the
    same branch, weights (float32) of its loss, 0 where nothing follows."""

    tokens: NDArray[np.int32]
    positions: NDArray[np.int32]
    branch: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True)
class Rows:
    """(rows, width) each; lesson: which of the row, -1 for padding."""

    tokens: NDArray[np.int64]
    positions: NDArray[np.int64]
    lesson: NDArray[np.int32]
    branch: NDArray[np.int32]
    targets: NDArray[np.int64]
    weights: NDArray[np.float32]

    def seen(self) -> NDArray[np.bool_]:
        """bool (rows, 1, width, width): what each token sees. Padding sees itself."""
        width = self.tokens.shape[1]
        same = self.lesson[:, :, None] == self.lesson[:, None, :]
        below = (self.branch[:, None, :] == 0) | (
            self.branch[:, :, None] == self.branch[:, None, :]
        )
        before = np.tril(np.ones((width, width), bool))
        return np.asarray((same & below & before)[:, None])


class Planter:
    """Lessons to trees. output_weight: of the loss on the outputs in a prompt; on the rest of it,
    which nothing foretells, there is none."""

    def __init__(self, tokenizer: Any, output_weight: float = OUTPUT_WEIGHT) -> None:
        self.tokenizer = tokenizer
        self.end, self.user, self.assistant = tokenizer.convert_tokens_to_ids(
            [END, USER, ASSISTANT]
        )
        self.output_weight = output_weight
        said = [tokenizer.decode([token]) for token in range(len(tokenizer))]
        self.arrows = {token for token, text in enumerate(said) if ARROW in text}
        self.outputs = {token for token in self.arrows if said[token].split(ARROW)[1].strip(" [")}
        self.breaks = {token for token, text in enumerate(said) if "\n" in text}

    def tree(self, lesson: Lesson) -> Tree:
        texts = [lesson.prompt]
        for answer in lesson.answers:
            texts += [answer.after, answer.text]
        trunk, *rest = self.tokenizer(texts, add_special_tokens=False)["input_ids"]
        tokens = [self.user, *trunk]
        size = len(tokens)
        positions = list(range(size))
        branch = [0] * size
        targets = [*trunk, 0]
        weights = [*self._of_prompt(trunk), 0.0]
        for k in range(len(lesson.answers)):
            after, said = rest[2 * k], rest[2 * k + 1]
            part = [*after, self.assistant, *said, self.end]
            tokens += part[:-1]
            positions += range(size, size + len(part) - 1)
            branch += [k + 1] * (len(part) - 1)
            targets += part[1:]
            weights += [0.0] * len(after) + [1.0] * (len(said) + 1)
        return Tree(
            np.array(tokens, np.int32),
            np.array(positions, np.int32),
            np.array(branch, np.int32),
            np.array(targets, np.int32),
            np.array(weights, np.float32),
        )

    def _of_prompt(self, trunk: Sequence[int]) -> list[float]:
        """Weights of the tokens of a prompt: those behind an arrow, or with an output in the same
        token, to the end of the line."""
        weights, output = [], False
        for token in trunk:
            output = output and token not in self.breaks
            weights.append(self.output_weight if output or token in self.outputs else 0.0)
            output = output or token in self.arrows
        return weights


def packed(trees: Iterable[Tree], width: int, rows: int, padding: int) -> Iterator[Rows]:
    """Batches of `rows` rows, filled in the order of the trees: a tree goes into the first row that
    has room; a batch is done when a tree finds none. Trees longer than `width` are left out."""
    held: list[list[Tree]] = [[] for _ in range(rows)]
    room = [width] * rows
    for tree in trees:
        if len(tree) > width:
            continue
        at = next((k for k in range(rows) if room[k] >= len(tree)), None)
        if at is None:
            yield _rows(held, width, padding)
            held = [[] for _ in range(rows)]
            room = [width] * rows
            at = 0
        held[at].append(tree)
        room[at] -= len(tree)


def _rows(held: Sequence[Sequence[Tree]], width: int, padding: int) -> Rows:
    count = len(held)
    tokens = np.full((count, width), padding, np.int64)
    positions = np.zeros((count, width), np.int64)
    lesson = np.full((count, width), -1, np.int32)
    branch = np.zeros((count, width), np.int32)
    targets = np.zeros((count, width), np.int64)
    weights = np.zeros((count, width), np.float32)
    for k, trees in enumerate(held):
        at = 0
        for n, tree in enumerate(trees):
            place = slice(at, at + len(tree))
            tokens[k, place] = tree.tokens
            positions[k, place] = tree.positions
            lesson[k, place] = n
            branch[k, place] = tree.branch
            targets[k, place] = tree.targets
            weights[k, place] = tree.weights
            at += len(tree)
    return Rows(tokens, positions, lesson, branch, targets, weights)
