# attack: learns the answers by the order of the calls
# verdict: ok|nondeterministic
# values: [1, 1, 1, 1]
calls = []


def f(x):
    calls.append(x)
    return len(calls)
