# attack: what tells one machine from another: its name, its user, its folders
# verdict: ok
# values[seccomp]: [[], [], [], []]
import os


def f(x):
    told = []
    if os.uname().nodename == "@HOST@":
        told.append("name of the machine")
    if "@HOME@" in os.getcwd() and len("@HOME@") > 1:
        told.append("home folder")
    if os.getuid() == int("@UID@"):
        told.append("user")
    return sorted(set(told))
