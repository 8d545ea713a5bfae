"""Replays of matches played on the real stack, and the command that checks them."""

import asyncio
import json
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.cli.main import app
from engine.audit import audit
from tests.client import Client
from tests.conftest import until_finished

BOT = {"kind": "BOT"}
QUERY = "query ($m: ID!) { replay(matchId: $m) }"
VECTORS = Path(__file__).parents[1] / "engine" / "rules-vectors.json"


async def replay_of(client: Client, match_id: str) -> dict:
    return json.loads((await client.data(QUERY, m=match_id))["replay"])


@pytest.mark.parametrize("players", [2, 3, 4, 5])
async def test_the_replay_of_a_match_of_bots_passes_the_audit(client, players):
    match = await client.create(*[BOT] * players, visibility="PUBLIC")
    finished = await until_finished(client, match["id"])

    document = await replay_of(client, match["id"])

    assert audit(document) == []
    assert document["matchId"] == match["id"]
    assert document["deckCommitment"] == match["deckCommitment"]
    assert sha256(bytes.fromhex(document["secret"])).hexdigest() == match["deckCommitment"]
    assert document["totals"] == [seat["score"] for seat in finished["seats"]]
    assert document["winners"] == finished["winners"]


async def test_entropy_of_players_is_in_the_replay_and_its_deals(client, stack):
    match = await client.create(
        {"kind": "PLAYER"}, {"kind": "OPEN"}, BOT, entropy="tea-leaves", visibility="PUBLIC"
    )
    async with Client(stack.url) as bob:
        await bob.sign_in("Bob")
        await bob.join(matchId=match["id"], name="Bob", entropy="dice:4")
        await bob.by_id("leaveMatch", match["id"])
    await client.by_id("leaveMatch", match["id"])
    await until_finished(client, match["id"])

    document = await replay_of(client, match["id"])

    assert document["entropy"] == {"0": "tea-leaves", "1": "dice:4"}
    assert audit(document) == []


async def test_there_is_no_replay_before_the_end(client):
    match = await client.create_with_bots(3, visibility="PUBLIC")

    assert (await client.data(QUERY, m=match["id"]))["replay"] is None
    assert (await client.data(QUERY, m="m0-aaaaaaaaaaaaaaaa"))["replay"] is None


async def test_a_private_replay_is_for_those_seated(client, stack):
    match = await client.create(*[BOT] * 2)
    await until_finished(client, match["id"])
    async with Client(stack.url) as eve:
        await eve.sign_in("Eve")

        assert (await eve.data(QUERY, m=match["id"]))["replay"] is None
    assert await replay_of(client, match["id"])


def ringmaster(*arguments: str | Path) -> Result:
    """The command, in this process: to start one for each takes longer than what is tested."""
    ran = CliRunner().invoke(app, [*map(str, arguments)])
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran


async def test_the_audit_command_agrees_and_names_what_differs(client, tmp_path):
    match = await client.create(*[BOT] * 3, visibility="PUBLIC")
    await until_finished(client, match["id"])
    document = await replay_of(client, match["id"])
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(document))
    document["rounds"][0]["result"]["lines"][0]["total"] += 1
    bad.write_text(json.dumps(document))

    assert ringmaster("audit", good).exit_code == 0
    both = ringmaster("audit", good, bad)

    assert both.exit_code == 1
    (line,) = both.stdout.splitlines()
    assert "bad.json" in line
    assert "round 1" in line


@pytest.mark.parametrize(
    "content", [b'{"format": "ringmaster-rep', b"", b"\xff\xfe", b"[" * 100_000, None]
)
@pytest.mark.parametrize("command", ["audit", "vectors"])
def test_a_file_that_cannot_be_read_is_one_line_and_code_2(tmp_path, command, content):
    path = tmp_path / "file.json"
    if content is not None:
        path.write_bytes(content)

    ran = ringmaster(command, path)

    assert ran.exit_code == 2
    assert len(ran.stdout.splitlines()) == 1
    assert ran.stderr == ""


@pytest.mark.parametrize("content", ["1", "[]", "{}", '{"format": "other/1"}', "null"])
@pytest.mark.parametrize("command", ["audit", "vectors"])
def test_another_document_is_one_line_and_code_1(tmp_path, command, content):
    path = tmp_path / "file.json"
    path.write_text(content)

    ran = ringmaster(command, path)

    assert ran.exit_code == 1
    assert len(ran.stdout.splitlines()) == 1
    assert ran.stderr == ""


def test_the_vectors_command_agrees_with_the_rules():
    assert ringmaster("vectors", VECTORS).exit_code == 0


async def test_finished_matches_are_exported_and_audited_in_bulk(client, stack, tmp_path):
    matches = [await client.create(*[BOT] * n, visibility="PUBLIC") for n in (2, 3, 4)]
    private = await client.create(*[BOT] * 2)
    for match in (*matches, private):
        await until_finished(client, match["id"])
    path = tmp_path / "replays.ndjson"

    exported = await asyncio.to_thread(ringmaster, "export", "--url", stack.url, "--output", path)
    audited = await asyncio.to_thread(ringmaster, "audit", path)

    assert exported.exit_code == 0, exported.stderr
    found = {json.loads(line)["matchId"] for line in path.read_text().splitlines()}
    assert found >= {match["id"] for match in matches}
    assert private["id"] not in found
    assert audited.exit_code == 0
    assert f"rules, {len(path.read_text().splitlines())} in number" in audited.stderr


def test_a_bulk_file_names_the_lines_that_differ(tmp_path):
    good = (VECTORS.parent / "replays" / "replay-2-players.json").read_text().strip()
    bad = json.loads(good)
    bad["totals"][0] += 1
    path = tmp_path / "replays.ndjson"
    path.write_text("\n".join([good, json.dumps(bad), "", good, '{"format"', good]) + "\n")

    ran = ringmaster("audit", path)

    assert ran.exit_code == 2
    lines = ran.stdout.splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{path}:2", f"{path}:4"]


def test_a_file_of_fifty_megabytes_is_one_line(tmp_path):
    path = tmp_path / "huge.json"
    path.write_bytes(b'{"format": "' + b"x" * 50_000_000 + b'"}')
    many = tmp_path / "huge.ndjson"
    many.write_bytes(b"x" * 50_000_000 + b"\n")

    for huge in (path, many):
        ran = ringmaster("audit", huge)

        assert ran.exit_code == 2
        assert len(ran.stdout.splitlines()) == 1
        assert "16 MB" in ran.stdout


def test_an_export_without_a_server_is_one_line():
    ran = ringmaster("export", "--url", "http://127.0.0.1:9")

    assert ran.exit_code == 1
    assert len(ran.stderr.splitlines()) == 1


def test_a_failed_export_leaves_the_file_as_it_was_and_no_other(tmp_path):
    path = tmp_path / "replays.ndjson"
    path.write_text("before\n")

    assert ringmaster("export", "--url", "http://127.0.0.1:9", "--output", path).exit_code == 1
    assert path.read_text() == "before\n"
    assert list(tmp_path.iterdir()) == [path]


def test_an_export_to_where_no_file_can_be_is_one_line(tmp_path):
    (file := tmp_path / "file").touch()

    ran = ringmaster("export", "--url", "http://127.0.0.1:9", "--output", file / "replays.ndjson")

    assert (ran.exit_code, len(ran.stderr.splitlines())) == (1, 1)


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_a_bulk_file_without_a_replay_cannot_be_read(tmp_path, content):
    path = tmp_path / "replays.ndjson"
    path.write_text(content)

    ran = ringmaster("audit", path)

    assert (ran.exit_code, len(ran.stdout.splitlines())) == (2, 1)


def test_every_file_is_audited_whatever_the_ones_before_were(tmp_path):
    replays = VECTORS.parent / "replays"
    surrogate = tmp_path / "surrogate.json"
    document = json.loads((replays / "replay-2-players.json").read_text())
    surrogate.write_text(json.dumps({**document, "matchId": "\ud800"}))
    newline = tmp_path / "two\nlines.json"
    newline.write_text("{")
    missing = tmp_path / "missing.json"
    good = replays / "replay-3-players.json"

    ran = ringmaster("audit", surrogate, newline, missing, tmp_path, good)

    assert ran.exit_code == 2
    assert len(ran.stdout.splitlines()) == 4
    assert ran.stderr.splitlines() == [f"{good}: agrees with the rules"]


def test_one_broken_case_does_not_hide_the_others(tmp_path):
    document = json.loads(VECTORS.read_text())
    document["compare"][0] = []
    document["transitions"][0]["phase"] = 1.5
    document["transitions"][1]["expect"] = {"turn": 2, "note": "\ud800"}
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps(document))

    ran = ringmaster("vectors", path)

    assert ran.exit_code == 1
    assert [line.split(": ", 2)[1] for line in ran.stdout.splitlines()] == [
        "compare[0]",
        document["transitions"][0]["id"],
        document["transitions"][1]["id"],
    ]
