"""Schemathesis against the running server: REST answers what its document says, links and all."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.app import create_app
from api.cli.embedded import free_port
from api.settings import Settings

EXAMPLES = os.environ.get("FUZZ_EXAMPLES", "2")  # `make fuzz` raises it
# Rules between fields, stale versions and used keys are no part of a JSON schema.
LEFT_OUT = "positive_data_acceptance"


def run(url: str, token: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Schemathesis's own command line, as anybody would run it."""
    return subprocess.run(
        [
            str(Path(sys.executable).with_name("st")),
            *("run", f"{url}/openapi.json", "--header", f"Authorization: Bearer {token}"),
            *("--max-examples", EXAMPLES, "--exclude-checks", LEFT_OUT, "--no-color", *more),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )


@pytest.fixture
def token(stack) -> str:
    answer = httpx.post(f"{stack.url}/v1/guests", json={"name": "Ann"})
    return answer.json()["token"]


def test_every_operation_answers_what_its_document_says(stack, token, tmp_path):
    log = stack.folder / "stderr.log"
    before = log.read_text()

    result = run(stack.url, token, tmp_path)

    assert result.returncode == 0, result.stdout
    assert "Stateful" in result.stdout
    assert "Traceback" not in log.read_text()[len(before) :]


@pytest.fixture
def planted(request, redis_url) -> Iterator[str]:
    """The address of a server of ours that tells of ``request.param`` instead of bot levels."""
    status, body = request.param

    async def wrong(_: Request) -> Response:
        return Response(body, status, media_type="application/json")

    app = create_app(Settings(redis_url=redis_url))
    app.router.routes.insert(0, Route("/v1/bot-levels", wrong))
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


@pytest.mark.parametrize(
    ("planted", "told"),
    [
        ((500, "{}"), "Server error"),
        ((418, "{}"), "Undocumented status code"),
        ((200, '{"botLevels": [{"name": 1}]}'), "Response violates schema"),
    ],
    indirect=["planted"],
)
def test_a_wrong_answer_would_be_found(planted, told, tmp_path):
    result = run(planted, "none", tmp_path, "--include-path", "/v1/bot-levels")

    assert result.returncode == 1
    assert told in result.stdout
