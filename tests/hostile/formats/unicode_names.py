# attack: attribute names written in other forms of Unicode, split or joined at run time
# verdict: ok
# values[seccomp]: [[], [], [], []]
def f(x):
    done = []
    kinds = ().__ｃｌａｓｓ__.__𝐛𝐚𝐬𝐞__.__subclasses__()
    kinds += getattr(getattr((), "__cla" + "ss__"), "__ba" "se__").__subclasses__()
    for kind in kinds:
        space = getattr(getattr(kind, "__in" + "it__", None), "__glo" + "bals__", {})
        for name in ("sys" + "tem", "ex" + "ecv", "fo" + "rk"):
            if name == "sys" + "tem" and callable(space.get(name)):
                try:
                    if space[name]("exit 0") == 0:
                        done.append(name)
                except BaseException:
                    pass
    return done
