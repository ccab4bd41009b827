# attack: an integer of ten million bits
# verdict: ok
# values: [{"undefined": "too_large"}, {"undefined": "too_large"}, 0, {"undefined": "too_large"}]
def f(x):
    return 1 << 10**7 if x else 0
