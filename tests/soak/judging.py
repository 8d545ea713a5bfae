"""Whether a curve is flat, and a picture of it."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Final

Curve = list[tuple[float, float]]  # seconds, value
SHARE: Final = 0.05  # of its mean that a curve may rise in the second half
FLOORS: Final = {"rss": 2048.0, "redis": 1024.0, "files": 8.0, "keys": 16.0, "members": 32.0}


def read(path: Path) -> dict[str, Curve]:
    """The curves of a file of samples: lines of seconds, name, value."""
    curves: dict[str, Curve] = defaultdict(list)
    with path.open(newline="") as lines:
        for seconds, name, value in csv.reader(lines):
            curves[name].append((float(seconds), float(value)))
    return dict(curves)


def second_half(curve: Curve, end: float) -> Curve:
    return [point for point in curve if point[0] >= end / 2]


def slope(curve: Curve) -> float:
    """By how much a curve rises a second, by least squares."""
    middle, mean = fmean(at for at, _ in curve), fmean(value for _, value in curve)
    spread = sum((at - middle) ** 2 for at, _ in curve)
    return sum((at - middle) * (value - mean) for at, value in curve) / spread if spread else 0.0


def rise(curve: Curve, end: float) -> float:
    """By how much a curve rises in the second half of a run, by its slope there."""
    half = second_half(curve, end)
    return slope(half) * (half[-1][0] - half[0][0]) if len(half) > 1 else 0.0


def allowed(name: str, curve: Curve, end: float) -> float:
    """By how much it may: a share of its mean, and a floor for what is small or in steps."""
    half = second_half(curve, end)
    mean = fmean(value for _, value in half) if half else 0.0
    return max(SHARE * mean, FLOORS[name.split("/", maxsplit=1)[0]])


def grown(curves: dict[str, Curve], unjudged: Sequence[str] = ()) -> list[str]:
    """The names of the curves that rise, but for those that begin with one of ``unjudged``."""
    end = max(curve[-1][0] for curve in curves.values())
    return [
        name
        for name, curve in sorted(curves.items())
        if not name.startswith(tuple(unjudged)) and rise(curve, end) > allowed(name, curve, end)
    ]


WIDTH, HEIGHT, LEFT, TOP = 640, 260, 60, 20
COLOURS: Final = ("#1b6ca8", "#c0392b", "#27805a", "#8e5bb5", "#b7791f", "#555555", "#0f9aa8")


def picture(title: str, unit: str, curves: dict[str, Curve], divisor: float = 1) -> str:
    """Curves of one unit as an SVG document; the second half is shaded."""
    end = max(curve[-1][0] for curve in curves.values()) or 1
    top = max(value for curve in curves.values() for _, value in curve) / divisor * 1.1 or 1
    right, bottom = LEFT + WIDTH, TOP + HEIGHT

    def points(curve: Curve) -> Iterable[str]:
        for at, value in curve:
            yield f"{LEFT + at / end * WIDTH:.1f},{bottom - value / divisor / top * HEIGHT:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right + 150} {bottom + 30}">',
        "<style>text { font: 11px sans-serif }</style>",
        f'<rect width="{right + 150}" height="{bottom + 30}" fill="white"/>',
        f'<path d="M{LEFT + WIDTH / 2},{TOP}h{WIDTH / 2}v{HEIGHT}h-{WIDTH / 2}" fill="#f3f3f3"/>',
        f'<text x="{LEFT}" y="13">{title}, {unit}</text>',
        f'<path d="M{LEFT},{TOP}V{bottom}H{right}" fill="none" stroke="#888"/>',
    ]
    for share in (0, 0.5, 1):
        y = bottom - share * HEIGHT
        value, minutes = f"{top * share:,.0f}", f"{end * share / 60:.0f} min"
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{value}</text>')
        x = LEFT + share * WIDTH
        parts.append(f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{minutes}</text>')
    for number, (name, curve) in enumerate(sorted(curves.items())):
        colour = COLOURS[number % len(COLOURS)]
        line = " ".join(points(curve))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}"/>')
        y = TOP + 14 + 15 * number
        parts.append(f'<text x="{right + 8}" y="{y}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
