// A match played by a client made of the OpenAPI document, and followed by EventSource.

import createClient from "openapi-fetch";
import { EventSource } from "eventsource";

import type { components, paths } from "./generated/rest.js";
import { choose, report, url } from "./player.js";

type Update = components["schemas"]["MatchUpdate"];

const baseUrl = url.origin;
const guest = await createClient<paths>({ baseUrl }).POST("/v1/guests", {
  body: { name: "Rest" },
});
if (!guest.data) throw new Error(guest.error.detail);
const authorization = `Bearer ${guest.data.token}`;
const client = createClient<paths>({ baseUrl, headers: { authorization } });
const created = await client.POST("/v1/matches", {
  body: { seats: [{ kind: "PLAYER" }, { kind: "BOT" }, { kind: "BOT" }, { kind: "BOT" }] },
  params: { header: { "Idempotency-Key": crypto.randomUUID() } },
});
if (!created.data) throw new Error(created.error.detail);
const path = { matchId: created.data.id };

async function act({ version, match }: Update): Promise<boolean> {
  const move = choose(match);
  if (!move) return false;
  const params = { path, header: { "If-Match": `"${version}"` } };
  const answer =
    move.kind === "hand"
      ? await client.POST("/v1/matches/{matchId}/hand", { params, body: { flip: move.flip } })
      : move.kind === "show"
        ? await client.POST("/v1/matches/{matchId}/show", {
            params,
            body: { first: move.first, count: move.count },
          })
        : await client.POST("/v1/matches/{matchId}/scout", {
            params,
            body: { end: move.end, insertAt: move.insertAt, flip: move.flip },
          });
  // A bot may have chosen its hand meanwhile: the next update asks again.
  if (answer.error && answer.error.code !== "STALE_VERSION") throw new Error(answer.error.detail);
  return true;
}

const versions: number[] = [];
let status = "";
let moves = 0;
await new Promise<void>((resolve, reject) => {
  const source = new EventSource(new URL(`/v1/matches/${path.matchId}/updates?after=0`, url), {
    fetch: (input, init) =>
      fetch(input, { ...init, headers: { ...init.headers, authorization } }),
  });
  source.addEventListener("update", (event) => {
    const update: Update = JSON.parse(event.data);
    versions.push(Number(event.lastEventId));
    status = update.match.status;
    act(update).then((acted) => (moves += Number(acted)), reject);
  });
  source.addEventListener("complete", () => {
    source.close();
    resolve();
  });
  source.addEventListener("problem", (event) => reject(new Error(event.data)));
});
report(versions, status, moves);
