"""The rule of `make soak`: what is flat, and what grows."""

from math import sin

import pytest

from tests.soak.judging import grown, picture, read, rise

END = 1800
SAMPLES = range(0, END + 1, 10)


def curve(value):
    return [(float(at), float(value(at))) for at in SAMPLES]


def test_what_rises_at_first_and_then_stays_is_flat():
    warm = curve(lambda at: 100_000 + min(at, 600) * 100 + 900 * sin(at))

    assert grown({"rss/api": warm}) == []


@pytest.mark.parametrize(
    ("name", "leak"),
    [
        ("rss/api", lambda at: 100_000 + 8 * at),  # 7 MiB in the second half
        ("keys/log", lambda at: 40 + at / 20 + 3 * sin(at)),
        ("files/api", lambda at: 60 + at // 60),
        ("members/due", lambda at: 0 if at < 900 else at - 900),
        ("redis/memory", lambda at: 9_000 * 1.0002**at),
    ],
)
def test_what_goes_on_rising_is_not(name, leak):
    assert grown({name: curve(leak), "keys/code": curve(lambda _: 5)}) == [name]


def test_what_falls_is_flat():
    assert grown({"rss/api": curve(lambda at: 200_000 - 10 * at)}) == []


def test_a_curve_that_is_not_to_be_judged_is_not():
    curves = {"rss/api": curve(lambda at: 100 * at), "keys/log": curve(lambda at: at)}

    assert grown(curves, ["rss/"]) == ["keys/log"]


def test_a_kind_of_key_that_comes_late_is_judged_by_what_there_is():
    late = [(float(at), at * 10.0) for at in range(1500, END, 10)]

    assert grown({"keys/new": late, "keys/log": curve(lambda _: 5)}) == ["keys/new"]


def test_the_rise_is_that_of_the_second_half():
    assert rise(curve(lambda at: 2 * at), END) == pytest.approx(END)


def test_samples_are_read_and_drawn(tmp_path):
    path = tmp_path / "soak.csv"
    path.write_text("0.0,rss/api,1024\n10.0,rss/api,2048\n0.0,keys/log,3\n")

    curves = read(path)

    assert curves == {"rss/api": [(0, 1024), (10, 2048)], "keys/log": [(0, 3)]}
    assert "<polyline" in picture("Memory", "MiB", {"api": curves["rss/api"]}, 1024)
