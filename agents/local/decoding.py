"""Answers of a small local model, token by token, where rows come and go: a request joins those under
way and leaves when its answer ends, so that no row waits for the longest of its batch, and what
prompts share in front is read once.

For small models, of which a token costs more in Python and in copies of the cache than in
arithmetic: transformers' own `generate` keeps a batch together to its end and copies its keys and
values at each token. Here each row has a place in one buffer, left-aligned, and a mask says how far
it is filled. What prompts had in common with an earlier one (the observations of a problem, asked
about again and again) is copied from there. Both change a row's logits in their last digits alone,
as the size of a batch does (see `local`).

`decoder_of` gives one only where the model keeps keys and values of all tokens, layer by layer alike,
and where it says the same this way as in one pass; else `generate` answers.
"""

from __future__ import annotations

import bisect
import inspect
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer

from .sampling import Sampling, noisy

SMALL = 100_000_000  # parameters up to which a model is answered for in this way
BLOCK = 64  # columns, tokens, by which the buffer grows
JOIN_EVERY = 4  # steps: a pass for one newcomer costs nearly what one for several does
KEPT_BYTES = 128 << 20  # of prompts that were read before
PROBE = (5, 3)  # tokens of the two rows by which a model is tried
FAULTS = (RuntimeError, ValueError, TypeError, LookupError, AttributeError, AssertionError)
NEEDED = {"input_ids", "attention_mask", "position_ids", "past_key_values", "use_cache"}


@dataclass
class Prompt:
    """A prompt that waits for its answer. given_up: nobody waits any more."""

    tokens: Sequence[int]
    seed: int
    given_up: bool = False


@dataclass(frozen=True)
class Answer:
    """tokens: without the one that ended it; `ended` is False where the limit did. made: how many
    were made, that one counted, as endpoints count. broken: the model's numbers were none (NaN)."""

    tokens: list[int]
    ended: bool
    made: int
    broken: bool = False


@dataclass
class _Row:
    prompt: Prompt
    made: list[int] = field(default_factory=list)


class _Place:
    """Where the pass under way writes: rows (an int64 tensor (r,), or None for the first r), columns
    (r, tokens), and how many columns it sees."""

    rows: torch.Tensor | None
    columns: torch.Tensor
    width: int


class _Layer(DynamicLayer):  # type: ignore[misc]
    """One layer's keys and values, a view of the decoder's buffer: (rows, heads, columns, size)."""

    def __init__(self, place: _Place) -> None:
        super().__init__()
        self.place = place
        self.is_initialized = True

    def update(self, keys: Any, values: Any, *args: Any, **more: Any) -> tuple[Any, Any]:
        at = self.place
        count = keys.shape[0]
        rows = torch.arange(count, device=keys.device) if at.rows is None else at.rows
        self.keys[rows[:, None], :, at.columns] = keys.transpose(1, 2)
        self.values[rows[:, None], :, at.columns] = values.transpose(1, 2)
        if at.rows is None:
            return self.keys[:count, :, : at.width], self.values[:count, :, : at.width]
        return self.keys[rows, :, : at.width], self.values[rows, :, : at.width]

    def get_seq_length(self) -> int:
        return int(self.place.width - self.place.columns.shape[1])


class Decoder:
    """shape: of what one token leaves in the cache, (layers, heads, size). ends: tokens that end an
    answer. stop, text_of: a text that ends one too, and what reads tokens."""

    def __init__(
        self,
        model: Any,
        shape: tuple[int, int, int],
        dtype: torch.dtype,
        sampling: Sampling,
        ends: frozenset[int],
        max_tokens: int,
    ) -> None:
        self.model = model
        self.sampling = sampling
        self.ends = ends
        self.max_tokens = max_tokens
        self.stop = ""
        self.text_of: Callable[[list[int]], str] = lambda tokens: ""
        self.rows: list[_Row] = []
        layers, heads, size = shape
        self._place = _Place()
        self._layers = [_Layer(self._place) for _ in range(layers)]
        self._cache = Cache(layers=list(self._layers))
        self._buffer = torch.zeros((layers, 2, 0, heads, 0, size), dtype=dtype, device=model.device)
        self._lowest = torch.finfo(dtype).min
        self._filled = torch.zeros(0, dtype=torch.int64, device=model.device)  # columns of each row
        self._next = torch.zeros(0, dtype=torch.int64, device=model.device)  # token of each row
        self._known = _Known()
        self._warpers = sampling.warpers()
        self._keeps_few = "logits_to_keep" in inspect.signature(_inner(model).forward).parameters

    def join(self, prompts: Sequence[Prompt]) -> None:
        """Reads the prompts but for their last tokens, which the next step reads. Where this fails
        they are among the rows all the same, for `leave_all`."""
        first = len(self.rows)
        if not first and self._buffer.nbytes > KEPT_BYTES:  # of a prompt that was long once
            self._drop_buffer()
        self.rows += [_Row(prompt) for prompt in prompts]
        longest = max(len(one.tokens) for one in prompts)
        with torch.inference_mode():
            self._grow(len(self.rows), longest + 1)
            unread: list[tuple[int, int]] = []  # row, columns that are filled
            for row, one in enumerate(prompts, start=first):
                body = tuple(one.tokens[:-1])
                known, kept = self._known.longest(body)
                if known:
                    self._buffer[:, :, row, :, :known] = kept[..., :known, :]
                if known < len(body):
                    unread.append((row, known))
            for group in _alike(unread, [len(one.prompt.tokens) - 1 for one in self.rows]):
                self._read(group)
            for row, _ in unread:
                body = tuple(self.rows[row].prompt.tokens[:-1])
                self._known.keep(body, self._buffer[:, :, row, :, : len(body)])
            lengths = [len(one.tokens) - 1 for one in prompts]
            last = [one.tokens[-1] for one in prompts]
            self._filled = torch.cat([self._filled[:first], self._filled.new_tensor(lengths)])
            self._next = torch.cat([self._next[:first], self._next.new_tensor(last)])

    def step(self) -> list[tuple[Prompt, Answer]]:
        """One token more for each row; returns the answers that end with it."""
        count = len(self.rows)
        width = max(len(one.prompt.tokens) + len(one.made) for one in self.rows)
        with torch.inference_mode():
            self._grow(count, width)
            logits = self._pass(None, self._next[:, None], self._filled[:, None], width)
            scores = logits[:, -1].to(torch.float32, copy=True)
            wrong = scores.isnan().any(dim=-1)
            for warper in self._warpers:
                scores = warper(None, scores)
            if self.sampling.temperature:
                scores = noisy(scores, [(one.prompt.seed, len(one.made)) for one in self.rows])
            self._next = scores.argmax(dim=-1)
            self._filled = self._filled + 1
            tokens, broken = self._next.tolist(), wrong.tolist()
            if any(broken):  # what is masked counts nothing, unless it is no number
                self._buffer[:, :, : len(broken)][:, :, wrong] = 0
        ended: list[tuple[Prompt, Answer]] = []
        gone: list[int] = []
        for number, (row, token) in enumerate(zip(self.rows, tokens, strict=True)):
            row.made.append(token)
            answer = self._answer(row, broken[number])
            if answer is not None:
                gone.append(number)
                ended.append((row.prompt, answer))
        self._leave(gone)
        return ended

    def leave_all(self) -> list[Prompt]:
        """Ends all rows without answers; returns their prompts."""
        prompts = [row.prompt for row in self.rows]
        if prompts:
            self.rows = []
            self._filled, self._next = self._filled[:0], self._next[:0]
            self._drop_buffer()  # a step that failed may have left what is no number
        return prompts

    def release(self) -> None:
        """Gives up the buffer and what is kept, where there are no rows."""
        self._known = _Known()
        self._drop_buffer()

    def _drop_buffer(self) -> None:
        for layer in self._layers:
            layer.keys = layer.values = None
        self._buffer = self._buffer.new_zeros(
            (*self._buffer.shape[:2], 0, self._buffer.shape[3], 0, self._buffer.shape[5])
        )

    def _answer(self, row: _Row, broken: bool) -> Answer | None:
        """None while it goes on."""
        made = row.made
        if broken:
            return Answer([], True, len(made), broken=True)
        if made[-1] in self.ends:
            return Answer(made[:-1], True, len(made))
        if self.stop and self.stop in self.text_of(made[-8:]):
            return Answer(made, True, len(made))
        if row.prompt.given_up or len(made) == self.max_tokens:
            return Answer(made, False, len(made))
        return None

    def _leave(self, gone: Sequence[int]) -> None:
        """Takes rows out; the last ones move into their places."""
        order = list(range(len(self.rows)))
        for place in sorted(gone, reverse=True):
            last = order.pop()
            if place < len(order):
                order[place] = last
        if len(order) == len(self._filled):
            return
        with torch.inference_mode():
            for place, row in enumerate(order):
                if place != row:
                    filled = len(self.rows[row].prompt.tokens) - 1 + len(self.rows[row].made)
                    self._buffer[:, :, place, :, :filled] = self._buffer[:, :, row, :, :filled]
            self._filled, self._next = self._filled[order], self._next[order]
        self.rows = [self.rows[row] for row in order]

    def _read(self, rows: Sequence[tuple[int, int]]) -> None:
        """One pass over the tokens of these rows' prompts beyond the columns that are filled. What
        the pad of the shorter leaves behind lies beyond what a row sees, until it is written over."""
        tokens = [self.rows[row].prompt.tokens[filled:-1] for row, filled in rows]
        most = max(len(one) for one in tokens)
        padded = [[*one, *([one[-1]] * (most - len(one)))] for one in tokens]
        starts = self._filled.new_tensor([filled for _, filled in rows])
        width = max(filled for _, filled in rows) + most
        self._grow(len(self.rows), width)
        columns = starts[:, None] + torch.arange(most, device=starts.device)[None]
        places = self._filled.new_tensor([row for row, _ in rows])
        self._pass(places, self._filled.new_tensor(padded), columns, width)

    def _pass(
        self, rows: torch.Tensor | None, tokens: torch.Tensor, columns: torch.Tensor, width: int
    ) -> torch.Tensor:
        """Logits (rows, tokens or 1, vocabulary)."""
        at = self._place
        at.rows, at.columns, at.width = rows, columns, width
        seen = torch.arange(width, device=columns.device) <= columns[:, None, :, None]
        mask = torch.zeros(seen.shape, dtype=self._buffer.dtype, device=columns.device)
        mask.masked_fill_(~seen, self._lowest)
        more = {"logits_to_keep": 1} if self._keeps_few else {}
        out = self.model(
            input_ids=tokens, attention_mask=mask, position_ids=columns,
            past_key_values=self._cache, use_cache=True, **more,
        )  # fmt: skip
        logits: torch.Tensor = out.logits
        return logits

    def _grow(self, rows: int, columns: int) -> None:
        layers, two, had, heads, wide, size = self._buffer.shape
        if rows <= had and columns <= wide:
            return
        rows = max(had, rows)
        columns = wide if columns <= wide else -(-(columns + BLOCK) // BLOCK) * BLOCK
        larger = self._buffer.new_zeros((layers, two, rows, heads, columns, size))
        larger[:, :, :had, :, :wide] = self._buffer
        self._buffer = larger
        for number, layer in enumerate(self._layers):
            layer.keys, layer.values = larger[number]


class _Known:
    """Keys and values of prompts that were read, the latest used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, ...], torch.Tensor] = OrderedDict()
        self._sorted: list[tuple[int, ...]] = []
        self._bytes = 0

    def longest(self, body: tuple[int, ...]) -> tuple[int, torch.Tensor]:
        """Of the kept prompts the one that has most in common in front: how many tokens, and its
        keys and values (layers, 2, heads, tokens, size)."""
        at = bisect.bisect_left(self._sorted, body)
        found = max(self._sorted[max(0, at - 1) : at + 1], key=lambda one: _common(one, body), default=())  # fmt: skip
        shared = _common(found, body)
        if not shared:
            return 0, torch.empty(0)
        self._kept.move_to_end(found)
        return shared, self._kept[found]

    def keep(self, body: tuple[int, ...], filled: torch.Tensor) -> None:
        if body in self._kept:
            return
        size = filled.nelement() * filled.element_size()
        while self._sorted and self._bytes + size > KEPT_BYTES:
            oldest, gone = self._kept.popitem(last=False)
            self._bytes -= gone.nelement() * gone.element_size()
            del self._sorted[bisect.bisect_left(self._sorted, oldest)]
        if size <= KEPT_BYTES:
            self._kept[body] = filled.clone()
            self._bytes += size
            bisect.insort(self._sorted, body)


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    for at, (a, b) in enumerate(zip(one, other)):  # noqa: B905 - of different lengths
        if a != b:
            return at
    return min(len(one), len(other))


def _alike(
    unread: Sequence[tuple[int, int]], lengths: Sequence[int]
) -> list[list[tuple[int, int]]]:
    """The rows in groups of similar numbers of unread tokens, to be padded together."""
    groups: list[list[tuple[int, int]]] = []
    least = 0
    for row, filled in sorted(unread, key=lambda one: lengths[one[0]] - one[1]):
        left = lengths[row] - filled
        if not groups or left > 2 * least + 16:
            groups.append([])
            least = left
        groups[-1].append((row, filled))
    return groups


def decoder_of(model: Any, sampling: Sampling, max_tokens: int) -> Decoder | None:
    """None for a model that is large, keeps another kind of cache, or answers otherwise this way."""
    if parameters(model) > SMALL or sampling.repetition_penalty is not None:
        return None
    if _turns_by_length(_inner(model).config):
        return None
    try:
        return _tried(model, sampling, max_tokens)
    except FAULTS:  # of a model that is not called this way; if `generate` fails too, that is told
        return None


def _turns_by_length(config: Any) -> bool:
    """Whether positions mean another thing beside a longer row, so that no front can be shared."""
    told = str(getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None))
    return "dynamic" in told or "longrope" in told


def _tried(model: Any, sampling: Sampling, max_tokens: int) -> Decoder | None:
    inner = _inner(model)
    if not set(inspect.signature(inner.forward).parameters) >= NEEDED:
        return None
    if len(set((getattr(inner, "hf_device_map", None) or {"": 0}).values())) > 1:
        return None
    told = model.generation_config.eos_token_id
    ends = frozenset(told if isinstance(told, list) else [told])
    known = min(model.get_input_embeddings().weight.shape[0], 97)
    rows = [[7 * (row + n) % known for n in range(length)] for row, length in enumerate(PROBE)]
    with torch.inference_mode():
        cache = DynamicCache(config=inner.config)
        tokens = torch.tensor([rows[0]], device=model.device)
        model(input_ids=tokens, past_key_values=cache, use_cache=True)
        kept = [layer.keys for layer in cache.layers if type(layer) is DynamicLayer]
        shapes = {(one.shape[1], one.shape[3], one.dtype, one.device) for one in kept}
        if len(kept) != len(cache.layers) or len(shapes) != 1:
            return None
        ((heads, size, dtype, _),) = shapes
        found = Decoder(model, (len(kept), heads, size), dtype, sampling, ends, max_tokens)
        expected = [model(input_ids=torch.tensor([one], device=model.device)).logits[0, -1] for one in rows]  # fmt: skip
        found.join([Prompt(one, 0) for one in rows])
        got = found._pass(None, found._next[:, None], found._filled[:, None], max(PROBE))[:, -1]
        found.leave_all()
        found.release()
    return found if all(map(_near, expected, got)) else None


def _near(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether these are the same logits, but for what floating point makes of them."""
    if one.isnan().any():
        return bool(other.isnan().any())  # broken weights, which answers will tell of
    slack = 0.05 * float(one.float().std())
    return bool(torch.allclose(one.float(), other.float(), rtol=0.05, atol=slack))


def _inner(model: Any) -> Any:
    """The model itself, inside of its adapter."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def parameters(model: Any) -> int:
    """How many numbers its weights are."""
    return sum(weight.numel() for weight in model.parameters())
