"""Audits whether published instances are what the paper states (ABD, section 5, appendices C to F).

`peirce tasks audit` runs it. `reading.py` reads the files as far as they can be read, `checks.py`
checks each instance, and `set_checks.py` checks all instances of a file together and computes its
statistics. Where the paper leaves something open, the instances are held to the recipes of
`generation/recipes.py`, which were inferred from the public instances.
"""

from __future__ import annotations

from pathlib import Path

from ....records import Json


def audit_file(path: str | Path) -> dict[str, Json]:
    """Return the outcome of an audit as JSON.

    Raises:
        UsageError: there is no such file.
        DataError: the file is of another kind.
    """
    from . import set_checks
    from .checks import check_worlds as of_instances
    from .reading import read_set

    found = read_set(path)
    checks = [
        *set_checks.check_files(found),
        *of_instances(found),
        *set_checks.check_instances(found),
    ]
    return {
        "file": found.name,
        "instances": len(found.instances),
        "holdouts": sum(len(one.holdouts) for one in found.instances),
        "failed": sum(one.failed > 0 for one in checks),
        "checks": [one.as_json() for one in checks],
        "statistics": set_checks.compute_statistics(found),
    }
