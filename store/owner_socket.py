"""The Unix socket beside a store: create it, connect to it, and remove it.

The socket of `peirce.duckdb` is `peirce.duckdb.sock`, with mode 0600. Anything may be at this path,
so only sockets and links that an owner of this user made are followed or removed.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
import tempfile
from pathlib import Path

from ..records import StoreError

FOLDER, SOCKET = "peirce-", "socket"  # beginning of a private folder's name; the socket in it
MAX_ADDRESS_BYTES = 100  # AF_UNIX allows 104 to 108, depending on the system


def socket_path(store: Path) -> Path:
    """Return the path of the socket through which other processes read a store."""
    return store.with_name(store.name + ".sock")


def listen(place: Path) -> socket.socket:
    """Return a listening socket at `place`, and remove the socket of a dead owner first.

    The caller holds the store's file, so no other owner can be alive. Where the path is longer than
    a socket address may be, the socket is created in a private folder of the temporary directory,
    and `place` is a symbolic link to it.
    """
    check_socket_path(place)
    if _answers(place):  # not an owner of this file, which this process holds
        raise StoreError(
            f"another program is listening at {place}; choose another store with --store"
        )
    _remove(place)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    address = place
    try:
        if len(os.fsencode(place)) > MAX_ADDRESS_BYTES:
            address = Path(tempfile.mkdtemp(prefix=FOLDER)) / SOCKET
            os.symlink(address, place)
        listener.bind(str(address))
        os.chmod(address, 0o600)  # before listen(), so nobody can have connected
        listener.listen(16)
    except OSError as error:
        listener.close()
        if address != place:
            _remove_private(address)
        _remove(place)
        raise StoreError(
            f"no socket can be created next to the store at {place}: {error}"
        ) from error
    return listener


def check_socket_path(path: Path) -> None:
    """Raise StoreError if `path` exists and is not a socket left by the owner of a store."""
    if os.path.lexists(path) and _address_at(path) is None:
        raise StoreError(
            f"{path} is not a socket of Peirce, but a run needs this path: move the file, or"
            " choose another store with --store"
        )


def _address_at(place: Path) -> str | None:
    """Return the path of the socket at `place`, or None if no owner of this user made it.

    `place` is a socket of this user, or a link of this user to a path as `listen` makes them.
    """
    try:
        found = place.lstat()
        if os.geteuid() not in (0, found.st_uid):
            return None
        if stat.S_ISSOCK(found.st_mode):
            return str(place)
        target = Path(os.readlink(place))
    except OSError:
        return None
    made = target.name == SOCKET and target.parent.name.startswith(FOLDER)
    return str(target) if made else None


def connect(place: Path, link: socket.socket) -> bool:
    """Connect to the socket at `place`; return whether an owner of this user accepts it."""
    address = _address_at(place)
    if address is None:
        return False
    try:
        link.connect(address)
    except OSError:
        return False
    return True


def _user(link: socket.socket) -> int | None:
    """Return the user whose process listens at the other end, or None if the system cannot say."""
    if hasattr(socket, "SO_PEERCRED"):
        data = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", data)[1])
    if hasattr(socket, "LOCAL_PEERCRED"):  # macOS: a struct xucred, which begins with version, user
        data = link.getsockopt(0, socket.LOCAL_PEERCRED, 76)
        return int(struct.unpack_from("2I", data)[1])
    return None


def is_trusted(link: socket.socket, store: Path) -> bool:
    """Return whether this user, or the user of the store's file, listens at the other end."""
    try:
        user = _user(link)
        return user in (None, os.geteuid()) or user == store.stat().st_uid
    except OSError:  # the other end has gone, or there is no file
        return False


def _answers(place: Path) -> bool:
    """Return whether a process accepts connections at `place`."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        return connect(place, link)


def file_identity(place: Path) -> tuple[int, int] | None:
    """Return device and inode of what is at `place`, or None if nothing is."""
    try:
        found = place.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def remove_socket(place: Path, address: Path, created: tuple[int, int] | None) -> None:
    """Remove the socket that `listen` created for `place`, and nothing else.

    Args:
        place: The path of the socket or of the link to it.
        address: The address of the socket.
        created: What `file_identity` returned for the address. If something else is there, `place` belongs
            to the owner of a store that took the place.
    """
    if _address_at(place) == str(address) and file_identity(address) == created:
        _remove(place)
    elif address != place:
        _remove_private(address)


def _remove(place: Path) -> None:
    """Remove a socket that an owner of this user left, and nothing else."""
    address = _address_at(place)
    with contextlib.suppress(OSError):  # root may connect to what others made, but leaves it there
        if place.lstat().st_uid != os.geteuid():
            return
    if address is None:
        return
    if address != str(place):
        _remove_private(Path(address))
    with contextlib.suppress(OSError):
        place.unlink()


def _remove_private(address: Path) -> None:
    """Remove a socket from its private folder, and the folder if nothing else is in it.

    The text of a link may name any folder. Only a folder as `listen` makes them is touched: in the
    temporary directory, owned by this user, with mode 0700.
    """
    folder = address.parent
    if folder.parent != Path(os.path.abspath(tempfile.gettempdir())):
        return
    with contextlib.suppress(OSError):
        found = folder.lstat()
        private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700
        if not private or found.st_uid != os.geteuid():
            return
        if stat.S_ISSOCK(address.lstat().st_mode):
            address.unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()
