# attack: returns values that contain themselves
# verdict: ok
# values: [{"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}, {"undefined": "unrepresentable"}]
def f(x):
    circle, table = list(x), {}
    circle.append(circle)
    table["self"] = [table]
    return [circle, table]
