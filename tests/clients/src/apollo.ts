// A match played by Apollo Client: mutations over HTTP, updates over graphql-transport-ws.

import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { OperationTypeNode } from "graphql";
import { createClient } from "graphql-ws";
import WebSocket from "ws";

import * as api from "./generated/graphql.js";
import { choose, report, socketUrl, url } from "./player.js";

let authorization: string | undefined;
const http = new HttpLink({
  uri: new URL("/graphql", url).href,
  fetch: (input, init) => {
    const headers = new Headers(init?.headers);
    if (authorization) headers.set("authorization", authorization);
    return fetch(input, { ...init, headers });
  },
});
const sockets = createClient({
  url: socketUrl,
  webSocketImpl: WebSocket,
  connectionParams: () => ({ authorization }),
});
const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(sockets),
    http,
  ),
});

const guest = await client.mutate({
  mutation: api.SignInDocument,
  variables: { name: "Apollo" },
});
authorization = `Bearer ${guest.data?.signInAsGuest.token}`;
const created = await client.mutate({
  mutation: api.CreateMatchDocument,
  variables: { input: { seats: [{ kind: "PLAYER" }, { kind: "BOT" }, { kind: "BOT" }] } },
});
const matchId = created.data?.createMatch.match?.id;
if (!matchId) throw new Error(JSON.stringify(created));

const versions: number[] = [];
let status = "";
let moves = 0;

async function act(match: api.SightFragment): Promise<void> {
  const move = choose(match);
  if (!move || !matchId) return;
  const meta = { expectedVersion: match.version };
  moves += 1;
  if (move.kind === "hand") {
    const input = { matchId, flip: move.flip, meta };
    await client.mutate({ mutation: api.ChooseHandDocument, variables: { input } });
  } else if (move.kind === "show") {
    const input = { matchId, first: move.first, count: move.count, meta };
    await client.mutate({ mutation: api.ShowDocument, variables: { input } });
  } else {
    const input = { matchId, end: move.end, insertAt: move.insertAt, flip: move.flip, meta };
    await client.mutate({ mutation: api.ScoutDocument, variables: { input } });
  }
}

await new Promise<void>((resolve, reject) => {
  client
    .subscribe({ query: api.MatchUpdatesDocument, variables: { matchId }, fetchPolicy: "no-cache" })
    .subscribe({
      next: ({ data, error }) => {
        if (error || !data) {
          reject(error);
          return;
        }
        const update = data.matchUpdates;
        versions.push(update.version);
        status = update.match.status;
        act(update.match).catch(reject);
      },
      error: reject,
      complete: resolve,
    });
});
report(versions, status, moves);
await sockets.dispose();
client.stop();
