"""Hostile text in every place that a text can stand in: nothing runs, nothing is lost, the page works."""

from __future__ import annotations

import page_runs
import peirce
import pytest
from hostile_texts import HOSTILE, SCRIPTS, shown
from page_sessions import judged, steps, write
from peirce.records import InputSet, Observation, Problem, Verdict
from peirce.tasks import load_problems
from peirce.tests.page_blocks import BLOCK, read_blocks

LONG = "x" * 1_000_000
DEEP = 300


def nested(levels):
    value = "the innermost"
    for _ in range(levels):
        value = [value]
    return value


def programs():
    """A problem a text: it is the id, and stands wherever a model or a file could put it."""
    made, calls, ends = [], [], {}
    for number, text in enumerate(HOSTILE):
        pairs = (
            Observation(text, text),
            Observation({text: text, "b": [text]}, [text, 1]),
            Observation([[text]], None),
        )
        problem = Problem(f"{number} {text}", "examples", "programs", pairs, pairs[:1],
                          public={"about": text, text: {text: [text]}}, secret={"rule": text, text: text + "\n" + text})  # fmt: skip
        one = judged(
            problem,
            f"def f(x):\n    return {text!r}  # {text}",
            text,
            value=text,
            meta={"entry": "f", text: text},
        )
        two = judged(
            problem,
            text,
            f"again {text}",
            verdict=Verdict.REDUNDANT,
            codes=(9, 2, 3, 4, 5, 6),
            value={text: text},
        )
        three = judged(problem, "", verdict=Verdict.MALFORMED, reason=text)
        made.append((problem, steps(problem, (f"I say {text}", one), (text, two), (text, three))))
        calls.append((problem.id, "step/1/propose/0/tool/0", {"arguments": text}, {"result": text}))
        if number % 5 == 0:
            ends[problem.id] = ("failed", f"it failed: {text}")
    return made, calls, ends


def texts():
    labels = [shown(text) for text in SCRIPTS[:2]]
    rows = tuple(
        Observation({text: text, "text": text}, labels[n % 2]) for n, text in enumerate(SCRIPTS)
    )
    public = {
        "labels": labels,
        "label_name": SCRIPTS[0],
        "columns": {SCRIPTS[1]: {"about": SCRIPTS[2], "kind": "text"}},
        "shape": "text",
    }
    problem = Problem(
        "texts#0", "labels", "text", rows, rows[:3], public=public, secret={"splits": {}}
    )
    return [(problem, steps(problem, *((text, judged(problem, text, text)) for text in SCRIPTS)))]


def worlds(folder):
    names = HOSTILE[:12]
    world = {"id": SCRIPTS[3], "domain": names, "true": {SCRIPTS[0]: [[one] for one in names], SCRIPTS[4]: [[one, names[0]] for one in names]},
             "unknown": {SCRIPTS[5]: [[names[1], names[2]]], "Q": [["not in the domain", names[0]]]}}  # fmt: skip
    ((plain, _),) = load_problems("abd", str(page_runs.worlds_file(folder, [page_runs.WORLDS])))
    public = {**plain.public, "about": SCRIPTS[6]}
    problem = Problem(
        "w", "abd", "logic", (Observation(world, None),), (), public=public, secret=plain.secret
    )
    space = InputSet("w", tuple([world, name] for name in names[:6]))
    both = [judged(problem, rule, SCRIPTS[n], codes=codes)
            for n, (rule, codes) in enumerate({"(P x)": (0, 1, 2, 0, 1, 2), "(exists y (R x y))": (1, 1, 2, 0, 1, 2)}.items())]  # fmt: skip
    return [(problem, steps(problem, *((one.hypothesis.description, one) for one in both)))], space


def large():
    """A line of a megabyte wherever one can stand, and values nested deeply."""
    pairs = (
        Observation(LONG, list(range(20_000))),
        Observation(nested(DEEP), {"deep": nested(DEEP)}),
        Observation([[1] * 400] * 3, LONG),
    )
    problem = Problem(
        "large " + "y" * 5_000,
        "examples",
        "programs",
        pairs,
        (),
        public={"about": LONG, "deep": nested(DEEP)},
        secret={"rule": LONG},
    )
    hypothesis = judged(problem, LONG, LONG, value=None)
    return [
        (
            problem,
            steps(
                problem,
                (LONG, hypothesis),
                *((f"{n}", judged(problem, f"{n}", f"number {n}")) for n in range(120)),
            ),
        )
    ]


SETTINGS = {
    "task": SCRIPTS[0], "method": SCRIPTS[1], "model": SCRIPTS[2], "answer_format": SCRIPTS[5], "template": SCRIPTS[6],
    "operational": {"observations": 2, "data": {"name": SCRIPTS[3], "sha256": SCRIPTS[4]}, "sandbox": SCRIPTS[7], "model_name": SCRIPTS[8]},
}  # fmt: skip


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    store = folder / f"{'<img src=x onerror=alert(1)>'.replace('/', '')}.duckdb"
    some, calls, ends = programs()
    logic, space = worlds(folder)
    sessions = {
        "programs": write(
            store,
            some,
            settings=SETTINGS,
            calls=calls,
            ends=ends,
            status="failed",
            cause=SCRIPTS[1],
        ),
        "texts": write(store, texts(), settings={"method": "abduce", "text": {"tau": 0.7}}),
        "worlds": write(store, logic, space=space),
        "large": write(store, large()),
    }
    file = folder / "</script><b>&'#.html".replace("/", "")
    peirce.report(*sessions.values(), store=store, out=file)
    return file, sessions, {"programs": some, "texts": texts(), "worlds": logic, "large": large()}


@pytest.fixture
def page(tab, hostile):
    return tab().goto(hostile[0])


@pytest.fixture
def shared_page(shared_tab, hostile):
    """For tests that open problems and look at them alone."""
    return shared_tab(hostile[0])


def unharmed(page, file):
    assert page.page.evaluate("() => window.hit ?? null") is None
    assert (page.dialogs, page.said, page.requests) == ([], [], [file.as_uri()])
    assert page.page.url.split("#")[0] == file.as_uri()
    assert (
        page.page.evaluate("() => [...document.querySelectorAll('script:not([type])')].length") == 1
    )
    assert page.count("iframe, form[action], base, object, embed, link:not([rel=icon]), img") == 0
    handlers = "one => [...one.attributes].filter((at) => at.name.startsWith('on') || at.name === 'style' || at.value.startsWith('javascript:')).map((at) => at.name)"
    assert not any(page.all("body *", handlers))
    assert page.page.is_visible("h1")


def test_the_data_are_those_of_the_store(hostile):
    file, sessions, made = hostile
    text = file.read_text("utf-8")
    blocks = len(BLOCK.findall(text))
    assert text.count("<script") == 2 + blocks and text.count("<style") == 1
    found = list(read_blocks(text).values())
    expected = [(sessions[name], problem) for name in made for problem, _ in made[name]]
    assert [(one["session"], one["id"]) for one in found] == [
        (session, problem.id) for session, problem in expected
    ]
    for one, (_, problem) in zip(found, expected, strict=True):
        assert one["problem"]["shown"] == [[pair.input, pair.output] for pair in problem.shown]
        assert one["problem"]["public"] == dict(problem.public)


def test_nothing_runs_in_the_list_or_the_overview(page, hostile):
    page.unfold()
    page.page.hover("#problems tbody tr:first-child")
    unharmed(page, hostile[0])
    listed = page.listed()
    assert listed == [shown(problem.id) for some in hostile[2].values() for problem, _ in some]
    text = page.page.evaluate("() => document.body.textContent")
    for said in (*SCRIPTS[:9], *(f"it failed: {shown(one)}" for one in HOSTILE[::5])):
        assert said in text


def test_nothing_of_a_problem_runs_and_nothing_is_lost(shared_page, hostile):
    page = shared_page
    file, _, made = hostile
    rows = "document.querySelectorAll('#problems tbody a')"
    for number, (problem, _records) in enumerate(made["programs"]):
        text = shown(HOSTILE[number])
        page.page.evaluate(f"number => {rows}[number].click()", number)
        page.page.wait_for_function(
            "name => document.querySelector('.problem h3')?.textContent === name",
            arg=shown(problem.id),
        )
        page.unfold(".problem")
        drawn = page.page.evaluate("() => document.querySelector('.problem').textContent")
        assert drawn.count(text) >= 20, text
        assert (
            page.count(".problem .observations > li") + page.count(".problem .records tbody tr")
            == 4
        )
        verdicts = [page.page.text_content(f"#h{number} .verdict") for number in (1, 2, 3)]
        assert verdicts == ["accepted", "redundant", "malformed"]
        assert page.page.text_content("#h1 .title") == text
    unharmed(page, file)


def test_texts_and_worlds_are_drawn_as_they_are(shared_page, hostile):
    page = shared_page
    file, sessions, _made = hostile
    page.open(sessions["texts"], "texts#0")
    page.unfold(".problem")
    drawn = page.page.evaluate("() => document.querySelector('.problem').textContent")
    assert all(drawn.count(text) >= 4 for text in SCRIPTS)
    page.open(sessions["worlds"], "w")
    page.unfold(".problem")
    names = page.all(
        ".problem .observations .element text",
        "one => [...one.querySelectorAll('tspan:not(.own)')].map((line) => line.textContent).join('')",
    )
    assert names == [shown(name) for name in HOSTILE[:12]]
    assert page.count(".problem .observations .arrow") == 13
    assert page.count(".problem .parting svg.world") >= 1
    unharmed(page, file)


def test_what_is_large_or_deep_is_shown_and_can_be_left_again(shared_page, hostile):
    page = shared_page
    file, sessions, made = hostile
    ((problem, _),) = made["large"]
    page.open(sessions["large"], problem.id)
    page.unfold(".problem")
    assert page.count(".problem .observations > li") == 3
    drawn = page.page.evaluate("() => document.querySelector('.problem').textContent")
    assert LONG in drawn and "the innermost" in drawn and "19999" in drawn.replace(",", "")
    assert "1,000,000 characters" in drawn  # of the hypothesis, which is cut and says so
    assert page.count(".hypotheses > li") == 121
    assert page.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.open(sessions["worlds"], "w")
    unharmed(page, file)


def test_search_filters_and_order_still_work(page, hostile):
    file, _, _made = hostile
    everything = page.listed()
    for words in (
        "<script>window.hit = 1</script>",
        "onerror=alert(4)",
        "' or 1=1 --",
        "(",
        "\\",
        "[",
        "*",
        "\u202egnirts",
        "__proto__",
    ):
        listed = page.search(words)
        wanted = [
            one
            for one in everything
            if all(word in one.lower() for word in shown(words).lower().split())
        ]
        assert wanted and set(wanted) <= set(listed)
    assert page.search("onerror=alert(4)") == ["5 <img src=x onerror=alert(4)>", "texts#0", "w"]
    assert page.search("") == everything
    page.choose("Ended", "failed")
    assert len(page.listed()) == len(HOSTILE[::5])
    page.choose("Order", "name")
    assert len(page.listed()) == len(HOSTILE[::5])
    unharmed(page, file)


def test_hostile_addresses_open_nothing(page, hostile):
    for address in (
        "#problem/<img src=x onerror=alert(1)>/x",
        "#problem/%3Cscript%3E/%",
        "#javascript:alert(1)",
        "#problem//",
        "#problem/__proto__/x",
    ):
        page.page.evaluate("address => { location.hash = address }", address)
        page.page.wait_for_timeout(50)
    unharmed(page, hostile[0])


def test_the_server_of_a_hostile_session_gives_the_same(tab, hostile):
    """`peirce view`, with ids that are no UTF-8 and words that are no SQL."""
    import threading
    from pathlib import Path

    file, sessions, made = hostile
    (store,) = Path(file).parent.glob("*.duckdb")
    viewer = peirce.view(*sessions.values(), store=store)
    thread = threading.Thread(target=viewer.serve, daemon=True)
    thread.start()
    try:
        page = tab()
        page.page.goto(viewer.url)
        page.page.wait_for_selector("#problems tbody tr")
        assert page.page.url == f"http://127.0.0.1:{viewer.port}/"
        assert page.listed() == [shown(problem.id) for some in made.values() for problem, _ in some]
        for number in (
            *range(0, len(HOSTILE), 7),
            HOSTILE.index("\ud800"),
            HOSTILE.index("a\udfff\ud800b"),
        ):
            page.page.evaluate(
                "number => document.querySelectorAll('#problems tbody a')[number].click()", number
            )
            page.page.wait_for_function(
                "name => document.querySelector('.problem h3')?.textContent === name",
                arg=shown(made["programs"][number][0].id),
            )
        assert page.search("' or 1=1 --") == [
            f"{HOSTILE.index(one)} {one}" for one in ["' OR 1=1 --"]
        ]
        assert page.page.evaluate("() => window.hit ?? null") is None
        assert (page.dialogs, page.said) == ([], [])
        assert {url.split("?")[0].rsplit("/", 1)[1] for url in page.requests} <= {
            "",
            "problem",
            "search",
            "overview",
        }
        assert all(url.startswith(f"http://127.0.0.1:{viewer.port}/") for url in page.requests)
    finally:
        viewer.close()
        thread.join(10)
