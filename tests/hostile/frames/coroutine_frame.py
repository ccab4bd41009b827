# attack: cr_frame of a coroutine that is driven by hand leads to the harness' globals
# verdict: ok
# values: [[], [], [], []]
# limits: input_cpu_s=2 cpu_s=8 wall_s=10
import re

SECRET = re.compile("peirce-secret-[a-z]+-[0-9a-f]{16}")


class Now:
    def __await__(self):
        yield work.cr_frame.f_back


async def wait():
    await Now()


def f(x):
    global work
    work = wait()
    frame = work.send(None) or work.cr_frame
    found = set()
    while frame is not None:
        found.update(SECRET.findall(repr(frame.f_globals)))
        found.update(SECRET.findall(repr(frame.f_locals)))
        frame = frame.f_back
    work.close()
    return sorted(found)
