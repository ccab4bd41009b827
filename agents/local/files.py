"""Find the files of a local model, and compute digests of their content.

    hf:BASE            a folder, or an id of the Hugging Face hub (`org/name`)
    hf:BASE+ADAPTER    BASE and ADAPTER are each a folder or an id

If the complete text after `hf:` is the path of a folder, a `+` belongs to the path. Otherwise, the
text is split at the `+` for which the most names on both sides are folders; among equal splits, the
first is taken. An id contains no `+`. If a folder or repository contains a LoRA adapter
(adapter_config.json) but no weights of a model, the adapter is loaded together with the base that
it names. If a folder contains both a model and an adapter, both are loaded.

If an id is in the hub's local cache, the cached files are used without a request. Otherwise, the
files are downloaded, and HF_TOKEN and HF_HUB_OFFLINE have the same meaning as in the hub's library.
Weights must be safetensors files; pickled weights (*.bin) are refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...records import DataError, Digest, UsageError, digest_of

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
CONFIG, ADAPTER_CONFIG = "config.json", "adapter_config.json"
WEIGHTS, ADAPTER_WEIGHTS = "*.safetensors", "adapter_model"
TOKENIZER_FILES = ("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt",
         "*.jinja", "*.model")  # fmt: skip
PATTERNS: dict[str, Any] = {  # The ignored files hold the same weights in another form.
    "allow_patterns": ["*.json", WEIGHTS, *TOKENIZER_FILES], "ignore_patterns": ["*/*", "consolidated*"],
}  # fmt: skip
TRAINED_FOLDERS = ("model", "adapter")  # folders of weights that `peirce train` writes
ORIGIN_FILE = (
    "peirce.json"  # Written next to trained weights: the training, its pairs and its base.
)
ANSWER_FILES = (CONFIG, ADAPTER_CONFIG, "generation_config.json", WEIGHTS, *TOKENIZER_FILES)
TIMEOUT_S = 10.0  # for the request whether a repository exists
WHOLE_BYTES = 32 << 20  # A larger file is only sampled for its digest.
BLOCKS, BLOCK_BYTES = 64, 64 << 10


@dataclass(frozen=True)
class ModelFolder:
    """A folder that contains a model or an adapter.

    Attributes:
        name: The name of the model or adapter for messages and records.
        folder: The path of the folder.
        commit: The commit on the Hugging Face hub; None for a local folder.
    """

    name: str
    folder: Path
    commit: str | None = None

    @property
    def is_adapter(self) -> bool:
        """Return whether this folder contains an adapter but no complete model."""
        return (self.folder / ADAPTER_CONFIG).is_file() and not self.weights

    @property
    def weights(self) -> list[Path]:
        """Return the weight files of a complete model; empty if there are none."""
        found = self.folder.glob(WEIGHTS)
        return [path for path in found if not path.name.startswith(ADAPTER_WEIGHTS)]

    @property
    def has_tokenizer(self) -> bool:
        """Return whether this folder contains a tokenizer."""
        return (self.folder / "tokenizer_config.json").is_file()


def split_spec(spec: str) -> tuple[str, str | None]:
    """Split a model string hf:BASE or hf:BASE+ADAPTER into the base and the adapter.

    The adapter is None if the model string names none.

    Raises:
        UsageError: The model string names no model.
    """
    text = spec.partition(":")[2]
    if not text:
        raise UsageError(
            f"model {spec!r} names no model: write hf:FOLDER, hf:ID or hf:BASE+ADAPTER"
        )
    if "+" not in text or Path(text).expanduser().is_dir():
        return text, None
    cuts = [(text[:at], text[at + 1 :]) for at, sign in enumerate(text) if sign == "+"]

    def likely(cut: tuple[str, str]) -> tuple[int, int]:
        kinds = [_kind(name) for name in cut]
        return min(kinds), sum(kinds)

    return max(cuts, key=likely)


def _kind(name: str) -> int:
    """Return 2 for a folder, 1 for a possible id, 0 for neither."""
    if name and Path(name).expanduser().is_dir():
        return 2
    return 1 if HUB_ID.fullmatch(name) else 0


class NotFetched(UsageError):
    """Raised for an id that is not in the local cache, if downloads are not allowed."""


def check_spec(spec: str) -> None:
    """Raise the errors of `find_model`, without any request to the hub.

    An id that would have to be downloaded raises no error.
    """
    with contextlib.suppress(NotFetched):
        find_model(spec, fetch=False)


def find_model(spec: str, fetch: bool = True) -> tuple[ModelFolder, ModelFolder | None]:
    """Return the folders of the base and the adapter that a model string names.

    The adapter is None if there is none. Both folders are checked for the required files.

    Args:
        spec: The model string.
        fetch: Whether files may be downloaded.

    Raises:
        UsageError: A folder or id does not exist, or a required file is missing.
        DataError: A file cannot be read.
        NotFetched: An id would have to be downloaded, and `fetch` is False.
    """
    base_name, adapter_name = split_spec(spec)
    base = _found(base_name, fetch)
    if adapter_name is not None:
        adapter = _found(adapter_name, fetch)
        if not (adapter.folder / ADAPTER_CONFIG).is_file():
            raise UsageError(
                f"{adapter_name!r} does not contain a LoRA adapter: {ADAPTER_CONFIG} is missing"
            )
    elif base.is_adapter:
        adapter, base = base, _found(_base_of(base), fetch)
    else:
        adapter = None
    if not (base.folder / CONFIG).is_file():
        raise UsageError(f"{base.name!r} does not contain a model: {CONFIG} is missing")
    if not base.weights:
        raise UsageError(f"{base.name!r} does not contain weights: a {WEIGHTS} file is missing")
    if adapter is not None and not any(adapter.folder.glob(f"{ADAPTER_WEIGHTS}*.safetensors")):
        raise UsageError(
            f"{adapter.name!r} does not contain weights: {ADAPTER_WEIGHTS}.safetensors is missing"
        )
    if adapter is not None:
        _check_origin(base, adapter)
    return base, adapter


def read_origin(folder: Path) -> dict[str, Any] | None:
    """Return the record that `peirce train` wrote next to the weights, or None if there is no
    record.
    """
    return read_object(folder / ORIGIN_FILE) if (folder / ORIGIN_FILE).is_file() else None


def weights_digest(folder: Path) -> Digest:
    """Return a digest of a model's weight files alone. The name of the folder does not affect the
    digest.
    """
    return digest_files(folder, (WEIGHTS,))


def _check_origin(base: ModelFolder, adapter: ModelFolder) -> None:
    """Raise UsageError for an adapter of other weights.

    The base is known from what a training wrote next to the adapter, else from the base that the
    adapter names, if that is available here.
    """
    told = (read_origin(adapter.folder) or {}).get("base") or _named_base(base, adapter)
    if isinstance(told, dict) and told.get("weights") != (mine := weights_digest(base.folder)):
        raise UsageError(
            f"The adapter {adapter.name!r} was trained on other weights ({told.get('name')},"
            f" {str(told.get('weights'))[:12]}) than those of {base.name!r} ({mine[:12]})."
        )


def _named_base(base: ModelFolder, adapter: ModelFolder) -> dict[str, Any] | None:
    """Return the base that an adapter's settings name, with its weights' digest.

    It is None where the base is not here or has another precision: an adapter that was trained on
    quantised weights also belongs to the full ones.
    """
    name = read_object(adapter.folder / ADAPTER_CONFIG).get("base_model_name_or_path")
    if not isinstance(name, str) or not name:
        return None
    try:
        named = _found(name, fetch=False)
    except UsageError:
        return None
    if named.folder.resolve() == base.folder.resolve() or not named.weights:
        return None
    forms = [
        [read_object(one.folder / CONFIG).get(key) for key in ("dtype", "torch_dtype", "quantization_config")]
        for one in (named, base) if (one.folder / CONFIG).is_file()
    ]  # fmt: skip
    same = len(forms) == 2 and forms[0] == forms[1]
    return {"name": name, "weights": weights_digest(named.folder)} if same else None


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises:
        DataError: The file cannot be read, or does not contain a JSON object.
    """
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise DataError(f"{path} does not contain a JSON object")
    return value


def _base_of(adapter: ModelFolder) -> str:
    name = read_object(adapter.folder / ADAPTER_CONFIG).get("base_model_name_or_path")
    if not isinstance(name, str) or not name:
        raise UsageError(f"adapter {adapter.name!r} names no base: write hf:BASE+ADAPTER")
    return name


def _name_of(folder: Path) -> str:
    """Return the folder's name, with the training's name before it if a training wrote it."""
    trained = folder.name in TRAINED_FOLDERS and (folder / ORIGIN_FILE).is_file()
    return f"{folder.parent.name}/{folder.name}" if trained else folder.name


def _found(name: str, fetch: bool) -> ModelFolder:
    path = Path(name).expanduser()
    if path.is_dir():
        return ModelFolder(_name_of(path.resolve()) or name, path)
    if path.exists():
        raise UsageError(f"model {name!r} is a file: give the folder that contains it")
    if not HUB_ID.fullmatch(name):
        raise UsageError(f"model folder {name!r} does not exist")
    folder = _cached(name) or _fetched(name, fetch)
    return ModelFolder(name, folder, folder.name)


def _cached(name: str) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, local_files_only=True, **PATTERNS))
    except LocalEntryNotFoundError:  # The same error follows a download that broke off.
        return None
    except HFValidationError:
        raise UsageError(
            f"model {name!r} is neither an existing folder nor an id of the Hugging Face hub"
        ) from None
    index = folder / "model.safetensors.index.json"
    shards = read_object(index).get("weight_map", {}).values() if index.is_file() else ()
    there = any(folder.glob(WEIGHTS)) and all((folder / one).is_file() for one in set(shards))
    return folder if there else None


def _fetched(name: str, fetch: bool) -> Path:
    """Fetch a repository if allowed.

    One short request comes first, because downloads are retried for minutes.
    """
    import httpx2
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, OfflineModeIsEnabled
    from huggingface_hub.errors import RepositoryNotFoundError as NotFound

    said = f"model {name!r} is no folder here, is not in the hub's cache"
    if not (fetch or constants.HF_HUB_OFFLINE):
        raise NotFetched(said)
    try:
        commit = HfApi().model_info(name, timeout=TIMEOUT_S).sha
        return Path(snapshot_download(name, revision=commit, **PATTERNS))
    except OfflineModeIsEnabled:
        raise UsageError(f"{said}, and HF_HUB_OFFLINE is set") from None
    except GatedRepoError:
        raise UsageError(f"{said}, and the hub requires authorization: set HF_TOKEN") from None
    except NotFound:
        raise UsageError(f"{said}, and the hub has no such model (or it is private)") from None
    except (HfHubHTTPError, httpx2.HTTPError, OSError) as error:
        raise UsageError(f"{said}, and cannot be fetched ({type(error).__name__})") from None


# --- Digests of a model's content ---------------------------------------------------------------


def digest_files(folder: Path, patterns: Sequence[str] = ANSWER_FILES) -> Digest:
    """Return a digest of the names, sizes and contents of all files that affect a model's answers.

    Of a file above 32 MiB, only 64 blocks of 64 KiB are read, spread over the file. New weights
    usually differ everywhere, so the digest changes. A change that misses every block is not
    noticed.

    Args:
        folder: The folder of the model.
        patterns: Glob patterns of the files to include.
    """
    files = sorted({path for pattern in patterns for path in folder.glob(pattern)})
    return digest_of([[path.name, path.stat().st_size, _content(path)] for path in files])


def _content(path: Path) -> str:
    size, found = path.stat().st_size, hashlib.sha256()
    with path.open("rb") as file:
        if size <= WHOLE_BYTES:
            found.update(file.read())
        else:
            for block in range(BLOCKS):
                file.seek((size - BLOCK_BYTES) * block // (BLOCKS - 1))
                found.update(file.read(BLOCK_BYTES))
    return found.hexdigest()
