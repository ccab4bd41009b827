"""Tokens of prompts with a language model: what a prefix cache saves, and what small contexts lose:
`python bench/tokens.py [--problems 4] [--answers 8]`.

The embedded search gives the answers, so that prompts list real hypotheses, behind a stand-in that
counts tokens (four characters each) and keeps a prefix cache. `hosted` caches blocks of 128 tokens
in prompts of at least 1,024, as OpenAI documents it; `vllm` caches blocks of 16 tokens in every
prompt. The share is that of cached input tokens in a session, as `peirce run` shows it.

For small contexts, the stand-in refuses prompts of more than three quarters of the tokens of the
longest prompt: the problems that end with an answer, with `--fit auto` and with `--fit refuse`, and the
accepted hypotheses. A search reads the problem and not the prompt, so this shows what is lost by a
refusal, not what a model makes of fewer observations.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import peirce
from peirce.agents import open_model
from peirce.records import ContextExceeded, Reply, Usage
from table import Row, add_json_option, write_rows

TASKS = {"list_functions": "programs", "abd": "rules", "labels": "text", "laws": "laws"}
CACHES = {"hosted": (128, 1_024), "vllm": (16, 0)}  # tokens of a block, tokens of a cached prompt
CHARACTERS_A_TOKEN = 4


class Counted:
    """A proposer that answers as the search does, counts tokens and keeps a prefix cache.

    Args:
        cache: "hosted" or "vllm".
        room: The tokens of a prompt that it accepts.
    """

    def __init__(self, cache: str, room: int = 10**9) -> None:
        self.block, self.least = CACHES[cache]
        self.room, self.longest = room, 0
        self.known: set[int] = set()
        self.search: Any = None

    def settings(self) -> Any:
        return {"model": "counted"}

    async def propose(
        self, view: Any, messages: Sequence[Mapping[str, Any]], tools: Any, seed: int,
        schema: Any = None,
    ) -> Reply:  # fmt: skip
        text = "".join(f"<{one['role']}>{one['content']}" for one in messages)
        tokens = len(text) // CHARACTERS_A_TOKEN
        if tokens > self.room:
            raise ContextExceeded(f"{tokens} tokens are too many", tokens, self.room)
        self.longest = max(self.longest, tokens)
        ends = range(self.block, tokens + 1, self.block)
        prefixes = [hash(text[: CHARACTERS_A_TOKEN * end]) for end in ends]
        cached = 0
        if tokens >= self.least:
            hits = [n for n, one in enumerate(prefixes, start=1) if one in self.known]
            cached = self.block * max(hits, default=0)
            self.known.update(prefixes)
        self.search = self.search or await open_model("search", {"budget_expansions": 20_000})
        reply = await self.search.propose(view, messages, (), seed)
        usage = Usage(tokens, len(reply.text) // CHARACTERS_A_TOKEN, min(cached, tokens))
        return Reply(reply.text, finish=reply.finish, usage=usage, meta=reply.meta)

    async def close(self) -> None:
        if self.search is not None:
            await self.search.close()
            self.search = None


def run(task: str, model: Counted, options: argparse.Namespace, **settings: Any) -> Any:
    """Run a session in a store of its own and return its result."""
    with tempfile.TemporaryDirectory() as folder:
        return peirce.run(
            task, model=model, problems=options.problems, max_answers=options.answers,
            tool_calls=0, concurrency=1, store=Path(folder) / "store.duckdb", **settings,
        )  # fmt: skip


def measure(options: argparse.Namespace) -> list[Row]:
    """Return one row per figure."""
    rows = []
    for task, name in TASKS.items():
        if options.only and task not in options.only:
            continue
        longest = 0
        for history in ("descriptions", "chat"):
            for cache in CACHES:
                model = Counted(cache)
                done = run(task, model, options, history=history)
                longest = max(longest, model.longest)
                share = done.usage["cached_share"] or 0.0
                print(f"{name}, {history}, {cache}: {done.usage['tokens_in']:,} input tokens in"
                      f" {done.usage['by_kind']['model']['calls']} calls, {share:.0%} cached")  # fmt: skip
                rows.append(
                    Row(f"cached share, {name}, {history}, {cache}", share, "share", "higher")
                )
        for fit in ("auto", "refuse"):
            done = run(task, Counted("vllm", 3 * longest // 4), options, fit=fit)
            answered = 1 - len(done.failed) / done.problems
            print(f"{name}, {3 * longest // 4:,} tokens of context, fit {fit}: {answered:.0%} of the problems"
                  f" end, {done.verdicts.get('accepted', 0)} accepted")  # fmt: skip
            rows.append(Row(f"problems that end in three quarters of the context, {name}, fit {fit}", answered, "share", "higher"))  # fmt: skip
    return rows


def main() -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=4)
    parser.add_argument("--answers", type=int, default=8)
    parser.add_argument("--only", nargs="*", choices=TASKS)
    add_json_option(parser)
    options = parser.parse_args()
    write_rows(options.json, measure(options))


if __name__ == "__main__":
    main()
