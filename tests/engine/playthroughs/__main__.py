"""Write every playthrough anew."""

from tests.engine.playthroughs import PLAYTHROUGHS, written

for playthrough in PLAYTHROUGHS:
    playthrough.path.write_text(written(playthrough), encoding="utf-8", newline="\n")
