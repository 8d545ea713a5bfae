"""``ringmaster play`` and ``ringmaster watch`` as processes with pipes."""

import asyncio
import re
import shlex
import sys

import pytest

from api.cli.terminal.errors import TerminalError
from api.cli.terminal.seating import Wish, check, take_seat
from engine.notation import parse_view
from tests.cli.conftest import SECONDS, play_out, ringmaster, start, take_part
from tests.cli.proxy import Proxy

PLAY_THE_FIRST = "moves\n1\n"


def way_back(out: str) -> list[str]:
    """The options of the line that tells how to come back."""
    found = re.search(r"Come back with: ringmaster play (.*)$", out, re.MULTILINE)
    assert found, out
    return shlex.split(found.group(1))


def winners(out: str) -> list[str]:
    return re.findall(r"^.* wins? the match\.$", out, re.MULTILINE)


async def until(process: asyncio.subprocess.Process, text: str) -> str:
    """What a process prints until it has printed ``text``."""
    assert process.stdout
    out = ""
    async with asyncio.timeout(SECONDS):
        while text not in out:
            data = await process.stdout.read(4096)
            assert data, out
            out += data.decode()
    return out


async def test_a_match_that_plays_itself(stack):
    ended = await ringmaster("play", "--url", stack.url, "--auto", "--players", "3")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.count("is over:") == 3
    assert len(winners(ended.out)) == 1


async def test_a_match_played_through_a_pipe(stack):
    commands = "nonsense\nshow 99 1\n" + PLAY_THE_FIRST * 500
    ended = await ringmaster(
        "play", "--url", stack.url, "--players", "2", "--name", "Ann", input_=commands
    )
    assert (ended.code, ended.err) == (0, "")
    assert "There is no such command" in ended.out
    assert "`keep` or `flip`" in ended.out  # what helps who shows before choosing
    assert "Ann (you)" in ended.out
    assert len(winners(ended.out)) == 1


async def test_input_that_ends_early_and_the_way_back(stack):
    begun = await ringmaster("play", "--url", stack.url, "--players", "3", input_="keep\n")
    assert begun.code == 1
    assert "The input ended before the match did." in begun.out
    assert begun.err == ""
    options = way_back(begun.out)
    ended = await ringmaster("play", *options, "--auto")
    assert ended.code == 0
    assert len(winners(ended.out)) == 1
    watched = await ringmaster("watch", options[-1], "--url", stack.url, "--token", options[3])
    assert (watched.code, winners(watched.out)) == (0, winners(ended.out))


async def test_two_people_and_a_bot(stack):
    host = await start("play", "--url", stack.url, "--players", "3", "--open", "1", "--auto")
    code = re.search(r"Join code: (\w+)", await until(host, "lets bots take"))
    assert code
    guest = await ringmaster("play", "--url", stack.url, "--join", code.group(1), "--auto")
    async with asyncio.timeout(SECONDS):
        out, _ = await host.communicate()
    assert (host.returncode, guest.code) == (0, 0)
    assert len(winners(guest.out)) == len(winners(out.decode())) == 1


async def test_the_server_goes_away_and_comes_back(stack):
    async with Proxy(stack.url) as proxy:
        process = await start("play", "--url", proxy.url, "--players", "2")
        out = await until(process, "Turned over")
        await proxy.down()
        out += await until(process, "reconnecting")
        assert process.stdin
        process.stdin.write(b"keep\n")
        await asyncio.sleep(0.5)
        await proxy.up()
        out += await until(process, "You have chosen.")
        rest, err = await process.communicate(b"")
    out += rest.decode()
    assert "Connected again." in out
    assert "Traceback" not in out + err.decode()
    assert process.returncode == 1  # the pipe ended before the match


async def test_leaving_gives_the_seat_to_a_bot(stack):
    ended = await ringmaster("play", "--url", stack.url, input_="quit\nstay\nkeep\nquit\nleave\n")
    assert ended.code == 0
    assert "You have left the match." in ended.out
    back = await ringmaster("play", *way_back(ended.out))
    assert back.code == 1
    assert back.err.count("\n") == 1


async def test_what_cannot_be_begun_is_told_in_one_line(stack):
    for arguments, said in [
        (("play", "--url", "http://127.0.0.1:9"), "No server at http://127.0.0.1:9"),
        (("play", "--url", stack.url, "--join", "NOSUCH"), "No match has this join code"),
        (("watch", "mf-aaaaaaaaaaaaaaaa", "--url", stack.url), "There is no match mf-aaaa"),
    ]:
        ended = await ringmaster(*arguments)
        assert (ended.code, ended.out) == (1, ""), arguments
        assert said in ended.err
        assert ended.err.count("\n") == 1


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (Wish("", match="m0-aaaaaaaaaaaaaaaa"), "add --token"),
        (Wish("", match="m0-aaaaaaaaaaaaaaaa", token="t", join="ABC"), "either"),
        (Wish("", players=2, open_seats=2), "at most 1"),
        (Wish("", level="divine"), "no such level"),
        (Wish("", name=""), "name"),
        (Wish("", match="m0-aaaaaaaaaaaaaaaa", token="own"), "has a seat"),
    ],
)
async def test_a_wish_that_cannot_be_granted(client, wish, said):
    if wish.token == "own":
        await client.sign_in("Ann")
    with pytest.raises(TerminalError, match=said):  # noqa: PT012 - one or the other
        check(wish)
        await take_seat(client, wish)


async def test_a_match_of_bots_is_watched_to_its_end(stack, client):
    await client.sign_in("Ann")
    match = await client.create([{"kind": "BOT"}] * 3, "PUBLIC")
    ended = await ringmaster("watch", match["id"], "--url", stack.url)
    assert (ended.code, ended.err) == (0, "")
    assert len(winners(ended.out)) == 1


async def test_a_match_is_watched_as_lines_of_notation(stack, client):
    await client.sign_in("Ann")
    match = await client.create([{"kind": "BOT"}] * 3, "PUBLIC")
    ended = await ringmaster("watch", match["id"], "--url", stack.url, "--notation")

    lines = ended.out.splitlines()
    versions = [int(line.split(" ", 1)[0]) for line in lines]
    assert versions == list(range(versions[0], versions[0] + len(lines)))
    assert parse_view(lines[-1].split(" ", 1)[1]).status == "FINISHED"
    assert all(parse_view(line.split(" ", 1)[1]).you is None for line in lines)


async def test_a_spectator_sees_what_happens_and_no_hand(stack, client):
    match = await take_part(client, public=True)
    process = await start("watch", match["id"], "--url", stack.url)
    out = await until(process, "score")
    await play_out(client, match)
    async with asyncio.timeout(SECONDS):
        rest, err = await process.communicate()
    out += rest.decode()
    assert (process.returncode, err) == (0, b"")
    assert re.search(r"^Ann shows [\d ]+", out, re.MULTILINE)
    assert out.count("is over:") == 3
    assert "Your hand" not in out


async def test_the_front_end_needs_nothing_but_the_public_api():
    """Only itself of the four packages is loaded."""
    code = (
        "import sys, api.cli.terminal.play, api.cli.terminal.watch\n"
        "packages = ('api', 'engine', 'schema', 'workers')\n"
        "print(*(name for name in sys.modules if name.split('.')[0] in packages))\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE
    )
    loaded = (await process.communicate())[0].decode().split()
    assert {n for n in loaded if not n.startswith("api.cli.terminal")} == {"api", "api.cli"}
