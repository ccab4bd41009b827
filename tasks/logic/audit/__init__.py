"""Whether instances in the published form are what the paper states about them (ABD, section 5 and
appendices C to F): `peirce tasks audit`.

reading.py (the files, as far as they can be read), checks.py (each instance), set_checks.py (all of a file, and its statistics).
What the paper leaves open is held to the recipes of abd_generation, which are read off the public
instances.
"""

from __future__ import annotations

from pathlib import Path

from ....records import Json


def audited(path: str | Path) -> dict[str, Json]:
    """The outcome as JSON. Raises `UsageError` and `DataError` of `reading.read_set`."""
    from . import set_checks
    from .checks import checks as of_instances
    from .reading import read_set

    found = read_set(path)
    checks = [*set_checks.of_files(found), *of_instances(found), *set_checks.checks(found)]
    return {
        "file": found.name,
        "instances": len(found.instances),
        "holdouts": sum(len(one.holdouts) for one in found.instances),
        "failed": sum(one.failed > 0 for one in checks),
        "checks": [one.as_json() for one in checks],
        "statistics": set_checks.rows(found),
    }
