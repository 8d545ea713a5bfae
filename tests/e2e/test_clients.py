"""Clients as others write them, made of the exported schemas alone, each playing a whole match."""

import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from gql import Client, gql
from gql.transport.httpx import HTTPXAsyncTransport
from gql.transport.websockets import WebsocketsTransport

from tests.conftest import Stack

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "clients"
INSTALL_SECONDS, RUN_SECONDS = 280, 60

needs_node = pytest.mark.skipif(
    shutil.which("npm") is None and not os.environ.get("CI"), reason="npm is not installed"
)


def npm(*arguments: str) -> None:
    result = subprocess.run(
        ["npm", *arguments],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="session")
def built() -> Path:
    """The clients' folder, installed and built once, whoever of several test processes is first."""
    installed = FOLDER / "node_modules" / ".package-lock.json"
    sources = [*FOLDER.glob("src/*.ts"), *FOLDER.glob("src/*.graphql"), FOLDER / "codegen.ts"]
    sources += [FOLDER / "package-lock.json"]
    sources += [ROOT / "schema" / name for name in ("schema.graphql", "openapi.json")]
    with (FOLDER / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        newest = max(source.stat().st_mtime for source in sources)
        if _older(installed, (FOLDER / "package-lock.json").stat().st_mtime):
            npm("ci", "--no-progress")
        if _older(FOLDER / "dist" / "rest.js", newest):
            npm("run", "build")
    return FOLDER


def _older(path: Path, time: float) -> bool:
    return not path.exists() or path.stat().st_mtime < time


def run(folder: Path, name: str, url: str) -> Any:
    result = subprocess.run(
        ["node", f"dist/{name}.js", url],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@needs_node
@pytest.mark.timeout(INSTALL_SECONDS + RUN_SECONDS)
@pytest.mark.parametrize("name", ["apollo", "sockets", "rest"])
def test_a_client_made_of_the_schema_plays_a_match(name, built, stack):
    report = run(built, name, stack.url)

    assert report["status"] == "FINISHED"
    assert report["moves"] > 3
    first, last = report["versions"][0], report["versions"][-1]
    assert report["versions"] == list(range(first, last + 1))


@needs_node
@pytest.mark.timeout(INSTALL_SECONDS + RUN_SECONDS)
def test_graphql_over_http_is_as_its_specification_asks(built, stack):
    report = run(built, "audit", stack.url)

    assert report["audits"] > 50
    # A GET with a query is what browsers can be made to send: the specification says MAY.
    assert [found for found in report["failed"] if not found.startswith("notice: MAY")] == []


SIGN_IN = gql('mutation { signInAsGuest(name: "Gql") { token } }')
CREATE = gql(
    """mutation { createMatch(input: {seats: [{kind: PLAYER}, {kind: BOT}, {kind: BOT}]}) {
         match { id } userErrors { code } } }"""
)
UPDATES = gql(
    """subscription ($match: ID!) { matchUpdates(matchId: $match) { version match { status
         you { legal { flip shows { first count } scout { ends } } } } } }"""
)
MOVES = {
    name: gql(
        f"mutation ($input: {type_}!) {{ {name}(input: $input) {{ userErrors {{ code }} }} }}"
    )
    for name, type_ in (
        ("chooseHand", "ChooseHandInput"),
        ("show", "ShowInput"),
        ("scout", "ScoutInput"),
    )
}


async def test_gql_plays_a_match(stack: Stack):
    schema = (ROOT / "schema" / "schema.graphql").read_text()
    async with Client(transport=HTTPXAsyncTransport(url=f"{stack.url}/graphql")) as stranger:
        token = (await stranger.execute(SIGN_IN))["signInAsGuest"]["token"]
    authorization = {"authorization": f"Bearer {token}"}
    http = HTTPXAsyncTransport(url=f"{stack.url}/graphql", headers=authorization)
    sockets = WebsocketsTransport(
        url=f"{stack.url.replace('http', 'ws', 1)}/graphql",
        init_payload=authorization,
        subprotocols=[WebsocketsTransport.GRAPHQLWS_SUBPROTOCOL],
    )
    status, moves = "", 0
    async with (
        Client(transport=http, schema=schema) as client,
        Client(transport=sockets) as follower,
    ):
        created = (await client.execute(CREATE))["createMatch"]
        match_id = created["match"]["id"]
        UPDATES.variable_values = {"match": match_id}
        async for data in follower.subscribe(UPDATES):
            match = data["matchUpdates"]["match"]
            status = match["status"]
            name, arguments = _move(match["you"]["legal"])
            if name is None:
                continue
            moves += 1
            MOVES[name].variable_values = {"input": {"matchId": match_id, **arguments}}
            await client.execute(MOVES[name])

    assert status == "FINISHED"
    assert moves > 3


def _move(legal: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    if legal["flip"]:
        return "chooseHand", {"flip": False}
    if legal["shows"]:
        return "show", max(legal["shows"], key=lambda show: show["count"])
    if legal["scout"]:
        return "scout", {"end": legal["scout"]["ends"][0], "insertAt": 0, "flip": False}
    return None, {}
