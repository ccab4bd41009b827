# attack: fifty thousand parentheses
# verdict: syntax
x = @REPEAT 50000 (@1@REPEAT 50000 )@


def f(x):
    return x
