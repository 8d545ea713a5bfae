// Four of boardgame.io's own clients at each of N matches: `node boardgame_client.js PORT N`.
const { Client, LobbyClient } = require("boardgame.io/client");
const { SocketIO } = require("boardgame.io/multiplayer");
const { control } = require("./control");
const { SEATS, bestShow } = require("./rules");
const game = require("./boardgame_game");

const [port, number] = process.argv.slice(2);
const server = `http://127.0.0.1:${port}`;
const moves = new Map(); // match -> accepted moves, as its first seat is told
const { ready, turn } = control(() => [...moves.values()].reduce((sum, each) => sum + each, 0));

function act(client, seat, state) {
  const best = bestShow(state.G.hands[seat], state.G.table);
  if (best) client.moves.show(best.first, best.count);
  else client.moves.scout("LEFT", 0, false);
}

async function sit(lobby, matchID, seat) {
  const playerID = String(seat);
  const joined = await lobby.joinMatch("scout", matchID, { playerID, playerName: "P" });
  const socketOpts = { transports: ["websocket"] };
  const client = Client({
    game,
    numPlayers: SEATS,
    matchID,
    playerID,
    credentials: joined.playerCredentials,
    multiplayer: SocketIO({ server, socketOpts }),
    debug: false,
  });
  let acted = -1;
  await new Promise((connected) => {
    client.subscribe((state) => {
      if (state === null) return;
      connected();
      if (seat === 0) moves.set(matchID, state.G.moves);
      if (state.ctx.currentPlayer !== playerID || state.G.moves <= acted) return;
      acted = state.G.moves;
      turn(() => act(client, seat, state));
    });
    client.start();
  });
}

async function main() {
  const lobby = new LobbyClient({ server });
  for (let n = 0; n < Number(number); n++) {
    const { matchID } = await lobby.createMatch("scout", { numPlayers: SEATS });
    for (let seat = 0; seat < SEATS; seat++) await sit(lobby, matchID, seat);
  }
  ready();
}

main();
