# attack: values that look like the tags by which the harness writes what JSON lacks
# verdict: ok
# values: [{"$dict": [["$float", "nan"]]}, {"$dict": [["$set", []]]}, {"$dict": [["$dict", [[1, 2]]]]}, {"$dict": [[{"any": true}, 1]]}]
def f(x):
    return {3: {"$float": "nan"}, 1: {"$set": []}, 0: {"$dict": [[1, 2]]}, 2: {(5, 5): 1}}[len(x)]
