"""Pack several lessons into rows of tokens, in which the answers of a lesson share its prompt.

A row has a fixed width and contains several lessons. A lesson consists of a trunk (the tokens of
the observations) and one branch for each answer. A token attends only to earlier tokens in the
trunk of its lesson and in its own branch, and its position counts only these tokens. Thus a row
gives the same result as one sequence per answer, with far fewer tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .corpus import Lesson
from .model import ASSISTANT, END, USER

OUTPUT_WEIGHT = 0.3  # weight of the loss on outputs in a prompt, which reveal the rule
ARROW = "->"


@dataclass(frozen=True)
class TokenTree:
    """One lesson as arrays of t tokens: a trunk with the prompt, and a branch for each answer.

    The arrays have shape (t,) and type int32, except `weights`.

    Attributes:
        tokens: The token ids.
        positions: The position of each token in the sequence of its trunk and its branch.
        branch: The number of the branch, from 1; 0 in the trunk.
        targets: The token to predict, which is the next token of the same branch.
        weights: The weight of the loss at each token, float32; 0 if there is nothing to predict.
    """

    tokens: NDArray[np.int32]
    positions: NDArray[np.int32]
    branch: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True)
class PackedRows:
    """A batch of packed lessons, as arrays of shape (rows, width).

    `lesson` is the number of the lesson in its row, or -1 for padding. The other arrays are those
    of `TokenTree`.
    """

    tokens: NDArray[np.int64]
    positions: NDArray[np.int64]
    lesson: NDArray[np.int32]
    branch: NDArray[np.int32]
    targets: NDArray[np.int64]
    weights: NDArray[np.float32]

    def attention_mask(self) -> NDArray[np.bool_]:
        """Return which tokens each token attends to, bool of shape (rows, 1, width, width).

        Padding attends to padding before it.
        """
        width = self.tokens.shape[1]
        same = self.lesson[:, :, None] == self.lesson[:, None, :]
        below = (self.branch[:, None, :] == 0) | (
            self.branch[:, :, None] == self.branch[:, None, :]
        )
        before = np.tril(np.ones((width, width), bool))
        return np.asarray((same & below & before)[:, None])


class LessonTokenizer:
    """Converts lessons to trees of tokens, in which answers share the tokens of their prompt.

    Args:
        tokenizer: The tokenizer.
        output_weight: The weight of the loss on the outputs of the observations. All other tokens
            of a prompt have weight 0, because they cannot be predicted.
    """

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

    def build_tree(self, lesson: Lesson) -> TokenTree:
        """Return the tokens of a lesson as a tree."""
        texts = [lesson.prompt]
        for answer in lesson.answers:
            texts += [answer.prompt_suffix, answer.text]
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
        return TokenTree(
            np.array(tokens, np.int32),
            np.array(positions, np.int32),
            np.array(branch, np.int32),
            np.array(targets, np.int32),
            np.array(weights, np.float32),
        )

    def _of_prompt(self, trunk: Sequence[int]) -> list[float]:
        """Return the weights of the tokens of a prompt.

        Tokens after an arrow up to the end of the line have `output_weight`, and so has a token
        that contains an arrow and the start of an output.
        """
        weights, output = [], False
        for token in trunk:
            output = output and token not in self.breaks
            weights.append(self.output_weight if output or token in self.outputs else 0.0)
            output = output or token in self.arrows
        return weights


def pack_rows(
    trees: Iterable[TokenTree], width: int, rows: int, padding: int
) -> Iterator[PackedRows]:
    """Yield batches of `rows` rows, filled with the trees in their order.

    A tree goes into the first row with enough room. When a tree fits into no row, the batch is
    yielded and a new batch begins. Trees longer than `width` are left out.

    Args:
        trees: The lessons as trees of tokens.
        width: The number of tokens per row.
        rows: The number of rows per batch.
        padding: The token id that fills unused positions.
    """
    held: list[list[TokenTree]] = [[] for _ in range(rows)]
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


def _rows(held: Sequence[Sequence[TokenTree]], width: int, padding: int) -> PackedRows:
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
    return PackedRows(tokens, positions, lesson, branch, targets, weights)
