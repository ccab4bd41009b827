"""`peirce doctor`: report which optional features of Peirce are available on this machine."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...records import PROVIDERS, Json, OracleSettings, PeirceError, SandboxUnavailable
from ..arguments import validate_call
from ..session.event_loops import run_coroutine
from ..session.settings import versions
from .results import Doctor

EXTRAS = {
    "text": ("sklearn", "pypdf"),
    "local": ("torch", "transformers", "peft", "accelerate", "bitsandbytes"),
    "train": ("torch", "transformers", "trl", "peft", "bitsandbytes", "accelerate", "datasets"),
    "serve": ("transformers", "fastapi", "uvicorn"),
    "report": ("matplotlib",),
    "cluster": ("ray",),
    "mcp": ("mcp",),
}
ENDPOINT_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
KEY_VARIABLES = ("PEIRCE_API_KEY", *(key for one in PROVIDERS.values() for key in one.keys))


@validate_call
def doctor(
    *,
    store: str | Path | None = None,
    clean: bool = False,
    cluster: str = "local",
    settings: Sequence[Any] = (),
) -> Doctor:
    """Report versions, sandbox layers, models, extras, GPU and store of this installation.

    The report contains no secrets. For an API key it says only whether the key is set.

    Args:
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
        clean: first remove what the sandboxes of crashed sessions left behind, and report it as
            "cleaned" (sandbox/backends/cleaning.py).
        cluster: ray or ray://HOST to report the nodes of a cluster too, with their resources and the
            sandbox layers that are active there.
        settings: the configuration of the command line without secrets, as a list of {key, value,
            source}.
    """
    return Doctor(
        cleaned=_cleaned() if clean else None,
        versions=versions(),
        platform={
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.release()}",
            "cores": os.cpu_count(),
        },
        sandbox=run_coroutine(_sandboxes()),
        models=_models(),
        settings=list(settings),
        extras={name: _extra(name, modules) for name, modules in EXTRAS.items()},
        gpu=_gpu(),
        store=_store(store),
        cluster=None if cluster == "local" else run_coroutine(_nodes(cluster)),
    )


def _cleaned() -> dict[str, Json]:
    from ...sandbox.backends.cleaning import clean

    return clean()


async def _sandboxes() -> dict[str, Json]:
    """Return for each backend {"here": true, "layers": {name: active}}, or why it is missing."""
    from ...sandbox import backend_names, open_sandbox

    found: dict[str, Json] = {}
    for name in backend_names():
        try:
            opened = await open_sandbox(name, 1)
        except PeirceError as error:
            found[name] = {"here": False, "reason": str(error)}
        else:
            found[name] = {"here": True, "layers": dict(opened.layers())}
            await opened.close()
    return found


async def _nodes(cluster: str) -> list[dict[str, Json]]:
    """Return the nodes of a cluster (`Workers.describe_nodes`) with an open sandbox on each."""
    from ...tools.execute import EXECUTE
    from ...tools.workers import open_workers

    workers = await open_workers(cluster)
    try:
        with suppress(SandboxUnavailable):  # the description of each node says why
            await workers.open_oracle(EXECUTE, OracleSettings(workers=1))
        return workers.describe_nodes()
    finally:
        await workers.close()


def _models() -> dict[str, Json]:
    from ...agents import schemes

    endpoint = next((os.environ[n] for n in ENDPOINT_VARIABLES if os.environ.get(n)), None)
    return {
        "schemes": list(schemes()),
        "endpoint": _without_credentials(endpoint),
        "keys": {name: bool(os.environ.get(name)) for name in KEY_VARIABLES},
    }


def _without_credentials(url: str | None) -> str | None:
    """Return a URL without user, password and query."""
    if url is None:
        return None
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    host = f"{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"
    return f"{parts.scheme}://{host}{parts.path}"


def _extra(name: str, modules: tuple[str, ...]) -> dict[str, Json]:
    missing = [one for one in modules if importlib.util.find_spec(one) is None]
    if not missing:
        return {"here": True}
    return {"here": False, "missing": missing, "install": f"pip install 'peirce[{name}]'"}


def _gpu() -> dict[str, Json]:
    devices = sorted(str(path) for path in Path("/dev").glob("nvidia[0-9]*"))
    return {
        "here": bool(devices),
        "devices": devices,
        "nvidia_smi": bool(shutil.which("nvidia-smi")),
    }


def _store(store: str | Path | None) -> dict[str, Json]:
    from ...store import Store
    from ..outcome import store_path

    path = store_path(store)
    if not path.exists():
        return {"path": str(path), "here": False}
    try:
        opened = Store.open(path, write=False)
    except PeirceError as error:
        return {"path": str(path), "here": True, "readable": False, "reason": str(error)}
    try:
        listed = opened.sessions()
    finally:
        opened.close()
    return {
        "path": str(path),
        "here": True,
        "readable": True,
        "bytes": path.stat().st_size,
        "sessions": len(listed),
    }
