# attack: an integer with more digits than Python reads or writes by default
# verdict: ok
# values: [{"any": true}, {"any": true}, 0, {"any": true}]
def f(x):
    return 10**20_000 if x else 0
