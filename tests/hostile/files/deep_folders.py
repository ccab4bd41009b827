# attack: folders in folders by descriptors, so deep that no path is long enough to name the last
# verdict: ok|crashed
# limits: cpu_s=2 wall_s=6
import os


def f(x):
    at = os.open(".", os.O_RDONLY)
    for n in range(60):
        try:
            os.mkdir("peirce-hostile-" + "d" * 230, dir_fd=at)
            inner = os.open("peirce-hostile-" + "d" * 230, os.O_RDONLY, dir_fd=at)
        except OSError:
            break
        os.close(at)
        at = inner
    try:
        os.close(os.open("peirce-hostile-last", os.O_CREAT | os.O_WRONLY, 0, dir_fd=at))
        os.mkdir("peirce-hostile-shut", 0, dir_fd=at)
    except OSError:
        pass
    return x
