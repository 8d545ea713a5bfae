"""Tracing that is off costs nothing, and is not even imported."""

import subprocess
import sys

from api import tracing

OFF = """
import sys
import api.server, workers.app, workers.sweeper
from api import tracing
tracing.set_up(False, "api")
with tracing.span("commit", match="m"):
    assert tracing.traceparent() == ""
# Redis's client looks for the rest by itself.
assert not [name for name in sys.modules if name.startswith("opentelemetry.sdk.trace")]
assert not [name for name in sys.modules if name.startswith("opentelemetry.exporter")]
"""
MISSING = """
import sys
sys.modules["opentelemetry.sdk"] = None
from api import tracing
tracing.set_up(True, "api")
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )


def test_nothing_is_imported_that_is_not_asked_for():
    done = run(OFF)

    assert done.returncode == 0, done.stderr


def test_a_missing_extra_is_said_in_a_line():
    done = run(MISSING)

    assert done.returncode == 1
    assert "scout-ringmaster[tracing]" in done.stderr
    assert "Traceback" not in done.stderr


def test_only_a_header_of_the_standard_form_is_a_trace():
    trace = "0af7651916cd43dd8448eb211c80319c"

    assert tracing.trace_of(f"00-{trace}-b7ad6b7169203331-01") == trace
    for text in (None, "", trace, f"00-{trace}-b7ad6b7169203331-01\n", "00-" + "z" * 32 + "-1-1"):
        assert tracing.trace_of(text) is None
