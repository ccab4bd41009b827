"""How fast sentences are executed: `python bench/text.py [--texts 10000] [--sentences 20]
[--json FILE]`.

The texts are drawn by a seed, some 100 words each, with words as frequent as in English (Zipf) and
marks between them; the sentences are of every kind of the grammar (docs/reference/exact-sentences.md), lists of 5 to 20
entries. Printed, each the median of a few rounds: making the texts ready (once for all sentences),
compiling, executing, and all of it, of which the aim is less than 2 s for 20 sentences on 10,000
texts; and the plain way beside it, a regular expression on every text for every sentence.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from peirce.tools.sentence_rules.prepared_rows import PreparedRows
from peirce.tools.sentence_rules.rules import NotExact
from peirce.tools.sentence_rules.sentence_compiler import compile_sentence
from table import Row, add_json_option, write_rows

ROUNDS = 3
AIM_S = 2.0
PUBLIC: dict[str, Any] = {
    "labels": ["deceptive", "truthful"],
    "columns": {"text": {"kind": "text", "about": ""}},
    "shape": "text",
}


def drawn_texts(count: int, seed: int) -> list[str]:
    """Texts of 40 to 160 words of a vocabulary of 20,000, the frequent ones short."""
    draw = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    vocabulary = ["".join(draw.choices(letters, k=1 + min(n, 400) % 9)) for n in range(20_000)]
    ranks = np.random.default_rng(seed).zipf(1.2, size=count * 160) % len(vocabulary)
    texts, at = [], 0
    for _ in range(count):
        words = [vocabulary[rank] for rank in ranks[at : at + draw.randint(40, 160)]]
        at += len(words)
        marked = [f"{word}{draw.choice('.,!?')}" if draw.random() < 0.1 else word for word in words]
        texts.append(" ".join(marked).capitalize())
    return texts


Plain = Callable[[str], bool]


def drawn_sentences(texts: list[str], count: int, seed: int) -> list[tuple[str, Plain]]:
    """Each sentence with the plain way to the same answer, one text at a time."""
    draw = random.Random(seed)
    seen = sorted({word for text in texts[:300] for word in re.findall(r"\w+", text.lower())})

    def pattern(words: list[str]) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE)

    def listed(words: list[str]) -> str:
        return ", ".join(f'"{word}"' for word in words)

    made: list[tuple[str, Plain]] = []
    for n in range(count):
        some, others = draw.sample(seen, draw.randint(5, 20)), draw.sample(seen, 5)
        one, two, least = pattern(some), pattern(others), draw.randint(2, 4)
        each = [pattern([word]) for word in some]
        match n % 5:
            case 0:
                said = f"mentions one of {listed(some)}"
                made.append((said, lambda text, one=one: bool(one.search(text))))
            case 1:
                said = f"mentions at least {least} of {listed(some)}"
                made.append(
                    (said, lambda text, e=each, k=least: sum(bool(p.search(text)) for p in e) >= k)
                )
            case 2:
                said = f"has at least {least} occurrences of {listed(some)}"
                made.append((said, lambda text, p=one, k=least: len(p.findall(text)) >= k))
            case 3:
                said = f"has more occurrences of {listed(some)} than of {listed(others)}"
                made.append(
                    (said, lambda text, a=one, b=two: len(a.findall(text)) > len(b.findall(text)))
                )
            case 4:
                said = f"does not mention {listed(some)} and has more than 100 words"
                made.append(
                    (
                        said,
                        lambda text, p=one: (
                            not p.search(text) and len(re.findall(r"\w+", text)) > 100
                        ),
                    )
                )
    return [
        (f"If the text {said}, the label is deceptive; otherwise truthful.", by)
        for said, by in made
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--sentences", type=int, default=20)
    add_json_option(parser)
    options = parser.parse_args()
    texts = drawn_texts(options.texts, seed=0)
    sentences = drawn_sentences(texts, options.sentences, seed=1)
    rows = [{"text": text} for text in texts]

    stages: dict[str, list[float]] = {
        "texts made ready": [],
        "sentences compiled": [],
        "executed": [],
    }
    for _ in range(ROUNDS):
        clock = [time.perf_counter()]
        ready = PreparedRows(rows, PUBLIC)
        _ = ready.text("").words
        clock.append(time.perf_counter())
        rules = [compile_sentence(sentence, PUBLIC) for sentence, _ in sentences]
        clock.append(time.perf_counter())
        codes = [rule.codes(ready) for rule in rules if not isinstance(rule, NotExact)]
        clock.append(time.perf_counter())
        for name, began, ended in zip(stages, clock, clock[1:], strict=False):
            stages[name].append(ended - began)

    began = time.perf_counter()
    plain = [[int(not by(text)) for text in texts] for _, by in sentences]
    plain_s = time.perf_counter() - began
    assert [one.tolist() for one in codes] == plain, "the two ways do not agree"

    words = sum(len(text.split()) for text in texts)
    print(f"{len(sentences)} sentences on {len(texts):,} texts of {words:,} words")
    for name, taken in stages.items():
        print(f"  {name:<20} {statistics.median(taken):8.3f} s")
    whole = statistics.median(map(sum, zip(*stages.values(), strict=True)))
    aim = f"aim {AIM_S:g} s: {'kept' if whole < AIM_S else 'MISSED'}"
    print(f"  {'all of it':<20} {whole:8.3f} s   ({aim})")
    print(f"  {'the plain way':<20} {plain_s:8.3f} s   {plain_s / whole:.1f} times as long")
    usual = (options.texts, options.sentences) == (10_000, 20)
    work = f"{len(sentences)} sentences on {len(texts):,} texts"
    row = Row(work, whole, "s", reference=plain_s, compared_with="a regular expression a text",
              limit=AIM_S if usual else None)  # fmt: skip
    write_rows(options.json, [row])


if __name__ == "__main__":
    main()
