"""The card of a classifier: README.md beside it, in the form that model hubs read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

import yaml

from ...records import Json
from ..cards import SHORT, table


def card(base: str, told: Mapping[str, Json], settings: Json) -> str:
    """Of a classifier: what it learned from and how well it labels. told: its part of the record."""
    name = PurePath(base).name
    front = {
        "library_name": "transformers", "base_model": name, "pipeline_tag": "text-classification",
        "tags": ["peirce", "hypobench"],
    }  # fmt: skip
    rows = [
        [split, f"{of['accuracy']:.3f} [{of['low']:.3f}, {of['high']:.3f}]", f"{of['f1']:.3f}",
         f"{of['n']:,}"]
        for split, of in told["scores"].items()
    ]  # fmt: skip
    digests = [[split, f"`{digest[:SHORT]}`"] for split, digest in told["digests"].items()]
    lines = [
        "---", yaml.safe_dump(front, sort_keys=False).strip(), "---", "",
        f"# {name}, fine-tuned on {told['set']}", "",
        f"It labels a row as one of {', '.join(told['labels'])}. {told['trained']:,} of"
        f" {told['weights']:,} weights were trained on {told['rows']['train'] - told['held']:,} rows;"
        f" pass {told['best']} of {told['epochs']} had the best macro F1 on the validation rows.", "",
        *table(["rows", "accuracy", "macro F1", "n"], rows), "",
        "Rows by digest:", "", *table(["rows", "digest"], digests), "", "```yaml",
        yaml.safe_dump(dict(settings.record()), sort_keys=False).strip(), "```",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"
