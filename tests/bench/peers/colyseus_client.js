// Four of Colyseus's own clients at each of N matches: `node colyseus_client.js PORT N`.
const { Client } = require("colyseus.js");
const { control } = require("./control");
const { SEATS, bestShow, fromText } = require("./rules");

const [port, number] = process.argv.slice(2);
const moves = new Map(); // match -> accepted moves, as its first seat is told
const { ready, turn } = control(() => [...moves.values()].reduce((sum, each) => sum + each, 0));

function act(room, seat, state) {
  const best = bestShow(fromText(state.seats[seat].hand), [...state.table]);
  if (best) room.send("show", best);
  else room.send("scout", { end: "LEFT", insertAt: 0, flip: false });
}

async function sit(room, seat) {
  let acted = -1;
  await new Promise((connected) => {
    room.onStateChange((state) => {
      connected();
      if (seat === 0) moves.set(room.roomId, state.moves);
      if (state.turn !== seat || state.moves <= acted) return;
      acted = state.moves;
      turn(() => act(room, seat, state));
    });
  });
}

async function main() {
  const client = new Client(`ws://127.0.0.1:${port}`);
  for (let n = 0; n < Number(number); n++) {
    const host = await client.create("scout");
    await sit(host, 0);
    for (let seat = 1; seat < SEATS; seat++) await sit(await client.joinById(host.roomId), seat);
  }
  ready();
}

main();
