# attack: exceptions with names of a megabyte, with escape codes, with the names of verdicts
# verdict: ok
# values: [{"undefined": "Exception"}, {"undefined": "Exception"}, {"undefined": "Exception"}, {"undefined": "Exception"}]
def f(x):
    name = ["x" * 10**6, "\x1b[2J", "too_slow", "ok"][len(x)]
    raise type(name, (Exception,), {"__module__": "builtins", "__qualname__": name})(name)
