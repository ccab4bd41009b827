"""The findings at the top of the page: what is seen first, what is folded, and two hypotheses side by side.

Internals: the counts on the page are compared with the findings in Python, and the outputs of programs
with those of their source.
"""

from __future__ import annotations

import json

import page_runs
import peirce
import pytest
from page_sessions import judged, small_problem, steps, write
from peirce.agents.scripted import ScriptedProposer
from peirce.reports.page.findings import MAX_PROBLEMS

FAMILIES = ["lists", "scripted", "acre", "mini_arc", "worlds", "texts", "fields"]
LONG_NAMES = ["NorthernWarehouseSupervisor", "a_contractor_of_the_second_degree", "Ω" * 40, "b"]
VISIBLE_TEXTS = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (node.textContent.trim() && node.parentElement.checkVisibility() && !node.parentElement.closest("select") && box.height && box.top < innerHeight) found.push(node.textContent.trim());
  }
  return found;
}"""


@pytest.fixture(scope="session", autouse=True)  # before the browser and its loop
def pages(tmp_path_factory, made):
    """Pages of single sessions by name, and what `findings` says of each session."""
    folder = tmp_path_factory.mktemp("findings")
    files, found = {}, {}
    for name in FAMILIES:
        files[name] = folder / f"{name}.html"
        peirce.report(made.names[name], store=made.store, out=files[name])
        found[name] = list(made.outcomes[name].findings())
    store = folder / "s.duckdb"
    world = {"id": "long", "domain": LONG_NAMES,
             "true": {"P": LONG_NAMES[:3], "R": [[LONG_NAMES[0], LONG_NAMES[0]], [LONG_NAMES[1], "b"]]}}  # fmt: skip
    data = page_runs.worlds_file(folder, [[world]])
    proposer = ScriptedProposer([page_runs.formula("(P x)"), page_runs.formula("(= x x)")])
    peirce.run("abd", data=data, model=proposer, store=store, workers=1)
    files["long"] = folder / "long.html"
    peirce.report(store=store, out=files["long"])
    many = [small_problem(f"p{number:02}") for number in range(MAX_PROBLEMS + 3)]
    records = [
        (one, steps(one, ("a", judged(one, f"def f(x):\n    return {number}", f"rule {number}"))))
        for number, one in enumerate(many)
    ]
    write(store, records)
    files["many"] = folder / "many.html"
    peirce.report(store=store, out=files["many"])
    return files, found


def best_of(found, problem):
    return next(one for one in found if one.problem == problem and one.rank == 1)


@pytest.fixture(scope="module")
def metrics(made):
    """The names of the metrics of each session."""
    names = [made.names[name] for name in FAMILIES]
    scored = peirce.evaluate(*names, store=made.store)["sessions"]
    return {one["session"]: one["metrics"].keys() for one in scored}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_first_screen_has_the_best_hypothesis_and_no_metric(tab, made, pages, metrics, name):
    files, found = pages
    scored = metrics[made.names[name]]
    assert len(scored) > 3
    page = tab().goto(files[name])
    for width in (1200, 400):
        page.page.set_viewport_size({"width": width, "height": 800})
        seen = page.page.evaluate(VISIBLE_TEXTS)
        assert " ".join(found[name][0].reading.split()) in [" ".join(one.split()) for one in seen]
        assert not {metric.replace("_", " ") for metric in scored} & set(seen)
    assert page.said == []


def test_what_is_for_researchers_is_folded(tab, pages):
    page = tab().goto(pages[0]["fields"])
    hidden = ["table.metrics", "figure.plot", "#overview .session .facts"]
    for selector in hidden:
        assert page.count(selector) and not page.page.query_selector(selector).is_visible()
    page.page.get_by_text("For researchers", exact=True).click()
    for selector in hidden:
        assert page.page.query_selector(selector).is_visible()


@pytest.mark.parametrize("name", FAMILIES)
def test_each_hypothesis_says_on_how_many_observations_it_is_right(shared_tab, pages, name):
    files, found = pages
    page = shared_tab(files[name])
    said = page.all(
        ".findings ol > li",
        "one => [one.querySelector('.reading').textContent, one.querySelector('.evidence').textContent]",
    )
    expected = []
    for one in found[name]:
        if one.rank <= 3:
            held_out = (
                f" and {one.held_out.right} of {one.held_out.of} held-out" if one.held_out else ""
            )
            expected.append([f"{one.rank}. {one.reading}",
                             f"right on {one.shown.right} of {one.shown.of} shown{held_out} observations"])  # fmt: skip
    assert said == expected


@pytest.mark.parametrize("name", ["lists", "worlds", "fields"])
def test_the_best_two_are_told_apart_by_an_input_with_both_outputs(shared_tab, pages, name):
    files, found = pages
    page = shared_tab(files[name])
    sentences = page.all(".disagreement p")
    told = [one.disagreement for one in found[name] if one.rank == 1 and one.disagreement]
    assert len(sentences) == len(told)
    assert bool(told) == (
        name != "fields"
    )  # a sentence that says nothing of a row disagrees with none
    for sentence, one in zip(sentences, told, strict=True):
        for output in one.outputs:
            plain = output.removeprefix("[").removesuffix("]")
            assert plain in sentence


@pytest.mark.parametrize("name", ["lists", "worlds", "fields"])
def test_a_fold_draws_up_to_five_observations_for_and_five_against(shared_tab, pages, name):
    files, found = pages
    page = shared_tab(files[name])
    page.page.evaluate(
        "() => document.querySelectorAll('.findings ol details').forEach((one) => { one.open = true })"
    )
    page.page.wait_for_function(
        "() => [...document.querySelectorAll('.findings ol details')].every((one) => one.querySelector('.side'))"
    )
    rows = page.all(".findings ol details", """one => [one.querySelector("summary").textContent,
      [...one.querySelectorAll(".broad > div")].map((side) => side.querySelectorAll("ol > li, tbody tr").length)]""")  # fmt: skip
    expected = [one for one in found[name] if one.rank <= 3]
    assert len(rows) == len(expected)
    for (summary, (support, contradict)), one in zip(rows, expected, strict=True):
        right = one.shown.right + (one.held_out.right if one.held_out else 0)
        assert summary.startswith(f"{right} support it, ")
        assert support == min(right, 5)
        assert contradict == min(int(summary.split(", ")[1].split()[0]), 5)
    assert any(contradict for _, (_, contradict) in rows) == (name != "fields")


def test_a_problem_compares_any_two_hypotheses_on_inputs_where_their_programs_differ(
    shared_tab, made, pages
):
    page = shared_tab(pages[0]["lists"])
    (problem,) = [one for one in made.problems("lists") if one.id == "gen0-1"]
    page.open(made.names["lists"], problem.id)
    sources = [one.hypothesis for one in pages[1]["lists"] if one.problem == problem.id]

    def run(source, value):
        names = {}
        exec(source, names)
        return names["f"](list(value))

    def compared():
        return page.all(".parted tbody tr", """row => [...row.children].map((cell) => cell.querySelector(".cells")
          ? [...cell.querySelectorAll(".cell")].map((one) => Number(one.textContent)) : cell.textContent)""")  # fmt: skip

    assert page.all(".sides .reading", "one => one.textContent[0]") == ["1", "2"]
    values = page.all(".opened .filters label:first-child option", "one => one.value")
    for first, second in ((0, 1), (2, 0)):
        page.choose("First", values[first])
        page.choose("Second", values[second])
        rows = compared()
        assert len(rows) > 1 and any(row[1] == "–" for row in rows)  # also of the sample space
        for value, _observed, one, other in rows:
            assert (one, other) == (run(sources[first], value), run(sources[second], value))
            assert one != other


def test_hypotheses_are_listed_best_first(shared_tab, made, pages):
    page = shared_tab(pages[0]["acre"])
    for problem in made.problems("acre"):
        page.open(made.names["acre"], problem.id)
        readings = page.all(".hypotheses .title")
        expected = [one.reading for one in pages[1]["acre"] if one.problem == problem.id]
        assert readings[: len(expected)] == expected
        assert page.all(".hypotheses summary > b")[: len(expected)] == [
            f"{rank}." for rank in range(1, len(expected) + 1)
        ]


@pytest.mark.parametrize("width", [1200, 360])
def test_long_labels_of_a_world_are_inside_its_picture(tab, pages, width):
    page = tab(viewport={"width": width, "height": 800}).goto(pages[0]["long"])
    page.unfold()
    page.page.click(".findings a")
    page.page.wait_for_selector(".problem svg.world")
    page.unfold()
    outside = page.page.evaluate("""() => [...document.querySelectorAll("svg.world")].flatMap((svg) => {
      const room = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text, circle, path")].map((one) => one.getBoundingClientRect())
        .filter((box) => box.left < room.left - 0.5 || box.right > room.right + 0.5 || box.top < room.top - 0.5 || box.bottom > room.bottom + 0.5);
    }).length""")
    assert outside == 0
    labels = page.all(
        ".problem .observations svg.world text",
        "one => [...one.querySelectorAll('tspan:not(.own)')].map((line) => line.textContent).join('')",
    )
    assert labels[: len(LONG_NAMES)] == LONG_NAMES
    assert page.page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_a_long_table_is_folded_until_a_button_is_pressed(tab, made, pages):
    page = tab().goto(pages[0]["fields"])
    page.open(made.names["fields"], "fields#0")
    visible = "() => [...document.querySelectorAll('.problem .parted tbody tr')].filter((one) => one.checkVisibility()).length"
    rows = page.count(".problem .parted tbody tr")
    assert rows > 12 == page.page.evaluate(visible)
    page.page.emulate_media(media="print")
    assert page.page.evaluate(visible) == rows
    page.page.emulate_media(media="screen")
    page.page.get_by_role("button", name=f"Show all {rows} rows").click()
    assert page.page.evaluate(visible) == rows
    assert page.count(".problem .records tbody tr") < 30 + 28
    page.page.get_by_role("button", name="Show all 30", exact=True).click()
    assert page.count(".problem details.pairs:nth-of-type(2) tbody tr") == 30


def test_the_first_problems_are_listed_and_a_link_leads_to_the_others(tab, pages):
    page = tab().goto(pages[0]["many"])
    titles = page.all(".findings h3")
    assert titles == [f"p{number:02}" for number in range(MAX_PROBLEMS)]
    link = page.page.get_by_text("3 more problems in the list below")
    assert link.get_attribute("href") == "#problems"


def test_several_sessions_have_their_findings_one_after_the_other(tab, made):
    page = tab().goto(made.file)
    sessions = page.all(".session-findings .run code")
    assert sessions == list(made.names.values())
    text = json.dumps(page.all(".session-findings"))
    assert "No hypothesis was found" in text  # of the first problem of `lists`
