"""Sandboxes that run untrusted Python code on a set of inputs under limits.

A backend is a function `open_backend(workers, strict)` in the registry (records/registry.py). The
default backend is `process` on every machine, so that results do not depend on other installed
software.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

from difflib import get_close_matches

from ..records import Sandbox, UsageError, registry
from .inside.canonical import EQUALITY_VERSION, Unrepresentable, code_of, equal
from .inside.missing_imports import missing_imports

__all__ = [
    "EQUALITY_VERSION",
    "Unrepresentable",
    "backend_names",
    "check_backend",
    "code_of",
    "equal",
    "missing_imports",
    "open_sandbox",
]


def backend_names() -> tuple[str, ...]:
    """Return the names of sandbox backends that `open_sandbox` accepts."""
    return registry.component_names("sandboxes")


def check_backend(backend: str) -> None:
    """Raise UsageError if there is no sandbox backend with this name."""
    if not registry.is_registered("sandboxes", backend):
        known = backend_names()
        near = get_close_matches(backend, known, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(
            f"there is no sandbox backend {backend!r}; choose one of {', '.join(known)}{hint}"
        )


async def open_sandbox(
    backend: str = "process", workers: int | None = None, strict: bool = False
) -> Sandbox:
    """Start a sandbox. Call `await sandbox.close()` when you no longer need it.

    Args:
        backend: Name of the backend, such as "process" or "docker".
        workers: The number of processes; None for one process per core.
        strict: Whether to raise SandboxUnavailable if an optional isolation layer is not available.

    Raises:
        UsageError: The backend is unknown.
        SandboxUnavailable: The sandbox cannot be started.
    """
    check_backend(backend)
    opened: Sandbox = await registry.load("sandboxes", backend)(workers, strict)
    return opened
