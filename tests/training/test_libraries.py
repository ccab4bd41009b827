"""Faults of the libraries that train are told apart from a full disk.

Internals: a fault of torch that is none of the disk's is raised within the guard itself.
"""

from __future__ import annotations

import pytest
from tiny_model import require

require()
from peirce.training.external_libraries import report_write_errors  # noqa: E402


def test_other_faults_keep_their_traceback(tmp_path):
    with pytest.raises(RuntimeError, match="shapes"), report_write_errors(tmp_path):
        raise RuntimeError("shapes do not fit")
