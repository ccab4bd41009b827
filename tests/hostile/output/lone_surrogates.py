# attack: strings that are no Unicode text as values and as keys
# verdict: ok
# values: [["\ud800", {"\udfff": "\u0000"}], ["\ud800", {"\udfff": "\u0000"}], ["\ud800", {"\udfff": "\u0000"}], ["\ud800", {"\udfff": "\u0000"}]]
def f(x):
    return ["\ud800", {"\udfff": "\x00"}]
