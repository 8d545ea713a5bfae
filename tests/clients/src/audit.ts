// The audit of GraphQL over HTTP that graphql-http publishes; one line per audit that fails.

import { auditServer } from "graphql-http";

import { url } from "./player.js";

const results = await auditServer({ url: new URL("/graphql", url).href });
const failed = results.filter((result) => result.status !== "ok");
console.log(
  JSON.stringify({
    audits: results.length,
    failed: failed.map(({ name, status }) => `${status}: ${name}`),
  }),
);
