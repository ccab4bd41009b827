"""`labels:election`: predict the vote of the author of a post; posts.py describes the data sets."""

from __future__ import annotations

from .phrases import Phrase, Topic
from .posts import PostGenerator

_DEMOCRATIC, _REPUBLICAN, _OTHER = range(3)

TOPIC = Topic(
    "election",
    "Posts about the 2024 presidential election of the United States, and how their authors vote.",
    ("Democratic voter", "Republican voter", "third-party voter"),
    (
        (
            "endorsement",
            (
                Phrase("back", "backs", "backing", "the blue ticket", _DEMOCRATIC),
                Phrase("endorse", "endorses", "endorsing", "the red ticket", _REPUBLICAN),
                Phrase("promote", "promotes", "promoting", "an outsider campaign", _OTHER),
                Phrase("reject", "rejects", "rejecting", "both big parties", _OTHER),
                Phrase("phone", "phones", "phoning", "lapsed union members", _DEMOCRATIC),
            ),
        ),
        (
            "policy",
            (
                Phrase("demand", "demands", "demanding", "public health insurance", _DEMOCRATIC),
                Phrase("oppose", "opposes", "opposing", "further gun laws", _REPUBLICAN),
                Phrase("defend", "defends", "defending", "a carbon tax", _DEMOCRATIC),
                Phrase("favor", "favors", "favoring", "lower levies on firms", _REPUBLICAN),
                Phrase("want", "wants", "wanting", "ranked ballots", _OTHER),
            ),
        ),
        (
            "language",
            (
                Phrase("invoke", "invokes", "invoking", "social justice", _DEMOCRATIC),
                Phrase("praise", "praises", "praising", "inherited family values", _REPUBLICAN),
                Phrase("fear", "fears", "fearing", "the surveillance state", _OTHER),
                Phrase("mock", "mocks", "mocking", "partisan theater", _OTHER),
                Phrase("preach", "preaches", "preaching", "law and order", _REPUBLICAN),
            ),
        ),
        (
            "reaction",
            (
                Phrase("applaud", "applauds", "applauding", "the climate bill", _DEMOCRATIC),
                Phrase("cheer", "cheers", "cheering", "the abortion ruling", _REPUBLICAN),
                Phrase("condemn", "condemns", "condemning", "the budget shutdown", _DEMOCRATIC),
                Phrase("resent", "resents", "resenting", "closed television debates", _OTHER),
                Phrase("welcome", "welcomes", "welcoming", "stricter border checks", _REPUBLICAN),
            ),
        ),
    ),
    (
        "Anyone who follows me knows that I {0.base}. Lately I also {1.base}, and when people ask"
        " why I {2.base}, I say it is one more reason why I {3.base}.",
        "{3.Gerund} did not come easily to me, but {1.gerund} did. My neighbor calls me somebody"
        " who {0.third} and {2.third}, and that is fair.",
        "Busy week: {1.gerund} in the morning, {3.gerund} at lunch, and by dinner my cousin noticed"
        " that I still {2.base} and {0.base}.",
        "You can be a person who {2.third} and still {0.base}. For me {3.gerund} settled it,"
        " together with {1.gerund}.",
    ),
)

GENERATOR = PostGenerator(TOPIC, with_twin=True)
