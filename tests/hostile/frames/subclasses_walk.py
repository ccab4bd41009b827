# attack: ().__class__.__mro__ to every subclass of object, to os.system and to Popen
# verdict: ok
# values: [[], [], [], []]
# limits: input_cpu_s=2 cpu_s=8 wall_s=10
# needs: seccomp
def f(x):
    done = []
    for kind in ().__class__.__mro__[-1].__subclasses__():
        try:
            space = kind.__init__.__globals__
        except AttributeError:
            continue
        for name in ("system", "popen"):
            if name in space and callable(space[name]):
                try:
                    if space[name]("touch /tmp/peirce-hostile-marker @OPEN@/peirce-hostile-marker") == 0:
                        done.append(name)
                except BaseException:
                    pass
        if kind.__name__ == "Popen":
            try:
                kind(["touch", "@OPEN@/peirce-hostile-marker"]).wait()
                done.append("Popen")
            except BaseException:
                pass
    return done
