"""An adapter merged into its base: a folder that any server loads."""

from __future__ import annotations

import shutil
from pathlib import Path

from ...records import DataError, UsageError
from ..bases import Base, check_packages, write_origin


def merge(adapter: Path, base: str | None, out: Path) -> Path:
    """Writes base and adapter as one model to `out`, which must not be there, and returns it. The
    weights keep the precision of the base's files.

    base: a folder or an id of the hub; None takes the one that the adapter names. UsageError for an
    adapter that is not there or was trained on another base, DataError for one that does not fit.
    """
    check_packages()
    if out.exists():
        raise UsageError(f"{str(out)!r} is there already; name a new folder for the merged model.")
    from ...agents.local.files import find, origin, weights_digest

    found, own = find(f"hf:{base}+{adapter}" if base is not None else f"hf:{adapter}")
    if own is None:
        raise UsageError(f"{str(adapter)!r} holds no adapter, but a model of its own.")
    whole = Base(base or found.name, found, weights_digest(found.folder))

    from ..libraries import quiet, writes

    new = out.with_name(f".{out.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    with quiet():
        from ...agents.local.model import load
        from ...agents.local.settings import LocalSettings
        from .models import copy_generation, copy_words

        model = load(
            found, own, LocalSettings(model=whole.name, device="cpu", max_tokens=1), answers=False
        ).model
        try:
            model = model.merge_and_unload(safe_merge=True)
        except ValueError as error:
            raise DataError(f"The adapter {str(adapter)!r} cannot be merged: {error}") from None
        new.parent.mkdir(parents=True, exist_ok=True)
        try:
            with writes(out):
                model.save_pretrained(new, safe_serialization=True)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
    # The adapter's own words, where it brings them, as `hf:BASE+ADAPTER` reads them.
    copy_words(own.folder if own.has_tokenizer else found.folder, new)
    copy_generation(found.folder, new)
    told = origin(adapter)
    if told is not None:
        write_origin(new, whole, str(told.get("training")), str(told.get("pairs")))
    new.rename(out)
    return out
