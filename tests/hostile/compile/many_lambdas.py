# attack: functions within functions
# verdict: syntax|crashed
x = @REPEAT 5000 lambda: @1


def f(x):
    return x
