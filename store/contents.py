"""What can be read from a store: its sessions with their problems, calls, steps, banks and digests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from ..records import BankEvent, Digest, InputSet, Json, Problem, StepRecord
from . import answer_summaries as _answers
from . import bank as _bank
from . import calls as _calls
from . import digest as _digest
from . import export as _export
from . import ledger as _ledger
from . import sessions as _sessions
from . import usage as _usage
from .answer_summaries import AnswerSummary, ConsistentHypothesis
from .codec import Vector
from .connection import RowReader
from .journal import read_vectors
from .owner import Reader
from .schema import Row
from .sessions import ProblemRow


class StoreContents:
    """The sessions of a store that is open for reading, or for writing.

    Every method raises StoreError if the file cannot be read, or if the file lacks the requested
    data.
    """

    def __init__(self, reader: RowReader) -> None:
        self._reading = reader
        self._large_problems: dict[str, dict[str, Problem]] = {}
        self._settings: dict[str, Mapping[str, Json]] = {}

    def close(self) -> None:
        """Close the connection to the store."""
        self._reading.close()

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of one SELECT statement.

        The rows are read from the file, or through the process that is writing the file.
        """
        return self._reading.query(sql, params)

    def find_session(self, name: str) -> str:
        """Return the id of a session. `name` is the id, a unique prefix of the id, or "last"."""
        return _sessions.find_session(self._reading, name)

    def session(self, session: str) -> dict[str, Any]:
        """Return a description of one session as a dict.

        The keys are session, created, status, settings, versions, problems, problems_done,
        problems_failed, and the fields passed to `update_session`.
        """
        return _sessions.sessions(self._reading, self._is_owned, session)[0]

    def settings(self, session: str) -> Mapping[str, Json]:
        """Return the settings of a session.

        The settings of a session never change, so they are read only once and cached.
        """
        if session not in self._settings:
            self._settings[session] = self.session(session)["settings"]
        return self._settings[session]

    def check_problem(self, session: str, problem: str) -> None:
        """Raise StoreError, which suggests the most similar id, if a session has no such problem."""
        self._ids(session, problem)

    def progress(self, session: str) -> list[Json]:
        """Return the status, the number of ended problems and the number of steps of a session.

        If two calls return equal results, the session made no progress between the calls.
        """
        return _sessions.progress(self._reading, self._is_owned, session)

    def count_verdicts(self, session: str) -> tuple[int, dict[str, int]]:
        """Return the number of steps of a session, and the number of its hypotheses by verdict.

        The content of the steps is not read.
        """
        return _sessions.count_verdicts(self._reading, session)

    def find_problems(self, session: str, words: Sequence[str]) -> list[str]:
        """Return the ids of the problems in a session that contain every word of `words`.

        A word may occur in the id, the data, the answers or the hypotheses of a problem. Upper and
        lower case are not distinguished.
        """
        return _sessions.find_problems(self._reading, session, words)

    def sessions(self) -> list[dict[str, Any]]:
        """Return a description of each session, in order of creation.

        Each description has the form that `session` returns.
        """
        return _sessions.sessions(self._reading, self._is_owned)

    def problems(self, session: str) -> list[ProblemRow]:
        """Return the problems of a session, in the order of the session."""
        return _sessions.problems(self._reading, session, self._large_problems)

    def input_set(self, digest: Digest) -> InputSet:
        """Return the input set with this digest."""
        return _sessions.input_set(self._reading, digest)

    def input_set_size(self, digest: Digest) -> tuple[int, tuple[float, ...] | None]:
        """Return the number of inputs in an input set, and the weight of each input.

        The weights are None if all inputs have the same weight.
        """
        return _sessions.input_set_size(self._reading, digest)

    def calls(self, session: str, problem: str | None = None) -> list[dict[str, Any]]:
        """Return the model and tool calls of a session, with requests and responses.

        `problem` selects the calls of one problem; None selects all problems.
        """
        return _calls.calls(self._reading, session, problem)

    def digested_prompts(self, session: str, limit: int) -> list[dict[str, Any]]:
        """Return up to `limit` prompts of the proposer whose token ids were digested.

        Each dict has the keys messages, tools, and digest (`records.PROMPT_DIGEST`). The list is
        empty for sessions whose model did not report the digest.
        """
        return _calls.digested_prompts(self._reading, session, limit)

    def list_calls(
        self, session: str, problem: str | Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the model and tool calls of a session, without requests and responses.

        `problem` is the id of one problem, the ids of several problems, or None for all problems.

        Calls of tools by a proposer (a model that proposes hypotheses) are an exception. Their
        requests and responses are included, cut to a maximum length.
        """
        return _calls.list_calls(self._reading, session, problem)

    def human_texts(
        self, session: str, problem: str | None = None
    ) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return the hints and answers of people in a session: (problem, path, texts).

        The path of a request's hints is that of the request, followed by "hints". `problem` selects
        one problem; None selects all problems.
        """
        return _calls.human_texts(self._reading, session, problem)

    def last_responses(self, session: str, kind: str) -> dict[str, Any]:
        """Return the response of the last call of a kind ("model", "tool" or "human") by problem."""
        return _calls.last_responses(self._reading, session, kind)

    def steps(
        self,
        session: str,
        problem: str | Sequence[str] | None = None,
        *,
        spaces: _ledger.Spaces = True,
    ) -> Iterator[StepRecord]:
        """Yield the steps of a session, ordered by problem and step number.

        Args:
            session: The session's id.
            problem: The id of one problem, the ids of several problems, or None for all problems.
            spaces: Which predictions over the sample space S to read. With False, they are None.
                With "consistent", the codes of hypotheses that are not consistent are 0.
        """
        if problem is None or isinstance(problem, str):
            ids = self._ids(session, problem)
        else:
            ids = list(problem)
        return _ledger.steps(self._reading, session, ids, spaces)

    def consistent_hypotheses(
        self, session: str, problems: Sequence[str]
    ) -> dict[str, list[ConsistentHypothesis]]:
        """Return the consistent hypotheses of each problem, in the order of the problem's steps.

        A hypothesis is consistent if it fits all shown observations.
        """
        return _answers.consistent_hypotheses(self._reading, session, problems)

    def answer_summaries(
        self, session: str, problems: Sequence[str]
    ) -> dict[str, list[AnswerSummary]]:
        """Return summaries of the answers to each problem, in the order of the problem's steps."""
        return _answers.answer_summaries(self._reading, session, problems)

    def vectors(self, digests: Iterable[Digest]) -> dict[Digest, Vector]:
        """Return stored arrays by their digests.

        `ConsistentHypothesis` and `AnswerSummary` contain such digests.
        """
        return read_vectors(self._reading, digests)

    def bank(
        self, session: str, problem: str | None = None, alpha: float | None = None
    ) -> list[dict[str, Any]]:
        """Return the hypotheses in the bank of each problem, one dict for each hypothesis.

        A bank is the collection of hypotheses that a method keeps, with the rewards of the
        hypotheses. The keys are problem, and the keys that `bank.Bank.rows` documents.

        Args:
            session: The session's id.
            problem: The id of one problem, or None for all problems.
            alpha: The weight of exploration in the reward; None for the weight of the session.
        """
        rows = []
        for name, own, chance, log in self._bank_logs(session, problem):
            bank = _bank.build_bank((event for _, event in log), own, chance)
            rows += [{"problem": name, **entry} for entry in bank.rows(alpha)]
        return rows

    def bank_growth(self, session: str, problem: str | None = None) -> list[dict[str, Any]]:
        """Return how the bank of each problem changed, one dict for each step that changed it.

        The keys are problem, and the keys that `bank.growth` documents.
        """
        return [
            {"problem": name, **step}
            for name, own, chance, log in self._bank_logs(session, problem)
            for step in _bank.growth(log, own, chance)
        ]

    def _bank_logs(
        self, session: str, problem: str | None
    ) -> Iterator[tuple[str, float, float, list[tuple[int, BankEvent]]]]:
        """Yield the id, alpha, chance and events of each problem that has a bank.

        Each event comes with its step.
        """
        own = (self.settings(session).get("text") or {}).get("alpha", 0.5)
        labels: dict[str, int] = {}
        log = _ledger.events(self._reading, session, self._ids(session, problem))
        for name, happened in groupby(log, key=lambda row: row[0]):
            if not labels:  # most sessions have no bank
                labels = {
                    row.problem.id: len(row.problem.public.get("labels", ()))
                    for row in self.problems(session)
                }
            chance = 1 / labels[name] if labels[name] else 0.0
            yield name, own, chance, [(step, event) for _, step, event in happened]

    def usage(self, session: str) -> dict[str, Any]:
        """Return the usage of a session: numbers of calls, tokens and retries, and seconds.

        The result contains totals, and sums by kind of call and by role of the called model.
        """
        return _usage.usage(self._reading, session)

    def model_usage(self, session: str) -> dict[str, dict[str, Any]]:
        """Return the sums of `usage` by role over the model calls of a session alone."""
        return _usage.model_usage(self._reading, session)

    # --- the session as a whole

    def digest(self, session: str) -> Digest:
        """Return the SHA-256 of a session's results, without clock times, retries and usage."""
        return _digest.digest(self._reading, session)

    def findings_digest(self, session: str) -> Digest:
        """Return the SHA-256 of the findings of a session.

        The digest covers hypotheses, kinds of verdicts, predictions, bank events, and the paths and
        responses of calls. It does not cover settings, requests and texts of messages.
        `digest.findings_digest` has the full list.
        """
        return _digest.findings_digest(self._reading, session)

    def find_changes(self, session: str) -> list[dict[str, Any]]:
        """Return the places in a session where stored content does not match its digest.

        Each place is a dict with the keys problem, step, path and field.
        """
        return _digest.find_changes(self._reading, session)

    def export(self, session: str, out: str | Path, format: str) -> dict[str, Any]:
        """Export a session to files, and return a summary.

        Args:
            session: The session's id.
            out: The file or folder to create. It must not exist.
            format: "parquet" (a folder), "jsonl" (a file) or "huggingface" (a data set folder).

        Returns:
            A dict with the keys session, format, out, files, and the number of rows by table.

        Raises:
            UsageError: The format is unknown, or `out` exists.
        """
        return _export.export(self, session, Path(out), format)

    def _is_owned(self) -> bool:
        return not isinstance(self._reading, Reader) or self._reading.is_owned

    def _ids(self, session: str, problem: str | None) -> list[str]:
        return _sessions.problem_ids(self._reading, session, problem)
