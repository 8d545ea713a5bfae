// A match played by graphql-ws alone: everything over one WebSocket.

import { print } from "graphql";
import type { TypedDocumentNode } from "@graphql-typed-document-node/core";
import { createClient } from "graphql-ws";
import WebSocket from "ws";

import * as api from "./generated/graphql.js";
import { choose, report, socketUrl } from "./player.js";

const open = (authorization?: string) =>
  createClient({
    url: socketUrl,
    webSocketImpl: WebSocket,
    connectionParams: authorization ? { authorization } : {},
  });

type Client = ReturnType<typeof open>;

async function once<Data, Variables extends Record<string, unknown>>(
  client: Client,
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  for await (const result of client.iterate<Data>({ query: print(document), variables })) {
    if (result.errors || !result.data) throw new Error(JSON.stringify(result.errors));
    return result.data;
  }
  throw new Error("no answer");
}

const stranger = open();
const guest = await once(stranger, api.SignInDocument, { name: "Sockets" });
await stranger.dispose();
const client = open(`Bearer ${guest.signInAsGuest.token}`);
const created = await once(client, api.CreateMatchDocument, {
  input: { seats: [{ kind: "PLAYER" }, { kind: "BOT", botLevel: "casual" }] },
});
const matchId = created.createMatch.match?.id;
if (!matchId) throw new Error(JSON.stringify(created));

const versions: number[] = [];
let status = "";
let moves = 0;
const updates = client.iterate<api.MatchUpdatesSubscription>({
  query: print(api.MatchUpdatesDocument),
  variables: { matchId, after: 0 },
});
for await (const { data, errors } of updates) {
  if (errors || !data) throw new Error(JSON.stringify(errors));
  const { version, match } = data.matchUpdates;
  versions.push(version);
  status = match.status;
  const move = choose(match);
  if (!move) continue;
  moves += 1;
  const meta = { expectedVersion: version, idempotencyKey: `${matchId}-${version}` };
  if (move.kind === "hand") {
    await once(client, api.ChooseHandDocument, { input: { matchId, flip: move.flip, meta } });
  } else if (move.kind === "show") {
    const { first, count } = move;
    await once(client, api.ShowDocument, { input: { matchId, first, count, meta } });
  } else {
    const { end, insertAt, flip } = move;
    await once(client, api.ScoutDocument, { input: { matchId, end, insertAt, flip, meta } });
  }
}
report(versions, status, moves);
await client.dispose();
