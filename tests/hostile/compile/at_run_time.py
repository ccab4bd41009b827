# attack: compiles bombs at run time
# verdict: ok|crashed|too_slow|memory
# limits: input_cpu_s=1 cpu_s=3 wall_s=8 memory_mb=256
def f(x):
    text = ["-" * 10**6 + "1", "(" * 10**6, "+1" * 10**5, "lambda:" * 10**4 + "1"][len(x)]
    try:
        return len(compile(text, "bomb", "eval").co_code)
    except (SyntaxError, MemoryError, RecursionError, ValueError):
        return "refused"
