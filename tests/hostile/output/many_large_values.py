# attack: values just under the limit that are too much together
# verdict: output_too_large
def f(x):
    return "x" * 90_000
