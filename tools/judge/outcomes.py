"""The label that the words of an outcome name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .columns import pair_labels, side
from .lexing import Piece
from .phrases import words

# With one of these an outcome says something else than its label.
TURNS = words(
    "no never neither nor unless except hardly rarely seldom without and or but because sometimes "
    "partly either both than rather instead depends depending that which who whom whose with mention "
    "mentions mentioning contain contains containing while whereas if when"
)
DENIES = words("not unlikely less isn't aren't won't cannot")
WINS = words(
    "wins win won more most chosen preferred better best higher answer label likely picked"
)
LOSES = words("loses lose lost fewer less worse lower not unlikely least")
MOST_WORDS = 20


def label_words(text: str) -> list[str]:
    return re.findall(
        r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]", text.lower().replace("’", "'").replace("_", " ")
    )


class Outcomes:
    def __init__(self, labels: tuple[str, ...], pair: bool) -> None:
        self.labels = labels
        self.named = sorted(
            ((label_words(label), label) for label in labels), key=lambda p: -len(p[0])
        )
        self.spelt = {tuple(named) for named, _ in self.named}
        self.sides = pair_labels(labels) if pair else None

    def label(self, some: Sequence[Piece]) -> str | None:
        """The one label that an outcome names; None where it names none, several, or says of it
        what no rule says. Of two labels, a denied one is the other."""
        if len(some) > 4 * MOST_WORDS:
            return None
        marked = [piece for piece in some if piece.kind in ("quoted", "name")]
        if marked and marked[0].text in self.labels:  # as it is written, capitals and all
            others = {word for p in some if p.kind == "word" for word in label_words(p.text)}
            alone = len(marked) == 1 and not others & (TURNS | DENIES | LOSES)
            return marked[0].text if alone else None
        if any(tuple(label_words(piece.text)) not in self.spelt for piece in marked):
            return None
        rest, found = self.split([word for piece in some for word in label_words(piece.text)])
        if len(rest) > MOST_WORDS or TURNS.intersection(rest):
            return None
        if self.sides and not found:
            return self.by_side(rest)
        lost = (LOSES if self.sides else DENIES).intersection(rest)
        if len(found) != 1 or len(lost) > 1 or (lost and len(self.labels) != 2):
            return None
        label = found.pop()
        return next(other for other in self.labels if other != label) if lost else label

    def split(self, said: list[str]) -> tuple[list[str], set[str]]:
        """The words that are of no label, and the labels that were named."""
        rest: list[str] = []
        found: set[str] = set()
        at = 0
        while at < len(said):
            for named, label in self.named:
                if named and said[at : at + len(named)] == named:
                    found.add(label)
                    at += len(named)
                    break
            else:
                rest.append(said[at])
                at += 1
        return rest, found

    def by_side(self, said: list[str]) -> str | None:
        """ "headline 2 wins" where no label is named."""
        sides = {place for word in said if (place := side(word)) is not None}
        if len(sides) != 1 or self.sides is None:
            return None
        place = sides.pop()
        lost = set(said) & LOSES
        return self.sides[place if not lost else 1 - place]

    def wins(self, some: Sequence[Piece]) -> bool | None:
        """Whether the words say that the text wins or loses; None where they say neither."""
        said = {word for piece in some for word in label_words(piece.text)}
        if len(some) > MOST_WORDS or said & TURNS:
            return None
        if said & LOSES:
            return False if len(said & LOSES) == 1 else None
        return True if said & WINS else None
