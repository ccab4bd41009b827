"""Running untrusted Python over a set of inputs, under limits.

A backend is a module of this room that defines `open_backend(workers, strict)`; `process` is the
default everywhere, so that results never depend on what else happens to run on a machine.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from ..records import Sandbox, UsageError
from .inside.canonical import EQUALITY_VERSION, Unrepresentable, code_of, equal

__all__ = [
    "EQUALITY_VERSION",
    "Unrepresentable",
    "backends",
    "check_backend",
    "code_of",
    "equal",
    "open_sandbox",
]

_NOT_BACKENDS = frozenset({"__init__", "cgroups", "cleaning", "engine", "image", "link", "pool",
                           "received", "together"})  # fmt: skip


def backends() -> tuple[str, ...]:
    """Names that `open_sandbox` takes."""
    here = Path(__file__).parent
    return tuple(sorted(p.stem for p in here.glob("*.py") if p.stem not in _NOT_BACKENDS))


def check_backend(backend: str) -> None:
    """Raises UsageError for an unknown backend."""
    known = backends()
    if backend not in known:
        near = get_close_matches(backend, known, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"no sandbox backend {backend!r} (there is {', '.join(known)}){hint}")


async def open_sandbox(
    backend: str = "process", workers: int | None = None, strict: bool = False
) -> Sandbox:
    """A started sandbox; `await sandbox.close()` when done. workers: default one for each core.

    strict: refuse where a wanted layer is missing. Raises UsageError for an unknown backend,
    SandboxUnavailable where it cannot be built.
    """
    check_backend(backend)
    opened: Sandbox = await import_module(f".{backend}", __package__).open_backend(workers, strict)
    return opened
