# attack: junk on every descriptor that takes it
# verdict: protocol|crashed
import os


def f(x):
    for number in range(1024):
        try:
            os.write(number, b"\x00\xffjunk" * 1000)
        except OSError:
            pass
    os._exit(0)
