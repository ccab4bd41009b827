# attack: fills its folder and the shared memory with bytes
# verdict: ok|crashed
# limits: cpu_s=2 wall_s=6
import os


def f(x):
    written = 0
    for n in range(200):
        try:
            with open(f"peirce-hostile-{n}", "wb", buffering=0) as file:
                for _ in range(64):
                    written += file.write(bytes(2**20))
        except OSError:
            pass
        try:
            with open(f"/dev/shm/peirce-hostile-{n}", "wb", buffering=0) as file:
                written += file.write(bytes(2**20))
        except OSError:
            pass
    return written < 2**26
