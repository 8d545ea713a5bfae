// What whoever measures says by lines on standard input, answered by lines of JSON:
// `play`, `pause`, and `count` for the moves since the last time.
const readline = require("node:readline");

function control(moves) {
  let playing = false;
  let told = 0;
  let waiting = [];
  const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");
  const lines = readline.createInterface({ input: process.stdin });
  lines.on("line", (line) => {
    if (line === "count") {
      const now = moves();
      say({ moves: now - told, latencies: [], finished: [] });
      told = now;
      return;
    }
    playing = line === "play";
    say({});
    if (!playing) return;
    const held = waiting;
    waiting = [];
    held.forEach((move) => move());
  });
  lines.on("close", () => process.exit(0));
  return { ready: () => say({ ready: true }), turn: (move) => (playing ? move() : waiting.push(move)) };
}

module.exports = { control };
