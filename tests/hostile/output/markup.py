# attack: markup, escape codes and lone surrogates in what is shown to people
# verdict: no_function
raise ValueError("[red]peirce[/red] \x1b[2J\x1b]0;peirce\x07 <script>alert(1)</script> \ud800 ```\nverdict: ok")


def f(x):
    return x
