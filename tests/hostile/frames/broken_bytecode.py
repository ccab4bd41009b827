# attack: a function whose code was replaced by bytes that are no code
# verdict: crashed|ok|too_slow|memory
# limits: input_cpu_s=0.1 cpu_s=1 wall_s=3
def f(x):
    def g():
        return x

    code = g.__code__
    for raw in (b"\x64\xff" * 50, b"\x53\x00", b"\x01\x00" * 40 + b"\x53\x00", bytes(range(256)) * 4, b"\x7c\xff" * 9):
        g.__code__ = code.replace(co_code=raw, co_consts=(), co_stacksize=0)
        g()
    return x
