// boardgame.io's server: `node boardgame_server.js PORT [REDIS_URL]`. With Redis, every state is
// written to it before the move is told; it is read from memory, so that is one write a move.
const { Server, Origins } = require("boardgame.io/server");
const { control } = require("./control");
const game = require("./boardgame_game");

class Stored {
  constructor(redis) {
    this.redis = redis;
    this.matches = new Map();
  }
  type() {
    return 1; // asynchronous
  }
  async connect() {
    await this.redis.connect();
  }
  async createMatch(id, { initialState, metadata }) {
    this.matches.set(id, { state: initialState, initialState, metadata, log: [] });
    await this.redis.set(id, JSON.stringify(initialState));
  }
  async setState(id, state, log) {
    const match = this.matches.get(id);
    match.state = state;
    if (log) match.log.push(...log);
    await this.redis.set(id, JSON.stringify(state));
  }
  async setMetadata(id, metadata) {
    this.matches.get(id).metadata = metadata;
  }
  async fetch(id, wanted) {
    const match = this.matches.get(id) ?? {};
    return Object.fromEntries(Object.keys(wanted).map((name) => [name, match[name]]));
  }
  async wipe(id) {
    this.matches.delete(id);
  }
  async listMatches() {
    return [...this.matches.keys()];
  }
}

const [port, redisUrl] = process.argv.slice(2);
console.log = () => {}; // standard output is for `control`
const db = redisUrl && new Stored(require("redis").createClient({ url: redisUrl }));
const server = Server({ games: [game], origins: [Origins.LOCALHOST], ...(db && { db }) });
const { ready } = control(() => 0);
server.run({ port: Number(port), callback: ready });
