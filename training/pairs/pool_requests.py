"""Pools of answers and their preference pairs as JSON, so that other processes can build the pairs."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from ...records import Json
from ...tools.workers.arrays import array_from_json, array_to_json
from .preferences import Caps, PairArrays, Pool, preference_pairs

FUNCTION = "training.pairs.pool_requests:build_pool_pairs"


def make_request(pool: Pool, caps: Caps, seed: int) -> Json:
    """Return the request with which `build_pool_pairs` builds the pairs of a pool.

    Args:
        pool: The answers. Only the predictions of consistent answers are sent.
        caps: The limits for contexts and pairs.
        seed: The seed of the draws.
    """
    consistent = np.flatnonzero(pool.consistent)
    return {
        "parsed": array_to_json(pool.parsed),
        "consistent": array_to_json(pool.consistent),
        "codes": array_to_json(pool.codes[consistent]),
        "defined": array_to_json(pool.defined[consistent]),
        "weights": None if pool.weights is None else np.asarray(pool.weights).tolist(),
        "cost": None if pool.cost is None else array_to_json(pool.cost),
        "elements": pool.elements,
        "caps": [list(caps.contexts), list(caps.pairs)],
        "seed": seed,
    }


def build_pool_pairs(request: Json) -> Json:
    """Return the fields of the `PairArrays` of a pool, as arrays in JSON."""
    consistent = array_from_json(request["consistent"])
    rows = array_from_json(request["codes"])
    codes = np.zeros((len(consistent), rows.shape[1]), np.int64)
    defined = np.zeros(codes.shape, np.bool_)
    codes[consistent], defined[consistent] = rows, array_from_json(request["defined"])
    pool = Pool(
        array_from_json(request["parsed"]),
        consistent,
        codes,
        defined,
        request["weights"],
        None if request["cost"] is None else array_from_json(request["cost"]),
        request["elements"],
    )
    contexts, pairs = map(tuple, request["caps"])
    found = preference_pairs(pool, Caps(contexts, pairs), request["seed"])
    return {one.name: array_to_json(getattr(found, one.name)) for one in fields(found)}


def read_pairs(reply: Json) -> PairArrays:
    """Return the pairs of a reply of `build_pool_pairs`."""
    return PairArrays(**{name: array_from_json(value) for name, value in reply.items()})
