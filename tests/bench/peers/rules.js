// The game that both servers host: the shape of ours, four seats with hidden hands, one move after
// another. A round that is over is dealt anew, so that play goes on for as long as is measured.
const SEATS = 4;
const HAND = 11;

function deck(shuffle) {
  const cards = [];
  for (let a = 1; a <= 10; a++) for (let b = a + 1; b <= 10; b++) cards.push({ top: a, bottom: b });
  return shuffle(cards.filter((card) => card.top !== 9 || card.bottom !== 10));
}

function deal(game, shuffle) {
  const cards = deck(shuffle);
  game.hands = Array.from({ length: SEATS }, (_, seat) => cards.slice(seat * HAND, (seat + 1) * HAND));
  game.table = [];
  game.owner = -1;
  game.scouts = 0;
  game.captured = [0, 0, 0, 0];
  game.chips = [0, 0, 0, 0];
  game.round += 1;
}

function setup(shuffle) {
  const game = { round: 0, moves: 0, scores: [0, 0, 0, 0] };
  deal(game, shuffle);
  return game;
}

// 0 if they are no set; a longer set beats a shorter one, equal cards beat a run.
function strength(cards) {
  if (cards.length === 0) return 0;
  const step = cards.length > 1 ? cards[1].top - cards[0].top : 0;
  if (Math.abs(step) > 1) return 0;
  for (let i = 1; i < cards.length; i++) if (cards[i].top - cards[i - 1].top !== step) return 0;
  const smallest = Math.min(cards[0].top, cards[cards.length - 1].top);
  return cards.length * 32 + (step === 0 ? 16 : 0) + smallest;
}

function score(game, shuffle) {
  for (let seat = 0; seat < SEATS; seat++) {
    game.scores[seat] += game.captured[seat] + game.chips[seat] - game.hands[seat].length;
  }
  deal(game, shuffle);
}

// Both answer whether the move was legal; if not, nothing has changed.
function show(game, seat, first, count, shuffle) {
  const cards = game.hands[seat].slice(first, first + count);
  if (cards.length !== count || strength(cards) <= strength(game.table)) return false;
  game.hands[seat].splice(first, count);
  game.captured[seat] += game.table.length;
  game.table = cards;
  game.owner = seat;
  game.scouts = 0;
  game.moves += 1;
  if (game.hands[seat].length === 0) score(game, shuffle);
  return true;
}

function scout(game, seat, end, insertAt, flip, shuffle) {
  const hand = game.hands[seat];
  if (game.table.length === 0 || insertAt < 0 || insertAt > hand.length) return false;
  const card = end === "LEFT" ? game.table.shift() : game.table.pop();
  hand.splice(insertAt, 0, flip ? { top: card.bottom, bottom: card.top } : card);
  game.chips[game.owner] += 1;
  game.scouts += 1;
  game.moves += 1;
  if (game.scouts === SEATS - 1) score(game, shuffle);
  return true;
}

// The longest set that may be shown, as our clients choose it; null: there is none.
function bestShow(hand, table) {
  const limit = strength(table);
  let best = null;
  for (let first = 0; first < hand.length; first++) {
    for (let count = 1; first + count <= hand.length; count++) {
      const found = strength(hand.slice(first, first + count));
      if (found === 0) break;
      if (found > limit && (best === null || count > best.count)) best = { first, count };
    }
  }
  return best;
}

const asText = (hand) => hand.map((card) => `${card.top}/${card.bottom}`).join();

function fromText(text) {
  return text.split(",").map((card) => {
    const [top, bottom] = card.split("/").map(Number);
    return { top, bottom };
  });
}

module.exports = { SEATS, setup, show, scout, bestShow, asText, fromText };
