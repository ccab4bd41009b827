"""`labels:personality`: predict the personality of a post's author; posts.py describes the data
sets.
"""

from __future__ import annotations

from .phrases import Phrase, Topic
from .posts import PostGenerator

_SOCIABLE, _QUIET, _DARING = range(3)

TOPIC = Topic(
    "personality",
    "Posts about everyday life, and what kind of person wrote them.",
    ("sociable", "reserved", "daring"),
    (
        (
            "weekend",
            (
                Phrase("host", "hosts", "hosting", "dinner parties", _SOCIABLE),
                Phrase("read", "reads", "reading", "by the fireplace", _QUIET),
                Phrase("climb", "climbs", "climbing", "steep ridges", _DARING),
                Phrase("join", "joins", "joining", "pub quizzes", _SOCIABLE),
                Phrase("tend", "tends", "tending", "a herb garden", _QUIET),
            ),
        ),
        (
            "work",
            (
                Phrase("brainstorm", "brainstorms", "brainstorming", "with six colleagues",
                       _SOCIABLE),
                Phrase("prefer", "prefers", "preferring", "the corner desk", _QUIET),
                Phrase("lead", "leads", "leading", "untested ventures", _DARING),
                Phrase("run", "runs", "running", "the office choir", _SOCIABLE),
                Phrase("keep", "keeps", "keeping", "detailed private notes", _QUIET),
            ),
        ),
        (
            "purchase",
            (
                Phrase("buy", "buys", "buying", "matching team jerseys", _SOCIABLE),
                Phrase("order", "orders", "ordering", "thick ear plugs", _QUIET),
                Phrase("book", "books", "booking", "paragliding lessons", _DARING),
                Phrase("collect", "collects", "collecting", "secondhand poetry", _QUIET),
                Phrase("chase", "chases", "chasing", "last minute flights", _DARING),
            ),
        ),
        (
            "feeling",
            (
                Phrase("miss", "misses", "missing", "noisy reunions", _SOCIABLE),
                Phrase("enjoy", "enjoys", "enjoying", "an empty calendar", _QUIET),
                Phrase("crave", "craves", "craving", "unmapped roads", _DARING),
                Phrase("love", "loves", "loving", "group photographs", _SOCIABLE),
                Phrase("dread", "dreads", "dreading", "idle small talk", _QUIET),
            ),
        ),
    ),
    (
        "My flatmates tease me because I {0.base}. It is true, and I {3.base} as well; at least they"
        " never minded that I {2.base} or that I {1.base}.",
        "{2.Gerund} is how I treat myself. On most days I {1.base}, I {0.base}, and if you asked my"
        " sister she would say I am somebody who {3.third}.",
        "Three years in this town and I still {1.base}. What changed is that {0.gerund} now comes"
        " before {2.gerund}, and that I {3.base} more than I admit.",
        "A stranger told me that a person who {3.third} should not be one who {2.third}. Well, here I"
        " am, {1.gerund} all week and {0.gerund} after that.",
    ),
)  # fmt: skip

GENERATOR = PostGenerator(TOPIC, with_twin=False)
