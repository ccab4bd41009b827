# attack: string.Formatter and %-formatting reach attributes of the harness' objects
# verdict: ok
# values: [[], [], [], []]
import re
import string
import sys

SECRET = re.compile("peirce-secret-[a-z]+-[0-9a-f]{16}")


class Everything(dict):
    def __missing__(self, key):
        return sys.modules.get(key, sys)


def f(x):
    texts = []
    for template in ("{os.environ}", "{__main__.__dict__}", "{sys.argv}", "{trial.__dict__}", "{frames.__dict__}"):
        try:
            texts.append(string.Formatter().vformat(template, (), Everything()))
            texts.append(template.format_map(Everything()))
        except Exception:
            pass
    texts.append("%(os)s %(__main__)r" % Everything())
    return sorted(set(SECRET.findall(" ".join(texts))))
