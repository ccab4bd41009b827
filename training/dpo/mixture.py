"""Draw the preference pairs of a training, with the stage weights of each period.

The pair with number i depends only on the pools of pairs, the seed, the length of a period, and the
weights of the periods up to the period of i. No random generator keeps state between draws.
Therefore a resumed training continues with the same pairs, and only the weights have to be saved.

 - The numbers of draws per stage follow the weights as closely as integers can. If a period has n
   draws and a stage has probability p, the stage gets n p draws, rounded up or down, and n p on
   average (systematic sampling: one random offset, equal steps). The stages come in random order.
   With independent draws, the share of a stage would vary by about 4% at 1,280 draws per period and
   by 20% at 48 draws. That is as much as the curriculum changes the share.
 - Within a stage, pairs are drawn without replacement, in an order shuffled by (seed, stage, pass).
   When all pairs of the pool were drawn, a new pass begins with a new shuffle. Schedules with the
   same seed use the same orders.
 - The released code of GEAR begins every period with full pools. Here a pass continues across
   periods.

A shuffle sorts raw 64-bit words of a Philox generator whose key is a hash. Therefore the orders do
not change with the version of numpy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ...records import Json, UsageError, digest_of
from .curriculum import StageWeights

PairId = TypeVar("PairId", int, str)


class Draw(NamedTuple, Generic[PairId]):
    """One drawn pair: the stage, the id of the pair, and the number of the pass over the stage's
    pool.
    """

    stage: str
    pair: PairId
    epoch: int  # the pass over the pool of its stage, from 0


class PoolUsage(NamedTuple):
    """The number of draws from the pool of one stage, and the number of pairs in this pool."""

    draws: int
    pairs: int  # in the pool


@dataclass(frozen=True)
class Mixture(Generic[PairId]):
    """Draws preference pairs from one pool per stage.

    The order of the ids in a pool has no effect, because pools are sorted.

    Attributes:
        pools: The ids of the pairs of each stage.
        seed: The seed of all shuffles.
        period: The number of draws per period.

    Raises:
        UsageError: A pool is empty, an id occurs twice, the seed is below 0 or the period below 1.
    """

    pools: Mapping[str, Sequence[PairId]]
    seed: int = 0
    period: int = 1280

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise UsageError(f"The seed is {self.seed}; it must be a whole number of at least 0.")
        if self.period < 1:
            raise UsageError(
                f"A period has {self.period} examples; it must be a whole number above 0."
            )
        if not self.pools:
            raise UsageError("There are no pairs to draw from.")
        for stage, pool in self.pools.items():
            if not len(pool):
                raise UsageError(f"The stage {stage} has no pairs; leave it out of the mixture.")
        seen: set[PairId] = set()
        for pair in (pair for pool in self.pools.values() for pair in pool):
            if pair in seen:
                raise UsageError(f"The pair {pair!r} occurs twice in the pools; it has one stage.")
            seen.add(pair)
        pools = {stage: tuple(sorted(self.pools[stage])) for stage in sorted(self.pools)}
        object.__setattr__(self, "pools", pools)

    def draws(self, history: Sequence[StageWeights], start: int, stop: int) -> list[Draw[PairId]]:
        """Return the draws with the numbers `start` to `stop` - 1.

        Args:
            history: The weights of each period. Weights of periods after the last draw are ignored.
            start: The number of the first draw, counted from 0 over the training.
            stop: The number after the last draw.

        Raises:
            ValueError: A period has no weights yet, or a stage with a weight has no pairs.
        """
        names, pools = list(self.pools), list(self.pools.values())
        stages = self._stages(history, stop)
        places = np.empty(stop, np.int64)
        for code in range(len(names)):
            of_stage = stages == code
            places[of_stage] = np.arange(np.count_nonzero(of_stage))
        orders: dict[tuple[int, int], npt.NDArray[np.int64]] = {}
        drawn = []
        for code, place in zip(stages[start:].tolist(), places[start:].tolist(), strict=True):
            turn, at = divmod(place, len(pools[code]))
            if (code, turn) not in orders:
                orders[code, turn] = self._order(len(pools[code]), f"pool/{names[code]}/{turn}")
            drawn.append(Draw(names[code], pools[code][orders[code, turn][at]], turn))
        return drawn

    def usage(self, history: Sequence[StageWeights], drawn: int) -> dict[str, PoolUsage]:
        """Return, for each stage, how many of the first `drawn` draws used its pool, and the pool's
        size.

        Args:
            history: The weights of each period.
            drawn: The number of draws to count, from the beginning of the training.

        Raises:
            ValueError: A period has no weights yet, or a stage with a weight has no pairs.
        """
        counts = np.bincount(self._stages(history, drawn), minlength=len(self.pools))
        pools = self.pools.items()
        return {s: PoolUsage(int(n), len(pool)) for n, (s, pool) in zip(counts, pools, strict=True)}

    def state_dict(self) -> Json:
        """Return the seed, the period and a digest of the pools, to be saved in a checkpoint.

        A resumed training draws the same pairs only if these values and the weights are the same.
        """
        digest = digest_of(
            {stage: [str(pair) for pair in pool] for stage, pool in self.pools.items()}
        )
        return {"seed": self.seed, "period": self.period, "pools": digest}

    def check_state_dict(self, state: Json) -> None:
        """Raise UsageError if a saved state has other pairs, another seed or another period."""
        for key, value in self.state_dict().items():
            saved = state.get(key) if isinstance(state, dict) else None
            if saved != value:
                raise UsageError(
                    f"The checkpoint drew its pairs with {key} {saved}, not {value}. Resume with"
                    " the same value, or start a new training."
                )

    def _stages(self, history: Sequence[StageWeights], count: int) -> npt.NDArray[np.int64]:
        """Return the stages of the first `count` draws as positions in `pools`, shape (count,)."""
        periods = -(-count // self.period)
        if periods > len(history):
            raise ValueError(
                f"draw {count - 1} lies in period {periods - 1}; the weights of {len(history)} "
                "periods are known"
            )
        codes = np.empty(periods * self.period, np.int64)
        for number in range(periods):
            codes[number * self.period :][: self.period] = self._period(number, history[number])
        return codes[:count]

    def _period(self, number: int, weights: StageWeights) -> npt.NDArray[np.int64]:
        """Return the stages of one complete period as positions in `pools`, shape (period,)."""
        strange = [stage for stage, weight in weights.items() if weight and stage not in self.pools]
        if strange:
            raise ValueError(f"no pairs of {strange[0]}; there are {', '.join(self.pools)}")
        shares = np.array([weights.get(stage, 0.0) for stage in self.pools])
        # Stages of weight 0 are removed, so that rounding of the sums below cannot choose one.
        codes = np.flatnonzero(shares)
        if not codes.size or not np.isfinite(shares).all() or (shares < 0).any():
            raise ValueError(f"weights {dict(weights)} of period {number} cannot be drawn by")
        edges = np.cumsum(shares[codes] / shares.sum())[:-1]
        offset = int(self._words(1, f"offset/{number}")[0]) / 2**64
        points = (np.arange(self.period) + offset) / self.period
        drawn = codes[np.searchsorted(edges, points, side="right")]
        return drawn[self._order(self.period, f"period/{number}")]

    def _order(self, size: int, purpose: str) -> npt.NDArray[np.int64]:
        return np.argsort(self._words(size, purpose), kind="stable")

    def _words(self, count: int, purpose: str) -> npt.NDArray[np.uint64]:
        key = hashlib.blake2b(f"{self.seed}/{purpose}".encode(), digest_size=16).digest()
        words: npt.NDArray[np.uint64] = np.random.Philox(
            key=int.from_bytes(key, "little")
        ).random_raw(count)
        return words
