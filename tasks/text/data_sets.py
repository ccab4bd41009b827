"""Find the data sets of labelled text in a folder, and the files of each data set.

In the published layout, a data set is a folder with config.yaml (text/config_files.py),
metadata.json and one file per split. A root folder may contain many data sets at any depth.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from ...records import DataError, UsageError
from ..io.messages import suggest_nearest, warn
from .config_files import CONFIG_FILE, METADATA_FILE, SPLITS, Config, Metadata
from .own_rows import find_split
from .tables import FILE_TYPES, file_type

ALL_OOD = "all"


@dataclass(frozen=True)
class DataSetLocation:
    """The location of a data set on disk.

    Attributes:
        name: The path of the data set relative to the root folder; for the root itself, its name.
        folder: The folder of the data set.
        file: The file with all rows, or None if the rows are in several files of the folder.
    """

    name: str
    folder: Path
    file: Path | None = None


@dataclass(frozen=True)
class DataSet:
    """A data set on disk: its config, its metadata and the paths of its files.

    Attributes:
        name: The name of the data set.
        folder: The folder of the data set.
        config: The contents of config.yaml.
        metadata: The contents of metadata.json.
        files: The files with the rows of each split, in order. The key "" is for rows that are not
            yet split.
    """

    name: str
    folder: Path
    config: Config
    metadata: Metadata
    files: Mapping[str, Sequence[Path]]


def find_data_sets(root: str | Path) -> list[DataSetLocation]:
    """Return the data sets at or below a folder, sorted by name.

    A data set is a folder with config.yaml. Below `root`, a folder with metadata.json and training
    rows is also a data set, such as a Hugging Face folder that `tasks generate` wrote.
    """
    base = Path(root)
    if (base / CONFIG_FILE).is_file():
        return [DataSetLocation(base.resolve().name, base)]
    found = []
    for folder, inner, names in os.walk(base):
        inner[:] = sorted(one for one in inner if not one.startswith("."))
        if CONFIG_FILE in names or (Path(folder) != base and _beside_rows(Path(folder), names)):
            inner.clear()
            found.append(DataSetLocation(Path(folder).relative_to(base).as_posix(), Path(folder)))
    return sorted(found, key=lambda one: one.name)


def _beside_rows(folder: Path, names: Sequence[str]) -> bool:
    return METADATA_FILE in names and any(
        find_split(name.split(".")[0]) == "train" and file_type(folder / name) for name in names
    )


def resolve_published(
    place: DataSetLocation, config: Config, metadata: Metadata, ood: str | None = None
) -> DataSet:
    """Return the data set of a folder whose config.yaml names the files of the splits.

    If a file that the config names is missing, a file with a similar name is used with a warning.

    Args:
        place: The location of the data set.
        config: The contents of its config.yaml.
        metadata: The contents of its metadata.json.
        ood: The out-of-distribution rows to use, as for `choose_ood_files`.

    Raises:
        DataError: A file that the config names is missing, and no file has a similar name.
    """
    if "train" not in config.files:
        raise DataError(f"{config.path}: the key train_data_path is missing")
    files = _named_files(config, place.folder)
    taken = {path for some in files.values() for path in some}
    others = {
        path: name for path, name in find_ood_files(place.folder).items() if path not in taken
    }
    if "ood" in files:
        others = {files["ood"][0]: "", **others}
    chosen = choose_ood_files(place, others, ood, default=files.get("ood"))
    files = {split: files[split] for split in SPLITS if split in files and split != "ood"}
    if chosen:
        files["ood"] = chosen
    return DataSet(place.name, place.folder, config, metadata, files)


def _named_files(config: Config, folder: Path) -> dict[str, Sequence[Path]]:
    named = {split: folder / config.files[split] for split in SPLITS if split in config.files}
    there = {split: path for split, path in named.items() if path.is_file()}
    free = sorted(
        one for one in folder.iterdir()
        if file_type(one) and one.name != METADATA_FILE and one not in there.values()
    )  # fmt: skip
    for split, path in named.items():
        if split in there:
            continue
        near = [
            one for one in free
            if split in one.name.lower() and one not in there.values()
            and difflib.SequenceMatcher(None, one.name, path.name).ratio() > 0.6
        ]  # fmt: skip
        near.sort(key=lambda one: -difflib.SequenceMatcher(None, one.name, path.name).ratio())
        if not near:
            raise DataError(
                f"{config.path}, {split}_data_path: {path.name} does not"
                f" exist{suggest_nearest(path.name, (one.name for one in free))}"
            )
        there[split] = near[0]
        warn(
            f"{config.path}, {split}_data_path: {path.name} does not exist; {near[0].name} is"
            " used instead"
        )
    _warn_of_swaps(config, there)
    return {split: (path,) for split, path in there.items()}


def _warn_of_swaps(config: Config, there: Mapping[str, Path]) -> None:
    """Warn if a split's file has the name of another split, as in some published data."""
    for split, other in (("val", "test"), ("test", "val"), ("train", "test")):
        path = there.get(split)
        words = "" if path is None else path.stem.lower()
        if path is not None and other in words and split not in words:
            warn(
                f"{config.path}: {split}_data_path is {path.name}, although its name suggests"
                f" the rows of {other}; the config is followed"
            )


# --- OOD ------------------------------------------------------------------------------


def find_ood_files(folder: Path) -> dict[Path, str]:
    """Return the files with out-of-distribution (OOD) rows, each with the distinctive part of its
    name.

    OOD files are named `ood_*` or `*_ood*`. For example, if there is also a file
    `ood_hotel_reviews_all.json`, the distinctive part of `ood_hotel_reviews_Chicago.json` is
    `Chicago`.
    """
    found = sorted(one for one in folder.iterdir() if one.is_file() and _is_ood(one))
    stems = [one.name.split(".")[0] for one in found]
    first, last = min(stems, default=""), max(stems, default="")
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    shared = "".join(one for one, _ in alike) if len(stems) > 1 else ""
    shared = shared[: shared.rfind("_") + 1]
    return {
        path: stem.removeprefix(shared).strip("_-") or stem
        for path, stem in zip(found, stems, strict=True)
    }


def _is_ood(path: Path) -> bool:
    stem = path.name.split(".")[0].lower()
    return file_type(path) in FILE_TYPES and (
        stem.startswith("ood") or "_ood" in stem or "-ood" in stem
    )


def choose_ood_files(
    place: DataSetLocation,
    candidates: Mapping[Path, str],
    requested: str | None,
    default: Sequence[Path] | None = None,
) -> Sequence[Path]:
    """Return the files whose out-of-distribution (OOD) rows are used.

    Args:
        place: The data set.
        candidates: The OOD files with the distinctive parts of their names, from `find_ood_files`.
        requested: The option `--ood`: a distinctive part of a name, `all` or `none`; None if the
            option is not used.
        default: The files to use if `requested` is None. If `default` is empty or None, the file
            with the distinctive part `all` is used, or all candidates if there is no such file.

    Raises:
        UsageError: No file has the requested name.
    """
    if requested is None and default:
        return default
    if requested == "none" or not candidates:
        if requested not in (None, "none", ALL_OOD):
            raise UsageError(f"--ood {requested}: {place.name} has no OOD rows with a name")
        return ()
    by_name = {name or path.stem: path for path, name in candidates.items()}
    by_name |= {path.name: path for path in candidates} | {path.stem: path for path in candidates}
    if requested is not None and requested in by_name:
        return (by_name[requested],)
    if requested not in (None, ALL_OOD):
        names = dict.fromkeys(name or path.stem for path, name in candidates.items())
        raise UsageError(
            f"--ood {requested}: {place.name} has no such OOD"
            f" rows{suggest_nearest(requested, [*names, 'none'])}"
        )
    named_all = [path for path, name in candidates.items() if name.lower() == ALL_OOD]
    return tuple(named_all[:1]) or tuple(candidates)
