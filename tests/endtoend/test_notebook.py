"""A notebook, executed by a real kernel: a data frame goes in, progress is seen, and results come out."""

from __future__ import annotations

import pytest

pytest.importorskip("ipykernel")
pytest.importorskip("pandas")
nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

RUN = 'data=pairs, observations=4, max_answers=2, budget_expansions=2_000, store="notebook.duckdb"'
CELLS = {
    "frame": """
import pandas as pd
import peirce

inputs = [[3, 8, 5, 4], [2, 7], [1, 9], [6, 6, 1], [4]]
pairs = pd.DataFrame({"input": inputs, "output": [sum(x) for x in inputs]})
""",
    "run": f'session = peirce.run("examples", {RUN})',
    "result": "session.to_dict()",
    "await": f"""
awaited = await peirce.arun("examples", {RUN})
assert session.digest == awaited.digest
""",
    "stopped": """
import os, signal

def press_stop(event):
    if event["type"] == "step":
        os.kill(os.getpid(), signal.SIGINT)  # as the kernel's stop button does

try:
    peirce.run("list_functions", problems=9, budget_expansions=1_000, concurrency=1, cache=False,
               store="notebook.duckdb", on_event=press_stop)
except peirce.PeirceError as error:
    rows = peirce.sessions(store="notebook.duckdb")
    print(type(error).__name__, [row.status for row in rows if row.task == "list_functions"])
""",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Return the outputs of each cell by its name."""
    folder = tmp_path_factory.mktemp("notebook")
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def shown(outputs) -> list[dict[str, str]]:
    return [one["data"] for one in outputs if one["output_type"] == "display_data"]


@pytest.mark.parametrize("cell", ["run", "await"])
def test_a_run_shows_its_progress_in_one_output_that_ends_complete(outputs, cell: str) -> None:
    (progress,) = shown(outputs[cell])
    for text in (progress["text/plain"], progress["text/html"]):
        assert "table of 5 rows and 2 columns" in text
        assert "1/1 problems" in text and "accepted" in text and "\x1b" not in text
    assert progress["text/html"].startswith("<pre")


def test_a_listener_replaces_the_progress(outputs) -> None:
    assert shown(outputs["stopped"]) == []


def test_the_result_of_the_session_comes_out(outputs) -> None:
    (result,) = outputs["result"]
    assert "'status': 'done'" in result["data"]["text/plain"]
    assert "'accepted'" in result["data"]["text/plain"]


def test_the_stop_button_ends_the_session_and_leaves_it_resumable(outputs) -> None:
    (stream,) = (one for one in outputs["stopped"] if one["output_type"] == "stream")
    assert stream["text"] == "Interrupted ['interrupted']\n"
