"""`peirce merge-stores`: merge the stores of several drivers into one."""

from __future__ import annotations

from pathlib import Path

from ...records import UsageError
from ...store import Store
from ...tasks.io.files import expand_home
from ..arguments import validate_call
from .results import MergedStore


@validate_call
def merge_stores(out: str | Path, *stores: str | Path) -> list[MergedStore]:
    """Merge stores into one: their sessions, sets of preference pairs and trainings.

    A store that is merged again changes nothing, and the order of stores has no effect. If a merge is
    stopped, repeat it. A session that was interrupted in one store and continued in another is kept
    as it was continued.

    Args:
        out: the store to merge into; it is created if it does not exist.
        stores: the stores to merge; they stay as they are.

    Returns:
        One row for each of `stores`, in order.

    Raises:
        UsageError: no store is named, or `out` is one of them.
        StoreError: a store cannot be read or is being written, or two stores have a session that went
            on differently. The stores before it are merged.
    """
    if not stores:
        raise UsageError("no store is named to merge: write peirce merge-stores OUT STORE…")
    target = expand_home(out)
    for one in stores:
        if expand_home(one).resolve() == target.resolve():
            raise UsageError(f"{one} is both the target and a store to merge: name another target")
    merged = Store.merge(target, [expand_home(one) for one in stores])
    return [
        MergedStore(
            store=str(one),
            sessions=found.copied["session"],
            replaced=found.replaced["session"],
            present=found.present["session"],
            pair_sets=found.copied["pair_set"],
            trainings=found.copied["training"] + found.replaced["training"],
        )
        for one, found in zip(stores, merged, strict=True)
    ]
