"""Audit whether published instances have the properties that the paper states (ABD, section 5).

`peirce tasks audit` runs the audit. `reading.py` reads the files and skips unreadable records,
`checks.py` checks each instance, and `set_checks.py` checks all instances of a file together and
computes statistics. Where the paper leaves a value open, the instances are compared with
`generation/recipes.py`, whose values were inferred from the public instances.
"""

from __future__ import annotations

from pathlib import Path

from ....records import Compute, Json
from ....tools.workers.computing import compute_here


def audit_file(path: str | Path, compute: Compute = compute_here) -> dict[str, Json]:
    """Return the results of an audit of a file of instances, as JSON.

    Args:
        path: the file.
        compute: where the references are judged.

    Raises:
        UsageError: there is no such file.
        DataError: the file does not contain published instances.
    """
    from . import set_checks
    from .checks import check_worlds as of_instances
    from .reading import read_set

    found = read_set(path, compute)
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
