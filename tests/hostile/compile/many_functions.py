# attack: ten thousand functions of the same name
# verdict: ok|too_slow|memory
# values: [3, 1, 0, 2]
# limits: cpu_s=4 wall_s=8 memory_mb=256 input_cpu_s=3
@REPEAT 10000 def f(x): return len(x)~@
