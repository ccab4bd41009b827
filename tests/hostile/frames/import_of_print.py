# attack: __import__ by way of print.__self__, then every module that can start or reach something
# verdict: ok
# values[seccomp]: [[], [], [], []]
def f(x):
    get = print.__self__.__import__
    got = []
    for name in ("socket", "subprocess", "multiprocessing", "asyncio", "urllib.request", "_socket",
                 "_posixsubprocess", "_multiprocessing", "fcntl", "pty", "numpy", "docker"):
        try:
            get(name)
            got.append(name)
        except ImportError:
            pass
    return got
