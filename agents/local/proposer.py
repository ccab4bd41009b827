"""Language models in this process, run by transformers and peft: `hf:BASE` and `hf:BASE+ADAPTER`.

files.py explains these model strings. All waiting requests form one batch on a single thread. In a
small model, each request joins and leaves the batch separately (decoding.py). An answer depends
only on its own request, because the noise for sampling is derived from the seed of the request
(sampling.py) and not from a generator that the batch shares. Floating-point arithmetic can still
change an answer: the logits of a row differ in their last digits with the size of the batch, so
that the choice between nearly equal tokens may change. This is rare in float32, and happens about
once in some hundred tokens in bfloat16, float16 and 4 bits.

Importing this module does not import torch. The other modules of this package are settings.py,
files.py (find the files), model.py (load a model, answer one batch), decoding.py (answers of a
small model), chat.py (chat template and reply) and sampling.py.
"""

from __future__ import annotations

import asyncio
import importlib.util
import time
import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ...records import (
    ContextExceeded,
    Json,
    Message,
    Proposer,
    Reply,
    ToolSpec,
    Unavailable,
    UsageError,
    View,
    digest_of,
)

if TYPE_CHECKING:
    from .chat import ChatFormat
    from .decoding import Answer, Decoder, Prompt
    from .files import ModelFolder
    from .model import LocalModel
    from .settings import LocalSettings

PACKAGES = ("torch", "transformers", "peft", "accelerate")
INSTALL = "pip install 'peirce[local]'"

FIRST_LINGER_S = 0.02
LINGER = 0.1  # share of the last batch's duration that the next one waits for more requests
MOST_LINGER_S = 2.0


@dataclass(eq=False)
class PendingRequest:
    """A request that waits for its answer."""

    prompt: Prompt
    answer: asyncio.Future[Answer]


class LocalProposer:
    """A proposer that runs a model in this process. `open_local` creates it."""

    def __init__(
        self,
        model: LocalModel,
        wording: ChatFormat,
        thread: ThreadPoolExecutor,
        settings: Mapping[str, Json],
    ) -> None:
        self._model: LocalModel | None = model
        self._wording = wording
        self._thread = thread
        self._batch = model.batch
        self._settings = dict(settings)
        self._name: str = settings["answers_from"]["name"]
        self._waiting: deque[PendingRequest] = deque()
        self._running: Sequence[PendingRequest] = ()
        self._serving: asyncio.Task[None] | None = None
        self._closing = False
        self._took_s = 0.0  # duration of the last batch
        self._expected = 1  # requests present when the last batch ended, including its own
        self._room: float = float("inf")  # maximum tokens of a batch, once one did not fit

    def settings(self) -> Json:
        """Return the settings of this proposer that the session records.

        Settings that cannot affect answers are grouped under the key `transport`. The value of
        `digest` covers the weights, the tokenizer and the chat template, but not the name of the
        folder.
        """
        return dict(self._settings)

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Answer the messages with the model in this process.

        Raises:
            ContextExceeded: The request does not fit into the context.
            Unavailable: The request does not fit into the memory.
        """
        from .decoding import Prompt

        if self._closing:
            raise self._was_closed()
        if tools and not self._wording.tools:
            return Reply(finish="no_tools")
        tokens = self._wording.tokenize_prompt(messages, tools)
        self._check_context(len(tokens))
        one = PendingRequest(Prompt(tokens, seed), asyncio.get_running_loop().create_future())
        serving = self._begin(one)
        try:
            while not one.answer.done():
                ends: list[asyncio.Future[Any]] = [one.answer, serving]
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                if not one.answer.done():  # The serving task ended; its exception is raised here.
                    if self._closing:
                        raise self._was_closed()
                    serving.result()
                    # A task that served another loop had taken the request.
                    serving = self._begin(one)
            answer = one.answer.result()
        finally:
            one.prompt.given_up = True  # Nobody waits any more, whether it was answered or not.
            one.answer.cancel()
        if answer.broken:
            raise Unavailable(
                f"model {self._name!r} gives no numbers (NaN) for its next token: its weights are"
                f" broken, or its dtype {self._settings['dtype']} does not hold what they amount to"
            )
        return self._wording.parse_reply(tokens, answer, tools)

    async def close(self) -> None:
        """Stop running requests within one token, and free the memory of the model."""
        self._closing = True
        for one in (*self._waiting, *self._running):
            one.prompt.given_up = True
            if not one.answer.done():
                one.answer.set_exception(self._was_closed())
        self._waiting.clear()
        await asyncio.to_thread(self._thread.shutdown)
        if self._model is not None:
            model, self._model = self._model, None
            model.free()

    def _check_context(self, tokens: int) -> None:
        assert self._model is not None, "the proposer is closed"
        most, answer = self._model.context, self._model.max_tokens
        if most is not None and tokens + answer > most:
            raise ContextExceeded(
                f"model {self._name!r} was not asked: the prompt of {tokens:,} tokens and an answer"
                f" of {answer:,} (max_tokens) are more than the {most:,} that it holds",
                tokens,
                most - answer,
            )

    def _begin(self, one: PendingRequest) -> asyncio.Task[None]:
        """Queue a request and return the task that serves the queue on this event loop."""
        self._waiting.append(one)
        serving, loop = self._serving, asyncio.get_running_loop()
        if serving is None or serving.done() or serving.get_loop() is not loop:
            serving = self._serving = loop.create_task(self._serve())
        return serving

    async def _serve(self) -> None:
        """Answer queued requests until none is left.

        Requests are answered in batches, or, for a model with a decoder, together with all that
        arrive meanwhile.
        """
        loop = asyncio.get_running_loop()
        while self._waiting:
            assert self._model is not None
            decoder = self._model.decoder
            if decoder is not None:
                work = loop.run_in_executor(self._thread, self._flow, decoder)
                await asyncio.wait([work])
                if work.exception() is not None:
                    self._settle(self._running, work)
                self._running = ()
                continue
            await self._linger()
            self._running = self._next_batch()
            if not self._running:
                continue
            prompts = [one.prompt for one in self._running]
            began = time.monotonic()
            work = loop.run_in_executor(self._thread, self._model.answer, prompts)
            await asyncio.wait([work])
            self._took_s = time.monotonic() - began
            self._expected = len(self._running) + len(self._waiting)
            self._settle(self._running, work)
            self._running = ()

    def _flow(self, decoder: Decoder) -> list[Answer]:
        """Serve the queue with the decoder, on the model's thread.

        Waiting requests join the running ones between tokens, and each answer is delivered as it
        ends. Returns an empty list.
        """
        from .decoding import JOIN_EVERY

        here: dict[int, PendingRequest] = {}  # by the id of the prompt
        step = 0
        try:
            while here or self._waiting:
                if not here or step % JOIN_EVERY == 0:
                    joining = self._next_batch(tuple(here.values()))
                    here |= {id(one.prompt): one for one in joining}
                    self._running = tuple(here.values())
                    if joining:
                        decoder.add_prompts([one.prompt for one in joining])
                # This includes requests that were about to join when `close` looked.
                if self._closing:
                    for one in here.values():
                        one.prompt.given_up = True
                if here:
                    step += 1
                    for prompt, answer in decoder.step():
                        self._hand_out(here.pop(id(prompt)), answer)
                    self._running = tuple(here.values())
        finally:
            decoder.abort_all()
        return []

    def _hand_out(self, one: PendingRequest, answer: Answer) -> None:
        """Deliver an answer from the model's thread to the event loop that waits for it."""

        def settle() -> None:
            if one.answer.done():
                return
            if one.prompt.given_up:  # `close` gave it up, so the answer is truncated.
                one.answer.set_exception(self._was_closed())
            else:
                one.answer.set_result(answer)

        with suppress(RuntimeError):  # The loop was closed, so nobody waits.
            one.answer.get_loop().call_soon_threadsafe(settle)

    def _was_closed(self) -> Unavailable:
        return Unavailable(f"model {self._name!r} was closed")

    async def _linger(self) -> None:
        """Wait briefly for callers that were just answered to send their next request.

        Otherwise a batch of all but one request and a batch of one would alternate.
        """
        wanted = min(self._batch, self._expected) if self._took_s else self._batch
        wait_s = min(self._took_s * LINGER, MOST_LINGER_S) if self._took_s else FIRST_LINGER_S
        until = time.monotonic() + wait_s
        while len(self._waiting) < wanted and time.monotonic() < until:
            await asyncio.sleep(min(wait_s, 0.005))

    def _next_batch(self, here: Sequence[PendingRequest] = ()) -> list[PendingRequest]:
        """Take the next requests that fit in addition to those in `here`.

        If `here` is empty, at least one is taken.
        """
        assert self._model is not None
        found: list[PendingRequest] = []
        answer = self._model.max_tokens
        longest = max((len(one.prompt.tokens) + answer for one in here), default=0)
        while len(here) + len(found) < self._batch:
            try:
                one = self._waiting.popleft()
            except IndexError:
                break
            if one.prompt.given_up:
                continue
            longest = max(longest, len(one.prompt.tokens) + answer)
            together = len(here) + len(found) + 1
            if together > 1 and longest * together > self._room:
                self._waiting.appendleft(one)
                break
            found.append(one)
        return found

    def _settle(self, batch: Sequence[PendingRequest], work: asyncio.Future[list[Answer]]) -> None:
        """Deliver the answers of a batch, or the error it raised.

        A batch that ran out of memory is put back at the front of the queue, to be tried in halves.
        """
        from .model import is_out_of_memory

        error = work.exception()
        if error is not None and is_out_of_memory(error):
            assert self._model is not None
            error = error.with_traceback(None)  # Its frames hold the batch's memory.
            self._model.release()
            if len(batch) > 1:
                longest = max(len(one.prompt.tokens) for one in batch) + self._model.max_tokens
                self._room = min(self._room, longest * len(batch) // 2)
                self._waiting.extendleft(reversed(batch))
                return
            tokens = len(batch[0].prompt.tokens)
            error = Unavailable(
                f"model {self._name!r} has no memory for a prompt of {tokens:,} tokens and an"
                f" answer of {self._model.max_tokens:,} on {self._model.device}, even alone"
            )
        for number, one in enumerate(batch):
            if one.answer.done():
                continue
            if error is not None:
                one.answer.set_exception(error)
            else:
                one.answer.set_result(work.result()[number])


async def open_local(settings: LocalSettings) -> Proposer:
    """Load a model on the thread that will run it, and return its proposer.

    Raises:
        UsageError: A package is missing, the model does not exist, or a setting is invalid.
        DataError: A file of the model is missing or damaged.
    """
    _check_packages(settings)
    thread = ThreadPoolExecutor(1, thread_name_prefix="peirce-local")
    with ExitStack() as failing:
        failing.callback(thread.shutdown, wait=False)
        loop = asyncio.get_running_loop()
        opened = await loop.run_in_executor(thread, _opened, settings, thread)
        failing.pop_all()
        return opened


def check_local(settings: LocalSettings) -> None:
    """Raise the errors that `open_local` would raise, without loading a model or sending a request.

    Raises:
        UsageError: A package is missing, the model does not exist, or a setting is invalid.
        DataError: A file of the model is missing or damaged.
    """
    from .chat import PLAIN
    from .files import check_spec
    from .templates import read_template

    _check_packages(settings)
    check_spec(settings.model)
    if settings.chat_template not in (None, PLAIN):
        read_template(settings.chat_template)


def _opened(settings: LocalSettings, thread: ThreadPoolExecutor) -> LocalProposer:
    from .chat import PLAIN, ChatFormat
    from .files import digest_files, find_model
    from .model import load_model

    base, adapter = find_model(settings.model)
    name = base.name if adapter is None else f"{base.name}+{adapter.name}"
    model = load_model(base, adapter, settings)
    template, variables = settings.chat_template, settings.model_args
    wording = ChatFormat(name, model.tokenizer, template, variables, settings.tools)
    if settings.prompt_date is not None:
        wording.freeze_date(datetime.fromisoformat(settings.prompt_date))
    model.set_stop(wording.stop)
    if wording.template == PLAIN and template is None:
        warnings.warn(
            f"model {name!r} has no chat template, so messages are written as plain text with"
            " User: and Assistant:. Set chat_template=FILE to use a template, or"
            " chat_template=plain to silence this warning",
            stacklevel=2,
        )
    prints = [digest_files(one.folder) if one else None for one in (base, adapter)]
    told = {
        "scheme": "hf",
        "digest": digest_of([*prints, wording.template]),
        "answers_from": {"name": name},
        "endpoint": "local",
        "weights": prints[0],
        "adapter": prints[1],
        "commits": [one.commit if one else None for one in (base, adapter)],
        "dtype": model.dtype,
        "quantization": "nf4" if settings.load_in_4bit else None,
        "sampling": asdict(model.sampling),
        "generation": model.other_generation_settings,
        "max_tokens": settings.max_tokens,
        "context_tokens": model.context,
        "tools": settings.tools,
        "chat_template": wording.digest,
        "model_args": variables,
        **({"prompt_date": wording.date} if wording.date else {}),
        "transport": {**_folders(base, adapter), "device": model.device, "batch": model.batch,
                      "versions": _versions()},
    }  # fmt: skip
    return LocalProposer(model, wording, thread, told)


def _folders(base: ModelFolder, adapter: ModelFolder | None) -> dict[str, Json]:
    return {"base": str(base.folder), "adapter": str(adapter.folder) if adapter else None}


def _versions() -> dict[str, str]:
    import importlib.metadata

    return {name: importlib.metadata.version(name) for name in ("torch", "transformers")}


def _check_packages(settings: LocalSettings) -> None:
    wanted = (*PACKAGES, *(("bitsandbytes",) if settings.load_in_4bit else ()))
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"model {settings.model!r} needs {', '.join(missing)}: {INSTALL}")
