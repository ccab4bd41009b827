"""Checkpoints after a kill at any moment: what is half written is never taken for whole, and the
last whole one is always there.

Internals: folders are left half written, as a kill at any moment would leave them.
"""

import numpy as np
import pytest
from peirce.records import DataError
from peirce.training.dpo import checkpoints


def make(folder, number, whole=True):
    path = folder / f"checkpoint-{number}"
    path.mkdir()
    (path / "model.safetensors").write_bytes(b"weights")
    (path / "training_args.bin").write_bytes(b"a pickle")
    if whole:
        keys = np.array([[number, 2]], np.int32)
        checkpoints.complete_checkpoint(path, {"examples": number}, keys, np.array([-0.1 * number]))
    return path


def test_the_newest_whole_one_is_taken_and_broken_ones_are_removed(tmp_path):
    for number in (2, 9, 10):
        make(tmp_path, number)
    broken = make(tmp_path, 12, whole=False)
    assert (
        checkpoints.find_last_complete(tmp_path).name == "checkpoint-10"
    )  # by number, not by name
    assert not broken.exists()
    assert checkpoints.find_last_complete(tmp_path / "nothing") is None


def test_what_is_kept_is_the_newest_and_nothing_pickled(tmp_path):
    for number in (8, 9, 10):
        make(tmp_path, number)
    checkpoints.prune_checkpoints(tmp_path, 2)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["checkpoint-10", "checkpoint-9"]
    assert not list(tmp_path.rglob("training_args.bin"))


def test_what_a_kill_left_half_removed_does_not_look_whole(tmp_path, monkeypatch):
    for number in (8, 9):
        make(tmp_path, number)
    monkeypatch.setattr(checkpoints.shutil, "rmtree", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        checkpoints.prune_checkpoints(tmp_path, 1)
    assert (tmp_path / "checkpoint-8").is_dir()
    assert not (tmp_path / "checkpoint-8" / checkpoints.STATE_FILE).exists()


def test_numbers_come_back_to_the_last_digit(tmp_path):
    state, arrays = checkpoints.read_checkpoint(make(tmp_path, 3))
    assert state == {"examples": 3}
    assert arrays["keys"].tolist() == [[3, 2]]
    assert arrays["values"].tolist() == [-0.1 * 3]


@pytest.mark.parametrize("name", [checkpoints.STATE_FILE, checkpoints.REFERENCES_FILE])
def test_a_damaged_one_is_one_sentence(tmp_path, name):
    path = make(tmp_path, 3)
    for damage in (b"{", b"[]"):
        (path / name).write_bytes(damage)
        with pytest.raises(DataError, match="cannot be read"):
            checkpoints.read_checkpoint(path)


@pytest.mark.parametrize("name", ["model.safetensors", checkpoints.REFERENCES_FILE])
@pytest.mark.parametrize("rest", [b"", b"PK\x03\x04 no more", None])
def test_a_cut_or_missing_file_of_one_is_one_sentence(tmp_path, name, rest):
    path = make(tmp_path, 3)
    (path / name).unlink()
    if rest is not None:
        (path / name).write_bytes(rest)
    with pytest.raises(DataError, match=f"cannot be read .*{name}.*: remove it, and --resume"):
        checkpoints.read_checkpoint(path)


def test_one_of_an_older_peirce_says_no_sizes_and_is_read(tmp_path):
    path = make(tmp_path, 3)
    (path / checkpoints.STATE_FILE).write_text('{"examples": 3}')
    assert checkpoints.read_checkpoint(path)[0] == {"examples": 3}
    (path / checkpoints.REFERENCES_FILE).write_bytes(
        (path / checkpoints.REFERENCES_FILE).read_bytes()[:20]
    )
    with pytest.raises(DataError, match="cannot be read"):
        checkpoints.read_checkpoint(path)


def test_arrays_that_were_pickled_are_refused_unread(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (tmp_path.joinpath("was here").touch, ())

    path = make(tmp_path, 3)
    size = (path / checkpoints.REFERENCES_FILE).stat().st_size
    with (path / checkpoints.REFERENCES_FILE).open("wb") as file:
        np.savez(file, keys=np.array([Bomb()], object), values=np.zeros(1))
    new = (path / checkpoints.REFERENCES_FILE).stat().st_size
    state = (path / checkpoints.STATE_FILE).read_text()
    (path / checkpoints.STATE_FILE).write_text(state.replace(f": {size}", f": {new}"))
    with pytest.raises(DataError, match="allow_pickle"):
        checkpoints.read_checkpoint(path)
    assert not (tmp_path / "was here").exists()
