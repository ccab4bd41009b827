# attack: characters that take six bytes each when written as JSON
# verdict: output_too_large|ok
def f(x):
    return "\x00" * 90_000
