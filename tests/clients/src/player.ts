// What a player does who takes the first legal move it is handed; the same for every client.

import type { SightFragment } from "./generated/graphql.js";

export type Move =
  | { kind: "hand"; flip: boolean }
  | { kind: "show"; first: number; count: number }
  | { kind: "scout"; end: "LEFT" | "RIGHT"; insertAt: number; flip: boolean };

type Sight = Pick<SightFragment, "you">;

export function choose(match: Sight): Move | undefined {
  const legal = match.you?.legal;
  if (!legal) return undefined;
  if (legal.flip) return { kind: "hand", flip: false };
  const longest = [...legal.shows].sort((one, other) => other.count - one.count)[0];
  if (longest) return { kind: "show", first: longest.first, count: longest.count };
  const end = legal.scout?.ends[0];
  return end && { kind: "scout", end, insertAt: 0, flip: false };
}

export function report(versions: number[], status: string, moves: number): void {
  console.log(JSON.stringify({ versions, status, moves }));
}

export const url = new URL(process.argv[2] ?? "http://127.0.0.1:8000");
export const socketUrl = new URL("/graphql", url.href.replace(/^http/, "ws")).href;
