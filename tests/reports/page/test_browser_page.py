"""The page in a browser as a whole: what it says and asks for, search, filters, order, comparison, print,
dark, the keyboard, screen readers, narrow screens.

Internals: what the browser shows is compared with the contents that the page was made of.
"""

from __future__ import annotations

import json
import re
from statistics import fmean

import pytest

SEARCH = "#search"
VERDICTS = ["accepted", "redundant", "inconsistent", "malformed"]


@pytest.fixture(scope="module")
def told(made):
    """What the page was given of all sessions."""
    from peirce.reports.page import Contents
    from peirce.store import Store

    with Store.open(made.store, write=False) as store:
        return json.loads(json.dumps(Contents(store, list(made.names.values())).build_overview()))


@pytest.fixture
def page(tab, made):
    return tab().goto(made.file)


def problems(told):
    return [(one["session"], problem) for one in told["sessions"] for problem in one["problems"]]


def test_the_page_says_nothing_and_asks_for_nothing_but_itself(page, made):
    page.unfold()
    page.page.wait_for_timeout(300)
    assert page.said == [] and page.requests == [made.file.as_uri()]


def test_the_content_policy_refuses_the_network_and_other_scripts(page):
    failed = []
    page.page.on(
        "requestfailed",
        lambda one: failed.append(one.failure) if one.url.endswith(".png") else None,
    )
    page.page.evaluate("""async () => {
      window.refused = [];
      addEventListener("securitypolicyviolation", (event) => window.refused.push(event.effectiveDirective));
      window.fetched = await fetch("https://example.org/x").then(() => "answered", () => "refused");
      await new Promise((done) => { const one = new Image(); one.onload = one.onerror = done; one.src = "https://example.org/x.png"; });
      const script = document.createElement("script");
      script.textContent = "window.hit = 1";
      document.body.append(script);
      const style = document.createElement("style");
      style.textContent = "body { display: none }";
      document.head.append(style);
      const frame = document.createElement("iframe");
      frame.src = "https://example.org/";
      document.body.append(frame);
      const clicked = document.createElement("a");
      clicked.setAttribute("onclick", "window.hit = 2");
      document.body.append(clicked);
      clicked.click();
      await new Promise((done) => setTimeout(done, 200));
    }""")
    refused = page.page.evaluate(
        "() => [window.fetched, window.hit ?? null, [...new Set(window.refused)].sort()]"
    )
    assert refused == [
        "refused",
        None,
        [
            "connect-src",
            "frame-src",
            "img-src",
            "script-src-attr",
            "script-src-elem",
            "style-src-elem",
        ],
    ]
    assert failed == ["csp"]  # the picture; all else was not even begun


def test_the_overview_says_what_was_run_and_what_came_of_it(page, told):
    text = page.page.inner_text("#overview")
    for one in told["sessions"]:
        assert (
            one["session"] in text and f"{one['task']} · {one['method']} · {one['model']}" in text
        )
    rows = page.all(
        "table.metrics tbody tr", "row => [...row.children].map((one) => one.textContent)"
    )
    drawn, known = {}, {}
    for name, *cells in rows:
        for cell in cells:
            if cell != "–":
                drawn.setdefault(name.strip(" ↑↓"), []).append(
                    [float(one) for one in re.findall(r"[\d.]+", cell)]
                )
    for one in sorted(
        told["sessions"],
        key=lambda one: [e["evaluation"] for e in told["sessions"]].index(one["evaluation"]),
    ):
        for metric in one["metrics"]:
            if metric["mean"] is not None:
                values = [
                    metric[key] for key in ("mean", "low", "high", "n") if metric[key] is not None
                ]
                known.setdefault(metric["name"].replace("_", " "), []).append(values)
    assert list(drawn) == list(known)
    for name, values in known.items():
        for shown, value in zip(drawn[name], values, strict=True):
            assert shown == pytest.approx(value, abs=6e-4)
    summed = page.all("#overview table:not(.metrics)", "one => one.caption.textContent")
    assert any(one.startswith("Hypotheses by verdict") for one in summed)
    assert any(one.startswith("Model calls for each result") for one in summed)
    assert any(one.startswith("What an answer added") for one in summed)


def test_figures_are_drawn_with_their_numbers(page, told):
    titles = page.all("#overview figure.plot figcaption")
    assert titles[0] == "Diversity: gamma and beta of each problem"
    assert sum(title.startswith("Verdicts by step") for title in titles) == len(told["sessions"])
    assert {
        "Accepted hypotheses by number of answers",
        "Problems with an accepted hypothesis",
        "Size of the bank",
    } <= set(titles)
    points = sum(len(one["points"]) for one in told["sessions"])
    assert page.count("#overview circle.point") == points
    assert page.count("#overview polygon.band") == len(told["regions"])
    bad = page.all("#overview svg.plot", "svg => /NaN|undefined|Infinity/.test(svg.outerHTML)")
    assert not any(bad)
    page.unfold()
    (course,) = [
        one["course"]
        for one in told["sessions"]
        if one["session"] == told["sessions"][0]["session"]
    ]
    numbers = page.all(
        "#overview figure:nth-of-type(2) tbody tr",
        "row => [...row.children].map((one) => Number(one.textContent))",
    )
    assert numbers == [
        [row["step"], *(row[name] for name in VERDICTS)] for row in course["verdicts"]
    ]


def test_points_lie_in_the_region_of_their_number_of_hypotheses(page, told):
    """The picture agrees with the bounds: a point within the polygon of its k, by the browser's own test."""
    inside = page.page.evaluate("""() => [...document.querySelectorAll("#overview circle.point")].map((one) => {
      const k = Number(/(\\d+) hypotheses/.exec(one.textContent)[1]);
      const keys = [...document.querySelectorAll(".key.band")].map((key) => Number(/\\d+/.exec(key.textContent)[0]));
      const band = document.querySelectorAll("polygon.band")[keys.indexOf(k)];
      if (!band) return null;
      band.style.strokeWidth = "4px";  // with two hypotheses the region is a line
      const at = new DOMPoint(one.cx.baseVal.value, one.cy.baseVal.value);
      return band.isPointInFill(at) || band.isPointInStroke(at);
    })""")
    assert False not in inside and True in inside


def test_search_finds_words_of_hypotheses_answers_and_data(page, made, told):
    everything = page.listed()
    assert everything == [problem["id"] for _, problem in problems(told)]
    assert page.counted() == f"{len(everything)} problems"
    assert page.search("TURNED around") == [one.id for one in made.problems("scripted")]
    assert page.counted() == f"{len(made.problems('scripted'))} of {len(everything)} problems"
    assert page.search("do not know") == [
        "gen0-0",
        "gen0-1",
        "gen0-2",
    ]  # of an answer that holds no hypothesis
    assert page.search("garden met") == ["texts#0"]
    assert page.search("no such words anywhere") == []
    page.page.press(SEARCH, "Escape")
    page.page.wait_for_function(
        "() => !document.querySelector('#problems .count').textContent.includes(' of ')"
    )
    page.page.wait_for_selector(".scroll.list:not([aria-busy])")
    assert page.listed() == everything
    assert page.search("turned <b>around") == []


def test_filters_do_what_they_say(page, told):
    everything = problems(told)

    def wanted(test):
        return [problem["id"] for session, problem in everything if test(session, problem)]

    for value, test in {
        "consistent": lambda v: v[0] + v[1] > 0, "none": lambda v: v[0] + v[1] == 0,
        **{name: (lambda v, at=at: v[at] > 0) for at, name in enumerate(VERDICTS)},
    }.items():  # fmt: skip
        page.choose("With verdict", value)
        assert page.listed() == wanted(lambda _, problem, test=test: test(problem["verdicts"]))
    page.choose("With verdict", "")
    for cause in sorted({problem["cause"] for _, problem in everything}):
        page.choose("Ended", cause)
        assert (
            page.listed() == wanted(lambda _, problem, cause=cause: problem["cause"] == cause) != []
        )
    page.choose("Ended", "")
    for one in told["sessions"]:
        page.choose("Session", one["session"])
        assert page.listed() == [problem["id"] for problem in one["problems"]]
    page.choose("With verdict", "malformed")
    page.choose("Session", told["sessions"][1]["session"])
    assert page.listed() == wanted(
        lambda session, problem: (
            session == told["sessions"][1]["session"] and problem["verdicts"][3]
        )
    )


def test_the_list_is_ordered_by_what_is_chosen(page, told):
    values = {}
    for one in told["sessions"]:
        for at, metric in enumerate(one["metrics"]):
            for problem in one["problems"]:
                values.setdefault(metric["name"], []).append(problem["values"][at])
    everything = problems(told)
    page.choose("Order", "most")
    counts = page.all(
        "#problems tbody .strip small", "one => Number(one.textContent.split(' of ')[0])"
    )
    assert counts == sorted((problem["verdicts"][0] for _, problem in everything), reverse=True)
    page.choose("Order", "name")
    assert (
        page.listed() == sorted(page.listed(), key=lambda name: (name.split("-")[0], name))
        and page.listed()[0] == "fields#0"
    )
    for name, better in (("consistency", "higher"), ("gap", "lower"), ("accuracy", "higher")):
        page.choose("Order", f"={name}")
        assert page.page.text_content("#problems thead th:last-child") == name
        shown = page.all("#problems tbody tr", "row => row.lastChild.textContent")
        known = sorted((one for one in values[name] if one is not None), reverse=better == "higher")
        drawn = [f"{one:.3f}" if one % 1 else f"{one:.0f}" for one in known]
        assert shown == drawn + ["–"] * (len(everything) - len(known))


def test_two_sessions_are_compared_problem_by_problem(page, told, made):
    first, second = (
        next(one for one in told["sessions"] if one["session"] == made.names[name])
        for name in ("lists", "scripted")
    )
    assert made.names["lists"] in page.page.text_content("#compare select option")
    heads = page.all("#compare .beside tbody th")
    assert heads[:2] == ["consistency ↑", "beta ↑"] and {"malformed ↓", "without hidden"} <= set(
        heads
    )
    (pair,) = [
        one
        for one in told["differences"]
        if (one["first"], one["second"]) == (first["session"], second["session"])
    ]
    names = [metric["name"] for metric in first["metrics"]]
    for name in ("consistency", "hypotheses", "malformed"):
        at = names.index(name)
        page.choose("Metric", name)
        before = {one["id"]: one["values"][at] for one in first["problems"]}
        apart = {one["id"]: one["values"][at] - before[one["id"]] for one in second["problems"]}
        rows = page.all(
            "#compare table:last-of-type tbody tr",
            "row => [...row.children].map((one) => one.textContent)",
        )
        rows = [row for row in rows if len(row) == 4]
        assert sorted(row[0] for row in rows) == sorted(apart)
        sizes = [abs(apart[row[0]]) for row in rows]
        assert sizes == sorted(sizes, reverse=True)
        for row in rows:
            assert float(row[3].replace("−", "-")) == pytest.approx(apart[row[0]], abs=6e-4)
            assert float(row[1]) == pytest.approx(before[row[0]], abs=6e-4)
        (told_one,) = [one for one in pair["metrics"] if one["name"] == name]
        assert told_one["mean"] == pytest.approx(fmean(apart.values()), abs=1e-5)
        assert page.count("#compare circle.point") == len(apart)
        text = page.page.text_content("#compare p:not(.note)")
        higher, lower = (
            sum(one > 0 for one in apart.values()),
            sum(one < 0 for one in apart.values()),
        )
        assert f"higher in the second in {higher} problem" in text and f"lower in {lower}," in text
    page.page.click("#compare tbody tr:first-child td a >> nth=0")
    page.page.wait_for_selector(".problem h3")


def test_paper_has_what_is_read_and_nothing_that_is_pressed(page, made):
    page.page.emulate_media(media="print", color_scheme="dark")
    page.open(made.names["lists"], "gen0-0")
    for selector in ("nav", ".filters", ".skip", ".beside-links", "#live", "#search"):
        assert not page.page.query_selector(selector).is_visible(), selector
    for selector in ("#overview .reading", "#problems table", ".problem h3", ".observations li"):
        assert page.page.query_selector(selector).is_visible(), selector
    colours = page.page.evaluate(
        "() => { const told = getComputedStyle(document.body); return [told.color, told.backgroundColor] }"
    )
    assert colours == ["rgb(27, 29, 33)", "rgb(255, 255, 255)"]  # also where the screen is dark
    assert (
        page.page.evaluate(
            "() => getComputedStyle(document.querySelector('.scroll.list')).maxHeight"
        )
        == "none"
    )
    assert page.page.pdf()[:4] == b"%PDF"


CONTRAST = """(within) => {
  const parse = (text) => (/rgba?\\(([^)]*)\\)/.exec(text) || [, "0,0,0,0"])[1].split(/[ ,/]+/).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((one) => one / 255).map((one) => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.99) return colour;
    }
    return parse(getComputedStyle(document.documentElement).backgroundColor);
  };
  const bad = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.querySelector(within), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility() || ["SCRIPT", "TITLE", "title"].includes(element.tagName)) continue;
    if (element.closest("svg") && element.tagName === "title") continue;
    const style = getComputedStyle(element);
    const ink = parse(element.closest("svg") ? style.fill : style.color);
    const [a, b] = [luminance(ink), luminance(behind(element))].sort((x, y) => y - x);
    seen += 1;
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.push([node.textContent.slice(0, 40), style.color, element.className.baseVal ?? element.className, (a + 0.05) / (b + 0.05)]);
  }
  return [seen, bad.slice(0, 8)];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(tab, made, scheme):
    page = tab(color_scheme=scheme).goto(made.file)
    body = page.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert body == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 23, 26)"}[scheme]
    page.unfold()
    seen, bad = page.page.evaluate(CONTRAST, "body")
    assert seen > 1000 and bad == []
    for name in ("scripted", "worlds", "acre", "texts"):
        page.open(made.names[name], made.problems(name)[0].id)
        page.unfold(".problem")
        seen, bad = page.page.evaluate(CONTRAST, ".problem")
        assert seen > 30 and bad == []


def test_verdicts_can_be_told_apart_by_their_colours(tab, made):
    for scheme in ("light", "dark"):
        page = tab(color_scheme=scheme).goto(made.file)
        inks = [
            page.page.evaluate(
                f"() => getComputedStyle(document.documentElement).getPropertyValue('--{name}').trim()"
            )
            for name in VERDICTS
        ]
        colours = [[int(ink[at : at + 2], 16) for at in (1, 3, 5)] for ink in inks]
        for n, one in enumerate(colours):
            for other in colours[:n]:
                assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 60


def test_the_keyboard_alone_reaches_everything(page, made):
    keys = page.page.keyboard
    focused = "() => { const one = document.activeElement; return [one.tagName, one.textContent.slice(0, 30), one.id] }"
    keys.press("Tab")
    assert page.page.evaluate(focused)[1] == "Skip to the problems"
    assert (
        page.page.query_selector(".skip").bounding_box()["x"] >= 0
    )  # it is seen when it has the focus
    keys.press("Enter")
    keys.press("Tab")
    assert page.page.evaluate(focused)[2] == "search"
    keys.press("Shift+Tab")
    keys.press("/")
    assert page.page.evaluate(focused)[2] == "search"
    keys.type("turned/")  # where it is typed it is a letter
    assert page.page.input_value(SEARCH) == "turned/"
    keys.press("Backspace")
    page.page.wait_for_function(
        "() => document.querySelector('#problems .count').textContent.includes(' of ')"
    )
    for _ in range(30):
        keys.press("Tab")
        if page.page.evaluate("() => document.activeElement.matches('#problems tbody a')"):
            break
    outline = page.page.evaluate(
        "() => { const told = getComputedStyle(document.activeElement); return [told.outlineStyle, told.outlineWidth] }"
    )
    assert outline == ["solid", "2px"]
    keys.press("Enter")
    page.page.wait_for_selector(".problem h3")
    assert page.page.evaluate("() => document.activeElement.className") == "opened"
    assert page.page.text_content(".problem .facts code") == made.names["scripted"]
    for _ in range(40):
        keys.press("Tab")
        if page.page.evaluate("() => document.activeElement.matches('.hypotheses summary')"):
            break
    keys.press("Enter")
    page.page.wait_for_selector(".hypotheses details[open] pre")


def test_the_focus_is_never_trapped(page, made):
    """Tab goes on through the whole page and out of it."""
    page.open(made.names["scripted"], "gen0-0")
    page.page.evaluate(
        "() => { document.activeElement.blur(); window.seen = []; addEventListener('focusin', (event) => window.seen.push(event.target)) }"
    )
    count = page.page.evaluate("""() => [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
      .filter((one) => one.checkVisibility()).length""")
    for _ in range(count + 20):  # a browser also stops at what can be scrolled
        page.page.keyboard.press("Tab")
    told = page.page.evaluate("""() => [new Set(window.seen).size, [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
      .filter((one) => one.checkVisibility() && !window.seen.includes(one)).map((one) => one.outerHTML.slice(0, 90))]""")
    assert told[1] == [] and told[0] >= count


NAMES = """() => {
  const bad = [];
  const told = (one) => one.outerHTML.slice(0, 120);
  const said = (one) => (one.getAttribute("aria-label") || "").trim();
  for (const one of document.querySelectorAll("[role=img], [role=region], svg:not([aria-hidden=true])")) if (!said(one)) bad.push(["no name", told(one)]);
  for (const one of document.querySelectorAll("svg:not([aria-hidden=true])")) if (one.getAttribute("role") !== "img") bad.push(["no img", told(one)]);
  for (const one of document.querySelectorAll("input, select")) if (![...one.labels].some((label) => label.textContent.trim())) bad.push(["no label", told(one)]);
  for (const one of document.querySelectorAll("a, button, summary, th")) if (!one.textContent.trim() && !one.querySelector("[aria-label]")) bad.push(["empty", told(one)]);
  for (const one of document.querySelectorAll("th")) if (!["col", "row"].includes(one.getAttribute("scope"))) bad.push(["no scope", told(one)]);
  for (const one of document.querySelectorAll("table")) if (!one.caption || !one.caption.textContent.trim()) bad.push(["no caption", told(one)]);
  for (const one of document.querySelectorAll("[tabindex='0']")) if (!one.matches(".text, pre") && one.getAttribute("role") !== "region") bad.push(["a stop without a role", told(one)]);
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  ids.filter((one, at) => ids.indexOf(one) !== at).forEach((one) => bad.push(["id twice", one]));
  let before = 0;
  for (const one of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!one.checkVisibility()) continue;
    const level = Number(one.tagName[1]);
    if (level > before + 1) bad.push(["a level left out", told(one)]);
    if (!one.textContent.trim()) bad.push(["empty", told(one)]);
    before = level;
  }
  if (document.querySelectorAll("h1").length !== 1) bad.push(["h1"]);
  if (!document.documentElement.lang || !document.title.trim()) bad.push(["lang or title"]);
  for (const name of ["header", "main", "nav"]) if (document.querySelectorAll(name).length !== 1) bad.push([name]);
  return bad;
}"""


def test_screen_readers_get_a_name_for_everything(page, made):
    for name in ("scripted", "acre", "mini_arc", "worlds", "texts"):
        page.open(made.names[name], made.problems(name)[0].id)
        page.unfold()
        assert page.page.evaluate(NAMES) == []
    tree = page.page.context.new_cdp_session(page.page).send("Accessibility.getFullAXTree")["nodes"]
    named = {
        "image",
        "img",
        "link",
        "button",
        "textbox",
        "searchbox",
        "combobox",
        "region",
        "heading",
        "DisclosureTriangle",
        "table",
    }
    nameless = [
        (one["role"]["value"], one.get("properties"))
        for one in tree
        if not one.get("ignored")
        and one["role"]["value"] in named
        and not one.get("name", {}).get("value", "").strip()
    ]
    assert nameless == []
    roles = [one["role"]["value"] for one in tree if not one.get("ignored")]
    assert {"banner", "main", "navigation", "search", "heading", "table", "status"} <= set(roles)


def test_a_narrow_screen_needs_no_sideways_scroll(tab, made):
    page = tab(viewport={"width": 360, "height": 700}).goto(made.file)
    for name in ("scripted", "acre", "arc", "worlds", "texts", "fields"):
        page.open(made.names[name], made.problems(name)[0].id)
        page.unfold()
        assert page.page.evaluate("() => document.documentElement.scrollWidth") <= 360, name


def test_one_session_alone_has_no_comparison(tab, made):
    page = tab().goto(made.file.with_name("one.html"))
    assert page.all("nav a") == ["Findings", "Problems"]
    assert not page.page.query_selector("#compare").is_visible()
    assert page.said == []
