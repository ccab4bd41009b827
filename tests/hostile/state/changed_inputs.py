# attack: changes its inputs, to spoil them for the next call and the next hypothesis
# verdict: ok
# values: [[9, 9], [9, 9], [9, 9], [9, 9]]
def f(x):
    x[:] = [9, 9]
    return x
