"""Language models in this process, through transformers and peft: `hf:BASE` and `hf:BASE+ADAPTER`
(local_files says how they are read).

The requests that wait at a moment go as one batch on one thread; to a small model each comes and goes
by itself (local_decoding). An answer depends on its own request alone: sampling takes its noise from
the request's seed (local_sampling), not from a generator that a batch shares. What floating point can
still change: a row's logits differ in their last digits with the size of its batch, so a near-tie can
fall the other way; seldom in float32, about once in some hundred tokens in bfloat16, float16 and 4 bits.

Importing this module imports no torch. Beside it, by concept: `local_settings`, `local_files` (where
the files lie), `local_model` (loading, one batch), `local_decoding` (answers of a small one),
`local_chat` (template and reply), `local_sampling`.
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
from typing import TYPE_CHECKING, Any

from ...records import (
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
    from .chat import Wording
    from .decoding import Answer, Decoder, Prompt
    from .files import Found
    from .model import LocalModel
    from .settings import LocalSettings

PACKAGES = ("torch", "transformers", "peft", "accelerate")
INSTALL = "pip install 'peirce[local]'"

FIRST_LINGER_S = 0.02
LINGER = 0.1  # of the time that the last batch took: so long others may still join the next
MOST_LINGER_S = 2.0


@dataclass(eq=False)
class Waiting:
    """A request that waits for its answer."""

    prompt: Prompt
    answer: asyncio.Future[Answer]


class Local:
    """A Proposer; `open_model` makes it."""

    def __init__(
        self,
        model: LocalModel,
        wording: Wording,
        thread: ThreadPoolExecutor,
        settings: Mapping[str, Json],
    ) -> None:
        self._model: LocalModel | None = model
        self._wording = wording
        self._thread = thread
        self._batch = model.batch
        self._settings = dict(settings)
        self._name: str = settings["answers_from"]["name"]
        self._waiting: deque[Waiting] = deque()
        self._running: Sequence[Waiting] = ()
        self._serving: asyncio.Task[None] | None = None
        self._closing = False
        self._took_s = 0.0  # by the last batch
        self._expected = 1  # requests that were there when it ended, its own included
        self._room: float = float("inf")  # tokens of a batch, once one did not fit

    def settings(self) -> Json:
        """What decides the answers, and apart from it (`transport`) what does not. digest: of the
        weights, their tokenizer and the chat template, whatever their folder is called."""
        return dict(self._settings)

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Raises Unavailable where the context or the memory does not hold the request."""
        from .decoding import Prompt

        if self._closing:
            raise self._was_closed()
        if tools and not self._wording.tools:
            return Reply(finish="no_tools")
        tokens = self._wording.tokens(messages, tools)
        self._check_context(len(tokens))
        one = Waiting(Prompt(tokens, seed), asyncio.get_running_loop().create_future())
        serving = self._begin(one)
        try:
            while not one.answer.done():
                ends: list[asyncio.Future[Any]] = [one.answer, serving]
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                if not one.answer.done():  # nothing serves any more: what ended it is told
                    if self._closing:
                        raise self._was_closed()
                    serving.result()
                    serving = self._begin(one)  # it was taken by who served another loop
            answer = one.answer.result()
        finally:
            one.prompt.given_up = True  # no one waits any more, whether it was answered or not
            one.answer.cancel()
        if answer.broken:
            raise Unavailable(
                f"model {self._name!r} gives no numbers (NaN) for its next token: its weights are"
                f" broken, or its dtype {self._settings['dtype']} does not hold what they amount to"
            )
        return self._wording.reply(len(tokens), answer, tools)

    async def close(self) -> None:
        """Stops what is under way within a token, and frees the model."""
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
            raise Unavailable(
                f"model {self._name!r} was not asked: the prompt of {tokens:,} tokens and an answer"
                f" of {answer:,} (max_tokens) are more than the {most:,} that it holds"
            )

    def _begin(self, one: Waiting) -> asyncio.Task[None]:
        """Lets one wait; the task that serves those that do, on this event loop."""
        self._waiting.append(one)
        serving, loop = self._serving, asyncio.get_running_loop()
        if serving is None or serving.done() or serving.get_loop() is not loop:
            serving = self._serving = loop.create_task(self._serve())
        return serving

    async def _serve(self) -> None:
        """Answers what waits until nothing does: a batch at a time, or, of a model with a decoder,
        together with all that come meanwhile."""
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
        """On the model's thread: lets those that wait join those under way, a token at a time, and
        hands out each answer as it ends, until nobody waits. Returns none."""
        from .decoding import JOIN_EVERY

        here: dict[int, Waiting] = {}  # by the prompt's id
        step = 0
        try:
            while here or self._waiting:
                if not here or step % JOIN_EVERY == 0:
                    joining = self._next_batch(tuple(here.values()))
                    here |= {id(one.prompt): one for one in joining}
                    self._running = tuple(here.values())
                    if joining:
                        decoder.join([one.prompt for one in joining])
                if self._closing:  # those too that were on their way here when `close` looked
                    for one in here.values():
                        one.prompt.given_up = True
                if here:
                    step += 1
                    for prompt, answer in decoder.step():
                        self._hand_out(here.pop(id(prompt)), answer)
                    self._running = tuple(here.values())
        finally:
            decoder.leave_all()
        return []

    def _hand_out(self, one: Waiting, answer: Answer) -> None:
        """From the model's thread, to the loop that waits for it."""

        def settle() -> None:
            if one.answer.done():
                return
            if one.prompt.given_up:  # by `close`: the answer was cut
                one.answer.set_exception(self._was_closed())
            else:
                one.answer.set_result(answer)

        with suppress(RuntimeError):  # a loop that was closed: nobody waits
            one.answer.get_loop().call_soon_threadsafe(settle)

    def _was_closed(self) -> Unavailable:
        return Unavailable(f"model {self._name!r} was closed")

    async def _linger(self) -> None:
        """Lets those join that were answered just now and come back soon: else a batch of all but
        one and a batch of one would take turns."""
        wanted = min(self._batch, self._expected) if self._took_s else self._batch
        wait_s = min(self._took_s * LINGER, MOST_LINGER_S) if self._took_s else FIRST_LINGER_S
        until = time.monotonic() + wait_s
        while len(self._waiting) < wanted and time.monotonic() < until:
            await asyncio.sleep(min(wait_s, 0.005))

    def _next_batch(self, here: Sequence[Waiting] = ()) -> list[Waiting]:
        """The first that wait, as many as fit beside those that are here; where there are none, one
        of them in any case."""
        assert self._model is not None
        found: list[Waiting] = []
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

    def _settle(self, batch: Sequence[Waiting], work: asyncio.Future[list[Answer]]) -> None:
        """Hands out the answers of a batch, or what it raised. A batch without memory is put back
        in front, to be tried in halves."""
        from .model import is_out_of_memory

        error = work.exception()
        if error is not None and is_out_of_memory(error):
            assert self._model is not None
            error = error.with_traceback(None)  # whose frames hold the batch's memory
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
    """Loads the model, on the thread that will run it. Raises UsageError and DataError."""
    _check_packages(settings)
    thread = ThreadPoolExecutor(1, thread_name_prefix="peirce-local")
    with ExitStack() as failing:
        failing.callback(thread.shutdown, wait=False)
        loop = asyncio.get_running_loop()
        opened = await loop.run_in_executor(thread, _opened, settings, thread)
        failing.pop_all()
        return opened


def check_local(settings: LocalSettings) -> None:
    """The packages and, where they are here, the files; nothing is fetched or loaded. Raises
    UsageError and DataError."""
    from .chat import PLAIN, read_template
    from .files import check

    _check_packages(settings)
    check(settings.model)
    if settings.chat_template not in (None, PLAIN):
        read_template(settings.chat_template)


def _opened(settings: LocalSettings, thread: ThreadPoolExecutor) -> Local:
    from .chat import PLAIN, Wording
    from .files import find, fingerprint
    from .model import load

    base, adapter = find(settings.model)
    name = base.name if adapter is None else f"{base.name}+{adapter.name}"
    model = load(base, adapter, settings)
    template, variables = settings.chat_template, settings.model_args
    wording = Wording(name, model.tokenizer, template, variables, settings.tools)
    model.end_at(wording.stop)
    if wording.template == PLAIN and template is None:
        warnings.warn(
            f"model {name!r} has no chat template: messages are written plainly, as User: and"
            " Assistant: (chat_template=FILE gives one, chat_template=plain says that you know)",
            stacklevel=2,
        )
    prints = [fingerprint(one.folder) if one else None for one in (base, adapter)]
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
        "generation": model.rest,
        "max_tokens": settings.max_tokens,
        "context_tokens": model.context,
        "tools": settings.tools,
        "chat_template": _shown_template(wording.template, PLAIN),
        "model_args": variables,
        "transport": {**_folders(base, adapter), "device": model.device, "batch": model.batch,
                      "versions": _versions()},
    }  # fmt: skip
    return Local(model, wording, thread, told)


def _shown_template(template: str, plain: str) -> str:
    return plain if template == plain else digest_of(template)[:16]


def _folders(base: Found, adapter: Found | None) -> dict[str, Json]:
    return {"base": str(base.folder), "adapter": str(adapter.folder) if adapter else None}


def _versions() -> dict[str, str]:
    import importlib.metadata

    return {name: importlib.metadata.version(name) for name in ("torch", "transformers")}


def _check_packages(settings: LocalSettings) -> None:
    wanted = (*PACKAGES, *(("bitsandbytes",) if settings.load_in_4bit else ()))
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"model {settings.model!r} needs {', '.join(missing)}: {INSTALL}")
