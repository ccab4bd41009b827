"""What Peirce depends on has bounds, CI installs the versions of a lock file, and the license ships."""

from __future__ import annotations

import importlib.metadata
import os
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCK = (ROOT / ".ci/lock.txt").read_text("utf-8").splitlines()
CONSTRAINTS = (ROOT / ".ci/constraints.txt").read_text("utf-8").splitlines()
OWN = "peirce"


def pins(lines: list[str]) -> dict[str, str]:
    """Return the version of each package in lines `name==version`."""
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def requirements() -> list[Requirement]:
    project = PROJECT["project"]
    texts = [*project["dependencies"], *PROJECT["build-system"]["requires"]]
    texts += [text for extra in project["optional-dependencies"].values() for text in extra]
    return [one for one in map(Requirement, texts) if one.name != OWN]


@pytest.mark.parametrize("requirement", requirements(), ids=lambda one: one.name)
def test_every_requirement_has_a_lower_and_an_upper_bound(requirement: Requirement) -> None:
    operators = {bound.operator for bound in requirement.specifier}
    assert ">=" in operators and "<" in operators


def test_the_lock_pins_every_requirement_within_its_bounds() -> None:
    pinned = pins(LOCK) | pins(CONSTRAINTS)
    builds = {"setuptools"}  # pip installs it in an environment of its own
    missing = [
        str(one)
        for one in requirements()
        if one.name not in builds
        and pinned.get(canonicalize_name(one.name), "") not in one.specifier
    ]
    assert missing == [], "`make lock` renews .ci/lock.txt"


def test_the_lock_holds_versions_alone_and_leaves_torch_to_the_constraints() -> None:
    wrong = [
        line for line in LOCK if not re.fullmatch(r"(#.*|[a-z0-9.-]+==[0-9][0-9a-z.]*|)", line)
    ]
    assert wrong == []
    assert "torch" not in pins(LOCK) and set(pins(CONSTRAINTS)) == {"torch"}
    assert "://" not in "\n".join(LOCK)


def test_ci_installed_the_versions_of_the_lock() -> None:
    if "lock.txt" not in os.environ.get("PIP_CONSTRAINT", ""):
        pytest.skip("NOT INSTALLED FROM THE LOCK FILE: only .ci/run installs these versions")
    pinned = pins(LOCK)
    installed = {
        canonicalize_name(one.metadata["Name"]): one.version
        for one in importlib.metadata.distributions()
    }
    for name in (OWN, "pip", "setuptools", "torch"):
        installed.pop(name, None)
    assert {name: pinned.get(name) for name in installed} == installed


def test_the_declared_license_ships_with_the_package() -> None:
    metadata = importlib.metadata.metadata(OWN)
    assert metadata["License-Expression"] == PROJECT["project"]["license"] == "MIT"
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert (ROOT / "LICENSE").read_text("utf-8").startswith("MIT License\n")
