# attack: from a traceback down to the harness' first frame, for answers, inputs and sources of others
# verdict: ok
# values: [[], [], [], []]
# limits: input_cpu_s=2 cpu_s=8 wall_s=10
import re

SECRET = re.compile("peirce-secret-[a-z]+-[0-9a-f]{16}")


def f(x):
    try:
        raise ValueError
    except ValueError as error:
        frame = error.__traceback__.tb_frame
    found = set()
    while frame is not None:
        for space in (frame.f_locals, frame.f_globals):
            for value in list(space.values()):
                found.update(SECRET.findall(repr(value)))
                found.update(SECRET.findall(repr(getattr(value, "__dict__", ""))))
        frame = frame.f_back
    return sorted(found)
