"""Continuous batching for small local models: requests join and leave the batch between tokens.

A request joins the running batch and leaves it when its answer ends, so that no request waits for
the longest answer of a batch. The beginning that several prompts share is computed once.

In a small model, Python code and copies of the cache take more time per token than the arithmetic.
The `generate` function of transformers keeps a batch together until all answers have ended, and
copies keys and values at each token. Here, each request has a row in one buffer, aligned to the
left, and a mask marks how far the row is filled. If a prompt begins like an earlier prompt (many
prompts repeat the observations of a problem), the keys and values of this beginning are copied.
Batching and copying change the logits of a row only in their last digits (see proposer.py).

`make_decoder` returns a decoder only if the model keeps the keys and values of all tokens in layers
of equal shape, and if the logits agree with the logits of a single pass. Otherwise, `generate`
answers the prompts.
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

from .sampling import Sampling, add_gumbel_noise

SMALL = 100_000_000  # maximum parameters of a model that is answered in this way
BLOCK = 64  # columns (tokens) by which the buffer grows
JOIN_EVERY = 4  # steps; a pass for one new prompt costs nearly as much as one for several
KEPT_BYTES = 128 << 20  # for prompts that were read before
PROBE = (5, 3)  # numbers of tokens in the two rows that test a model
FAULTS = (RuntimeError, ValueError, TypeError, LookupError, AttributeError, AssertionError)
NEEDED = {"input_ids", "attention_mask", "position_ids", "past_key_values", "use_cache"}


@dataclass
class Prompt:
    """A prompt that waits for its answer.

    Attributes:
        tokens: The tokens of the prompt.
        seed: The seed for sampling the answer.
        given_up: Whether the caller no longer waits for the answer.
    """

    tokens: Sequence[int]
    seed: int
    given_up: bool = False


@dataclass(frozen=True)
class Answer:
    """The generated tokens of one answer.

    Attributes:
        tokens: The tokens without the end token.
        ended: Whether the model ended the answer itself. False means that the answer was cut off,
            for example at the token limit.
        token_count: The number of generated tokens including the end token, as endpoints count
            them.
        broken: Whether the logits were NaN.
    """

    tokens: list[int]
    ended: bool
    token_count: int
    broken: bool = False


@dataclass
class _Row:
    prompt: Prompt
    made: list[int] = field(default_factory=list)


class _Place:
    """The position to which the current pass writes.

    Attributes:
        rows: An int64 tensor (r,), or None for the first r rows.
        columns: (r, tokens).
        width: How many columns the pass sees.
    """

    rows: torch.Tensor | None
    columns: torch.Tensor
    width: int


class _Layer(DynamicLayer):  # type: ignore[misc]
    """Keys and values of one layer: a view of the decoder's buffer (rows, heads, columns, size)."""

    def __init__(self, place: _Place) -> None:
        super().__init__()
        self.place = place
        self.is_initialized = True

    def update(self, keys: Any, values: Any, *args: Any, **more: Any) -> tuple[Any, Any]:
        """Write the new keys and values to the current place and return those that it sees."""
        at = self.place
        count = keys.shape[0]
        rows = torch.arange(count, device=keys.device) if at.rows is None else at.rows
        self.keys[rows[:, None], :, at.columns] = keys.transpose(1, 2)
        self.values[rows[:, None], :, at.columns] = values.transpose(1, 2)
        if at.rows is None:
            return self.keys[:count, :, : at.width], self.values[:count, :, : at.width]
        return self.keys[rows, :, : at.width], self.values[rows, :, : at.width]

    def get_seq_length(self) -> int:
        """Return the number of columns before the current tokens."""
        return int(self.place.width - self.place.columns.shape[1])


class Decoder:
    """Generates answers token by token for a changing set of requests.

    Args:
        model: The loaded model.
        shape: (layers, heads, size) of the cache for one token.
        dtype: The data type of the cache.
        sampling: How tokens are sampled.
        ends: The tokens that end an answer.
        max_tokens: The maximum number of tokens per answer.

    Attributes:
        stop: A text that also ends an answer; "" for none.
        text_of: Function that decodes tokens to text.
    """

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
        self._warpers = sampling.make_warpers()
        self._keeps_few = "logits_to_keep" in inspect.signature(_inner(model).forward).parameters

    def add_prompts(self, prompts: Sequence[Prompt]) -> None:
        """Add prompts to the running batch and compute their keys and values.

        The last token of each prompt is left to the next call of `step`. If the computation fails,
        the prompts still belong to the batch until `abort_all` is called.
        """
        first = len(self.rows)
        # An earlier long prompt left a large buffer.
        if not first and self._buffer.nbytes > KEPT_BYTES:
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
        """Generate one token for each request, and return the answers that are now complete."""
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
                scores = add_gumbel_noise(
                    scores, [(one.prompt.seed, len(one.made)) for one in self.rows]
                )
            self._next = scores.argmax(dim=-1)
            self._filled = self._filled + 1
            tokens, broken = self._next.tolist(), wrong.tolist()
            if any(broken):  # Masked values have no effect, unless they are NaN.
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

    def abort_all(self) -> list[Prompt]:
        """Remove all requests from the batch without answers, and return their prompts."""
        prompts = [row.prompt for row in self.rows]
        if prompts:
            self.rows = []
            self._filled, self._next = self._filled[:0], self._next[:0]
            self._drop_buffer()  # A failed step may have left NaN.
        return prompts

    def release(self) -> None:
        """Free the buffer and the stored keys and values. The batch must be empty."""
        self._known = _Known()
        self._drop_buffer()

    def _drop_buffer(self) -> None:
        for layer in self._layers:
            layer.keys = layer.values = None
        self._buffer = self._buffer.new_zeros(
            (*self._buffer.shape[:2], 0, self._buffer.shape[3], 0, self._buffer.shape[5])
        )

    def _answer(self, row: _Row, broken: bool) -> Answer | None:
        """Return the answer of a row, or None while it continues."""
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
        """Remove rows; the last ones move to their places."""
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
        """Run one pass over the unread tokens of these rows' prompts.

        Padding of the shorter ones is written beyond what a row sees, until later tokens overwrite
        it.
        """
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
        """Return logits (rows, tokens or 1, vocabulary)."""
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
    """Keys and values of prompts that were read, in order of their latest use."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, ...], torch.Tensor] = OrderedDict()
        self._sorted: list[tuple[int, ...]] = []
        self._bytes = 0

    def longest(self, body: tuple[int, ...]) -> tuple[int, torch.Tensor]:
        """Return the length of the longest common beginning with a kept prompt, and its cache.

        The cache has the shape (layers, 2, heads, tokens, size).
        """
        at = bisect.bisect_left(self._sorted, body)
        found = max(self._sorted[max(0, at - 1) : at + 1], key=lambda one: _common(one, body), default=())  # fmt: skip
        shared = _common(found, body)
        if not shared:
            return 0, torch.empty(0)
        self._kept.move_to_end(found)
        return shared, self._kept[found]

    def keep(self, body: tuple[int, ...], filled: torch.Tensor) -> None:
        """Keep a copy of a prompt's keys and values, dropping the least recently used ones."""
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
    """Group rows with similar numbers of unread tokens, which are padded together."""
    groups: list[list[tuple[int, int]]] = []
    least = 0
    for row, filled in sorted(unread, key=lambda one: lengths[one[0]] - one[1]):
        left = lengths[row] - filled
        if not groups or left > 2 * least + 16:
            groups.append([])
            least = left
        groups[-1].append((row, filled))
    return groups


def make_decoder(model: Any, sampling: Sampling, max_tokens: int) -> Decoder | None:
    """Return a decoder for a small model, or None if the model is too large or not suitable.

    A model is not suitable if it uses another kind of cache, or if the logits of the decoder differ
    from the logits of a single pass.

    Args:
        model: The loaded model.
        sampling: How tokens are sampled.
        max_tokens: The maximum number of tokens per answer.
    """
    if count_parameters(model) > SMALL or sampling.repetition_penalty is not None:
        return None
    if _turns_by_length(_inner(model).config):
        return None
    try:
        return _tried(model, sampling, max_tokens)
    # The model cannot be called this way; if `generate` fails too, that error is reported.
    except FAULTS:
        return None


def _turns_by_length(config: Any) -> bool:
    """Return whether positions depend on the longest row, so that no beginning can be shared."""
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
        found.add_prompts([Prompt(one, 0) for one in rows])
        got = found._pass(None, found._next[:, None], found._filled[:, None], max(PROBE))[:, -1]
        found.abort_all()
        found.release()
    return found if all(map(_near, expected, got)) else None


def _near(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two rows of logits are equal up to floating-point error."""
    if one.isnan().any():
        return bool(other.isnan().any())  # The weights are broken, which answers will report.
    slack = 0.05 * float(one.float().std())
    return bool(torch.allclose(one.float(), other.float(), rtol=0.05, atol=slack))


def _inner(model: Any) -> Any:
    """Return the model inside its adapter."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def count_parameters(model: Any) -> int:
    """Return the number of parameters of a model."""
    return sum(weight.numel() for weight in model.parameters())
