# attack: text and bytes that are a pickle, a marshalled code, YAML and JSON with traps
# verdict: ok
# values: ["{\"__reduce__\": \"os.system\"}", "cos\nsystem\n(S': > /tmp/peirce-hostile-marker'\ntR.", {"undefined": "unrepresentable"}, "!!python/object/apply:os.system [exit]"]
def f(x):
    if len(x) == 1:
        return "cos\nsystem\n(S': > /tmp/peirce-hostile-marker'\ntR."
    if len(x) == 3:
        return '{"__reduce__": "os.system"}'
    return b"cos\nsystem\n(S'exit'\ntR." if not x else "!!python/object/apply:os.system [exit]"
