# attack: out of its root: chroot, chdir of descriptors, mounts, new namespaces
# verdict: ok
# values[seccomp]: [[], [], [], []]
import os


def f(x):
    done = []
    for name, action in (
        ("chroot", lambda: os.chroot("..")),
        ("up", lambda: (os.chdir("../../../../.."), os.stat("etc/passwd"))),
        ("fchdir", lambda: os.fchdir(0)),
        ("namespace", lambda: os.unshare(0x10000000)),
        ("mount namespace of the first", lambda: os.setns(os.open("/proc/1/ns/mnt", 0), 0)),
        ("root of the parent", lambda: os.listdir("/proc/@PID@/root")),
        ("user", lambda: os.setuid(0) or os.getuid() == 0 or 1 / 0),
        ("groups", lambda: os.setgroups([0])),
    ):
        try:
            action()
            done.append(name)
        except (OSError, AttributeError, ZeroDivisionError):
            pass
    return done
