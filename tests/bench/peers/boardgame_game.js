// The game for boardgame.io, hands hidden by its `playerView`.
const { INVALID_MOVE } = require("boardgame.io/core");
const rules = require("./rules");

const move = (play) => ({ client: false, move: play }); // a client does not know what others hold

module.exports = {
  name: "scout",
  setup: ({ random }) => rules.setup((cards) => random.Shuffle(cards)),
  turn: { minMoves: 1, maxMoves: 1 },
  playerView: ({ G, playerID }) => ({
    ...G,
    hands: G.hands.map((hand, seat) => (String(seat) === playerID ? hand : hand.length)),
  }),
  moves: {
    show: move(({ G, playerID, random }, first, count) =>
      rules.show(G, Number(playerID), first, count, (cards) => random.Shuffle(cards))
        ? undefined
        : INVALID_MOVE,
    ),
    scout: move(({ G, playerID, random }, end, insertAt, flip) =>
      rules.scout(G, Number(playerID), end, insertAt, flip, (cards) => random.Shuffle(cards))
        ? undefined
        : INVALID_MOVE,
    ),
  },
};
