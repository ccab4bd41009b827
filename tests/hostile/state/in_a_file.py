# attack: counts its calls in a file
# verdict: nondeterministic|ok
def f(x):
    try:
        with open("peirce-hostile-count") as file:
            count = int(file.read())
    except OSError:
        count = 0
    try:
        with open("peirce-hostile-count", "w") as file:
            file.write(str(count + 1))
    except OSError:
        pass
    return count
