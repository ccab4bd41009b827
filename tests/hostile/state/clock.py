# attack: answers by the clock
# verdict: nondeterministic|ok
import time


def f(x):
    return [time.time_ns(), time.perf_counter_ns(), time.process_time_ns(), time.monotonic_ns()]
