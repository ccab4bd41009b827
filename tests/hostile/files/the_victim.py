# attack: changes, moves and removes a file that everybody may write to
# verdict: ok
# values[landlock]: [[], [], [], []]
import os


def f(x):
    path, done = "@VICTIM@", []
    for name, action in (
        ("write", lambda: open(path, "a").write("x")),
        ("truncate", lambda: os.truncate(path, 0)),
        ("replace", lambda: os.rename(path, path + "peirce-hostile")),
        ("link", lambda: os.link(path, path + "peirce-hostile")),
        ("symlink", lambda: os.symlink(path, "@OPEN@/peirce-hostile")),
        ("mode", lambda: os.chmod(path, 0)),
        ("owner", lambda: os.chown(path, 65534, 65534)),
        ("times", lambda: os.utime(path, (0, 0))),
        ("attribute", lambda: os.setxattr(path, "user.peirce", b"1")),
        ("remove", lambda: os.unlink(path)),
    ):
        try:
            action()
            done.append(name)
        except (OSError, AttributeError):
            pass
    return done
