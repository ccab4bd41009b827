"""The scores of ratings, from the ratings alone.

Internals: the scores of an empty bank, which no session leaves to be rated.
"""

from __future__ import annotations

from peirce.reports.papers.hypobench.tables import summarize_ratings

TRUE = ["If math is A, the label is in.", "If papers is at least 3, the label is in."]


def test_an_empty_bank_is_zero_whoever_rates() -> None:
    found = summarize_ratings([], TRUE, [], {TRUE[0]: ["math"], TRUE[1]: ["papers"]})
    nothing = {"fdr": 0.0, "rc": 0.0, "hdr": 0.0, "missing": 0}
    assert found == {"released": nothing, "paper": nothing}
