# attack: gives itself a new budget of passes through the closure of the counter
# verdict: ok|too_slow
# limits: input_cpu_s=0.1 cpu_s=4 wall_s=8
def f(x):
    for name, value in list(globals().items()):
        if "tick" in name:
            for cell in value.__closure__ or ():
                if type(cell.cell_contents) is int:
                    cell.cell_contents = 10**15
    while x:
        pass
    return x
