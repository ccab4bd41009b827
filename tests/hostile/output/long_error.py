# attack: an error of the module whose text has a hundred megabytes, or never ends
# verdict: no_function|memory
# limits: memory_mb=256 input_cpu_s=1
class Loud(Exception):
    def __str__(self):
        return "x" * 10**8


raise Loud


def f(x):
    return x
