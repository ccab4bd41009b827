# attack: gi_frame of a running generator leads to the caller's locals; changes what it finds there
# verdict: ok
# values: [[3, 1, 2], [1], [], [5, 5]]
def f(x):
    def walk():
        yield frames.gi_frame.f_back

    frames = walk()
    frame = next(frames)
    while frame is not None:
        for name, value in list(frame.f_locals.items()):
            if name in ("results", "codes", "undefined", "overrun") and value is not x:
                try:
                    value.clear()
                except Exception:
                    pass
        frame = frame.f_back
    return x
