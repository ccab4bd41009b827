"""Count a set of preference pairs, and report the counts as JSON for the store and the screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...records import Json
from ..pair_table import PairTable
from ..splits import Split, Splits, problem_group
from ..stages import STAGES
from .pooling import EXCLUSION_REASONS, PooledAnswers, Question, Source
from .preferences import CONTEXT_SIZES, PairArrays

Integers = NDArray[np.int64]


class PairCounter:
    """Counts answers and pairs while pools are read. The method `report` combines the counts.

    The report is a JSON object with these keys. {stage} stands for the number of pairs by stage.

     - pairs, prompts, answers, digest: the size and the digest of the table
     - sessions: [{session, digest, task, method, model}]
     - problems: the number of problems, where each set of observations O_n counts once
     - without_pairs: the number of problems that have no pair
     - by_split: {split: {stage}}
     - by_task: {task: {split: {stage}}}
     - by_context: {size of the context: {stage}}
     - by_model: {model: {answers, malformed, inconsistent, consistent, chosen: {stage}, rejected:
       {stage}}}. The pairs of an answer text count for the model that gave the text first.
     - contexts: {size: [number of used contexts, number of all contexts]}
     - found: {stage}, the pairs of the used contexts before the cap on pairs
     - ties: the number of pairs with equal scores in the used contexts
     - left_out: {reason: answers}. The reasons repeated_pairs, too_long, over_limit and
       out_of_ratio count pairs, and in_another_split counts problems.
     - several: the number of answers with more than one hypothesis, of which only the first counts
     - groups: {split: number of groups}
     - missing: splits that have no group although their fraction is above 0
    """

    def __init__(
        self, sources: Sequence[Source], questions: Sequence[Question], splits: Splits
    ) -> None:
        self._sources = sources
        self._problems = len(questions)
        self._groups = splits.count_groups(problem_group(one.problem) for one in questions)
        self.left_out: Counter[str] = Counter(dict.fromkeys(EXCLUSION_REASONS, 0))
        for why in ("in_another_split", "repeated_pairs", "too_long", "over_limit", "out_of_ratio"):
            self.left_out[why] = 0
        self._found = np.zeros((len(CONTEXT_SIZES), len(STAGES)), np.int64)
        self._ties = 0
        self._contexts = np.zeros((2, len(CONTEXT_SIZES)), np.int64)  # kept, all
        self._several = 0
        self._without = 0
        self._by_model: dict[str, Counter[str]] = {}
        self.answers = 0
        self.most_answers = 0

    def add_pool(self, pooled: PooledAnswers) -> None:
        """Count the answers of a pool, whether or not the pool gives pairs."""
        self.left_out.update(pooled.excluded)
        self._several += pooled.multiple
        self.most_answers = max(self.most_answers, len(pooled.answers))
        for model, counts in pooled.by_model.items():
            self._by_model.setdefault(model, Counter()).update(counts)
            self.answers += counts["answers"]

    def add_pairs(self, pairs: PairArrays) -> None:
        """Count the pairs that were built from one pool."""
        self._found += pairs.counts_before_cap
        self._ties += int(pairs.ties.sum())
        members = (pairs.contexts >= 0).sum(axis=1)
        self._contexts[0] += np.bincount(members, minlength=len(CONTEXT_SIZES))
        self._contexts[1] += pairs.context_counts
        self._without += not len(pairs)

    def report(self, table: PairTable) -> dict[str, Json]:
        """Return the report of the table that was built, including all counts so far."""
        stage = table.stage.astype(np.int64)
        return {
            **count_table(table),
            "sessions": [_session(source) for source in self._sources],
            "problems": self._problems,
            "without_pairs": self._without,
            "by_model": self._models(table, stage),
            "found": dict(zip(STAGES, self._found.sum(axis=0).tolist(), strict=True)),
            "ties": self._ties,
            "contexts": {
                str(size): self._contexts[:, place].tolist()
                for place, size in enumerate(CONTEXT_SIZES)
            },
            "left_out": dict(self.left_out),
            "several": self._several,
            "groups": {split.value: count for split, count in self._groups.groups.items()},
            "missing": [split.value for split in self._groups.missing],
        }

    def _models(self, table: PairTable, stage: Integers) -> dict[str, Json]:
        names = sorted(self._by_model)
        model = np.array([names.index(one) for one in table.answer_model], np.int64)
        return {
            name: {
                **{key: self._by_model[name][key] for key in
                   ("answers", "malformed", "inconsistent", "consistent")},
                "chosen": _stages(stage[model[table.chosen] == n]),
                "rejected": _stages(stage[model[table.rejected] == n]),
            }
            for n, name in enumerate(names)
        }  # fmt: skip


def count_table(table: PairTable) -> dict[str, Json]:
    """Return the keys of a report that can be computed from the table alone."""
    stage = table.stage.astype(np.int64)
    splits = np.array([list(Split).index(one) for one in table.prompt_split], np.int64)
    tasks = sorted(set(table.prompt_task))
    task = np.array([tasks.index(one) for one in table.prompt_task], np.int64)
    split_of, task_of = splits[table.prompt], task[table.prompt]
    context_of = np.array(table.prompt_context, np.int64)[table.prompt]
    return {
        "digest": table.digest,
        "pairs": len(table),
        "prompts": len(table.prompts),
        "answers": len(table.answers),
        "by_split": {split.value: _stages(stage[split_of == n]) for n, split in enumerate(Split)},
        "by_task": {
            name: {
                split.value: _stages(stage[(task_of == t) & (split_of == n)])
                for n, split in enumerate(Split)
            }
            for t, name in enumerate(tasks)
        },
        "by_context": {str(size): _stages(stage[context_of == size]) for size in CONTEXT_SIZES},
    }


def _stages(stage: Integers) -> dict[str, int]:
    return dict(zip(STAGES, np.bincount(stage, minlength=len(STAGES)).tolist(), strict=True))


def _session(source: Source) -> dict[str, Json]:
    told = {name: source.settings.get(name) for name in ("task", "method")}
    return {"session": source.session, "digest": source.digest, **told, "model": source.model}
