"""The command `peirce doctor --clean`: remove what crashed sessions left behind.

The command removes containers whose session has ended, outdated Docker images of Peirce, and empty
control groups of ended sessions. It keeps everything that a running session uses, and everything
whose session cannot be checked from this machine.
"""

from __future__ import annotations

from typing import Any

from ...records import Json, SandboxUnavailable
from .engine import MARK, OWNER, as_sandbox_error, connect, owner_is_gone
from .image import image_tags
from .process import find_leftovers


def clean() -> dict[str, Json]:
    """Remove containers, images and control groups that crashed sandboxes left behind.

    Returns:
        {"containers": [name], "images": [tag or id], "control_groups": [path], "kept": [text]}. The
        first three lists name what was removed. Each text in "kept" names something that was not
        removed, with the reason. If no Docker engine can be reached, the key "docker" holds the
        reason.
    """
    done: dict[str, Json] = {"containers": [], "images": [], "control_groups": [], "kept": []}
    clean_control_groups(done)
    try:
        engine = connect()
        try:
            clean_containers(engine, done)
            clean_images(engine, done)
        finally:
            engine.close()
    except SandboxUnavailable as error:
        done["docker"] = str(error)
    return done


def clean_control_groups(done: dict[str, Json]) -> None:
    """Remove control groups whose session has ended, and record them in `done`.

    `done` has the form that `clean` returns.
    """
    for folder in find_leftovers():
        try:
            folder.rmdir()
        # The group is not ours, or holds processes that cannot be seen from here.
        except OSError as error:
            done["kept"].append(f"control group {folder}: {error.strerror}")
        else:
            done["control_groups"].append(str(folder))


def clean_containers(engine: Any, done: dict[str, Json]) -> None:
    """Remove containers whose session has ended, and record them in `done`.

    `engine` is a client of the Docker engine. `done` has the form that `clean` returns.

    Raises:
        SandboxUnavailable: The engine refuses a request or cannot be reached.
    """
    from docker.errors import APIError

    with as_sandbox_error("list containers"):
        found = engine.containers(all=True, filters={"label": f"{MARK}=1"})
    for one in found:
        name = one["Names"][0].lstrip("/") if one["Names"] else one["Id"]
        if not owner_is_gone(one["Labels"].get(OWNER, "")):
            done["kept"].append(f"container {name}: its session lives, or cannot be seen from here")
            continue
        with as_sandbox_error("remove a container"):
            try:
                engine.remove_container(one["Id"], force=True)
            except APIError as error:
                if error.status_code not in (404, 409):  # The engine is already removing it.
                    raise
        done["containers"].append(name)


def clean_images(engine: Any, done: dict[str, Json]) -> None:
    """Remove outdated Docker images of Peirce, and record them in `done`.

    `engine` is a client of the Docker engine. `done` has the form that `clean` returns.

    Raises:
        SandboxUnavailable: The engine refuses a request or cannot be reached.
    """
    from docker.errors import APIError

    present = image_tags()
    with as_sandbox_error("list images"):
        found = engine.images(filters={"label": f"{MARK}=1"})
    for one in found:
        named = [tag for tag in one["RepoTags"] or [] if tag != "<none>:<none>"]
        for name in named or [one["Id"]]:
            if name in present:
                continue
            with as_sandbox_error("remove an image"):
                try:
                    engine.remove_image(name)
                except APIError as error:
                    if error.status_code != 409:
                        raise
                    done["kept"].append(f"image {name}: in use")
                else:
                    done["images"].append(name)
