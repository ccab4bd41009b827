"""What the person who starts the server decides, and no client can change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...records.errors import UsageError

# Kinds of models that answer on this machine, without a network and without a file.
LOCAL_MODELS = ("search", "cvc5", "gplearn", "pyoperon")
FILE_MODELS = ("recorded", "scripted")  # kinds of models that read answers from a file


@dataclass(frozen=True)
class ServerSettings:
    """The settings of a server.

    Args:
        root: the folder below which every file and folder that a client names must lie.
        store: the store of the sessions, which clients cannot choose.
        models: the model strings that may be called in addition to local ones.
        task_files: whether a client may name task files below the root. Python files among them run
            in the process of the server, without a sandbox.
        sandbox: the sandbox that runs hypotheses, process or docker.
        strict_sandbox: whether to refuse to run hypotheses if a layer of the sandbox is missing.
        workers: number of worker processes of each sandbox; None for one per core.
        budget_tokens: maximum number of tokens that one session or proposal may use, whatever a
            client asks for; None for no limit.
        time_limit_s: maximum time of a tool call that runs no session, in seconds.
    """

    root: Path
    store: Path
    models: tuple[str, ...] = ()
    task_files: bool = False
    sandbox: str = "process"
    strict_sandbox: bool = False
    workers: int | None = None
    budget_tokens: int | None = None
    time_limit_s: float = 600.0

    @staticmethod
    def check_root(root: str | Path) -> Path:
        """Return the absolute path of the root, without symbolic links.

        Raises:
            UsageError: it is no folder.
        """
        place = Path(root).expanduser()
        try:
            found = place.resolve(strict=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise UsageError(f"--root {root}: there is no such folder") from error
        if not found.is_dir():
            raise UsageError(f"--root {root}: this is not a folder")
        return found
