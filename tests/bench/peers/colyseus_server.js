// Colyseus's server: `node colyseus_server.js PORT`. Patches are sent after each move, not by a
// timer; hands are seen by their own seat's view alone.
const { Room, Server } = require("@colyseus/core");
const { ArraySchema, StateView, schema } = require("@colyseus/schema");
const { WebSocketTransport } = require("@colyseus/ws-transport");
const { control } = require("./control");
const rules = require("./rules");

const Card = schema({ top: "uint8", bottom: "uint8" });
const Seat = schema({
  hand: { type: "string", view: true }, // arrays that are filtered cannot be inserted into
  size: "uint8",
  captured: "uint8",
  chips: "uint8",
  score: "int16",
});
const Match = schema({
  seats: { array: Seat },
  table: { array: Card },
  owner: "int8",
  scouts: "uint8",
  round: "uint16",
  moves: "uint32",
  turn: "uint8",
});

function shuffle(cards) {
  for (let i = cards.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [cards[i], cards[j]] = [cards[j], cards[i]];
  }
  return cards;
}

const cardsOf = (cards) => new ArraySchema(...cards.map((card) => new Card(card)));

class Scout extends Room {
  maxClients = rules.SEATS;
  patchRate = null;

  onCreate() {
    this.game = rules.setup(shuffle);
    this.state = new Match({ seats: new ArraySchema(), table: new ArraySchema(), turn: 0 });
    for (let seat = 0; seat < rules.SEATS; seat++) {
      this.state.seats.push(new Seat());
    }
    this.tell(this.game.hands.map((_, seat) => seat));
    this.onMessage("show", (client, { first, count }) =>
      this.move(client, (seat) => rules.show(this.game, seat, first, count, shuffle)),
    );
    this.onMessage("scout", (client, { end, insertAt, flip }) =>
      this.move(client, (seat) => rules.scout(this.game, seat, end, insertAt, flip, shuffle)),
    );
  }

  onJoin(client) {
    client.userData = { seat: this.clients.length - 1 };
    client.view = new StateView();
    client.view.add(this.state.seats[client.userData.seat]);
    this.broadcastPatch();
  }

  move(client, play) {
    const { seat } = client.userData;
    const { round } = this.game;
    if (seat !== this.state.turn || !play(seat)) return;
    this.state.turn = (seat + 1) % rules.SEATS;
    this.tell(round === this.game.round ? [seat] : [0, 1, 2, 3]);
    this.broadcastPatch();
  }

  // The state that is synchronised, from the game.
  tell(hands) {
    const { game, state } = this;
    for (const seat of hands) state.seats[seat].hand = rules.asText(game.hands[seat]);
    state.seats.forEach((shown, seat) => {
      shown.size = game.hands[seat].length;
      shown.captured = game.captured[seat];
      shown.chips = game.chips[seat];
      shown.score = game.scores[seat];
    });
    state.table = cardsOf(game.table);
    for (const name of ["owner", "scouts", "round", "moves"]) state[name] = game[name];
  }
}

const server = new Server({ transport: new WebSocketTransport(), greet: false });
server.define("scout", Scout);
const { ready } = control(() => 0);
server.listen(Number(process.argv[2])).then(ready);
