"""Recognition of the label that a sentence states as the outcome of a condition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from .columns import find_side, pair_labels
from .cursor import Piece
from .vocabulary import ENTITIES, TEXTS, word_set

# An outcome with one of these words does not simply state its label.
REVERSING_WORDS = word_set(
    "no never neither nor unless except hardly rarely seldom without and or but because sometimes "
    "partly either both than rather instead depends depending that which who whom whose with mention "
    "mentions mentioning contain contains containing while whereas if when"
)
DENIES = word_set("not unlikely less isn't aren't won't cannot")
# Words that may accompany a label without changing it. Any other ("far from", "wrong to say",
# "ruled out") may reverse it, and no list of those can be complete.
NEUTRAL_WORDS = TEXTS | ENTITIES | word_set(
    "the a an this these that such its their his her is are was were be been being will would should must "
    "may might can could to by in of for as so then thus hence therefore also very much more most highly "
    "quite rather strongly likely usually often typically probably generally mostly almost always "
    "certainly definitely clearly tend tends seem seems appear appears get gets have has had "
    "suggest suggests suggesting indicate indicates indicating imply implies predict predicts predicting "
    "mean means signal signals classified classify labelled labeled label labels predicted prediction "
    "considered judged deemed class category answer outcome final writing written content "
    "words language :"
)  # fmt: skip
# These may not be combined with "not": "not always deceptive" does not mean "truthful".
DEGREES = word_set("always almost very much more most highly quite rather strongly certainly definitely "
                "clearly mostly must")  # fmt: skip
WINS = word_set("wins win won winner chosen preferred picked selected better best answer label")
COMPARATIVES = word_set(
    "more most higher greater likely"
)  # These count only together with a word of ASKED.
TARGET_WORDS = word_set(
    "click clicks clicked clicking retweet retweets retweeted share shares shared like likes liked votes "
    "engagement engaging persuasive convincing popular successful attention effective views"
)
FILLER_WORDS = word_set(
    "the a an is are was be been being will would should may might can could to get gets receive receives "
    "have has had tend tends generally usually often typically probably one text by in of for with it "
    "seems seem as so than other readers users people that"
)
LOSES = word_set("loses lose lost fewer less worse lower not unlikely least")
BREAKS = frozenset(",(;/")
MAX_WORDS = 20


def trim_pieces(pieces: Sequence[Piece]) -> Sequence[Piece]:
    """Return the pieces without punctuation and connectives at the end."""
    while (
        pieces
        and pieces[-1].kind in ("mark", "word")
        and pieces[-1].text in (",", ".", "!", "and", "but")
    ):
        pieces = pieces[:-1]
    return pieces


def split_label_words(text: str) -> list[str]:
    """Return the words and marks of a text in lower case."""
    return re.findall(
        r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]", text.lower().replace("’", "'").replace("_", " ")
    )


class OutcomeReader:
    """A parser that finds the label in the outcome of a clause, such as "the review is deceptive".

    Args:
        labels: The possible labels.
        pair: Whether each row is a pair of texts, of which one wins.
        description: The description of the data set. The outcome may contain its words besides a
            label.
    """

    def __init__(self, labels: tuple[str, ...], pair: bool, description: str = "") -> None:
        self.labels = labels
        self.named = sorted(
            ((split_label_words(label), label) for label in labels), key=lambda p: -len(p[0])
        )
        self.asked = TARGET_WORDS.union(
            *(named for named, _ in self.named), split_label_words(description)
        )
        self.spelt = {tuple(named) for named, _ in self.named}
        self.beside = NEUTRAL_WORDS | DENIES | frozenset(split_label_words(description))
        self.sides = pair_labels(labels) if pair else None
        if self.sides:
            self.beside |= self.asked | WINS | COMPARATIVES | FILLER_WORDS | LOSES

    def find_label(self, pieces: Sequence[Piece]) -> str | None:
        """Return the label that an outcome states.

        If there are two labels, the negation of one label means the other label.

        Returns:
            The label. None if the outcome states no label or several labels, or contains words that
            a rule cannot express.
        """
        pieces = trim_pieces(pieces)
        if len(pieces) > 4 * MAX_WORDS:
            return None
        marked = [piece for piece in pieces if piece.kind in ("quoted", "name")]
        if marked and marked[0].text in self.labels:  # Quoted labels match exactly, case included.
            others = {
                word for p in pieces if p.kind == "word" for word in split_label_words(p.text)
            }
            alone = len(marked) == 1 and others <= self.beside - (REVERSING_WORDS | LOSES | DENIES)
            return marked[0].text if alone else None
        if any(tuple(split_label_words(piece.text)) not in self.spelt for piece in marked):
            return None
        rest, found = self.split_labels(
            [word for piece in pieces for word in split_label_words(piece.text)]
        )
        if len(rest) > MAX_WORDS or (REVERSING_WORDS | BREAKS).intersection(rest):
            return None
        if self.sides and not found:
            return self.find_label_by_side(rest)
        if not self.beside.issuperset(rest):
            return None
        lost = (LOSES if self.sides else DENIES).intersection(rest)
        if ("as", "likely") in pairwise(rest) or (lost and DEGREES.intersection(rest)):
            return None
        if len(found) != 1 or len(lost) > 1 or (lost and len(self.labels) != 2):
            return None
        label = found.pop()
        return next(other for other in self.labels if other != label) if lost else label

    def split_labels(self, words: list[str]) -> tuple[list[str], set[str]]:
        """Return the words that are not part of a label, and the labels that `words` contain."""
        rest: list[str] = []
        found: set[str] = set()
        at = 0
        while at < len(words):
            for named, label in self.named:
                if named and words[at : at + len(named)] == named:
                    found.add(label)
                    at += len(named)
                    break
            else:
                rest.append(words[at])
                at += 1
        return rest, found

    def find_label_by_side(self, words: list[str]) -> str | None:
        """Return the label of an outcome that names a text of a pair, such as "headline 2 wins".

        The result is None if the words do not say which text wins.
        """
        sides = {place for word in words if (place := find_side(word)) is not None}
        if len(sides) != 1 or self.sides is None:
            return None
        place = sides.pop()
        beside = {word for word in words if find_side(word) is None}
        lost = beside & LOSES
        if len(lost) > 1 or not beside <= self.beside:
            return None
        return self.sides[place if not lost else 1 - place]

    def states_win(self, pieces: Sequence[Piece]) -> bool | None:
        """Return True if an outcome says that the text wins, False if it says that it loses.

        The result is None if the outcome says neither.
        """
        pieces = trim_pieces(pieces)
        said = {word for piece in pieces for word in split_label_words(piece.text)} - {"."}
        if (
            len(pieces) > MAX_WORDS
            or said & REVERSING_WORDS
            or any(p.kind == "quoted" for p in pieces)
        ):
            return None
        lost, won, more = said & LOSES, said & WINS, said & COMPARATIVES
        content = said - lost - won - more - FILLER_WORDS
        if len(lost) > 1 or not content <= self.asked:
            return None
        return not lost if won or lost or (more and content) else None
