import { hash } from "node:crypto";

// A line is one JSON object: `seq`, counted from 1; `time`; what it says; `previous`, the hash of the line before; and `hash`,
// the SHA-256 of the line's own text up to there. So each line vouches for all before it.

/** Where a chain stands: the number and the hash of its last line. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** Before the first line. */
export const CHAIN_START: ChainHead = { seq: 0, hash: "0".repeat(64) };

/** Far more than the longest record. */
export const MAX_LINE_BYTES = 64 * 1024;

/** The line that comes after `head`, with its line break, and the head from then on. */
export function nextLine(head: ChainHead, fields: object, at: Date): { readonly text: string; readonly head: ChainHead } {
  const seq = head.seq + 1;
  const said = JSON.stringify({ seq, time: at.toISOString(), ...fields, previous: head.hash });
  const signed = said.slice(0, -1);
  const own = hash("sha256", signed);
  return { text: `${signed},"hash":"${own}"}\n`, head: { seq, hash: own } };
}

/** What a line says of its place in the chain, and all else it says. */
export interface ChainLine extends ChainHead {
  readonly time: string;
  readonly previous: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Reads a line without its line break. @returns why it is none, in words, if its text is not what its hash was made of */
export function readLine(text: string): ChainLine | string {
  const match = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/.exec(text);
  if (match === null) return "it is no line of an audit log";
  const [, signed = "", own = ""] = match;
  if (hash("sha256", signed) !== own) return "its text is not what its hash was made of";
  const { seq, time, previous, ...fields } = parse(`${signed}}`);
  if (typeof seq !== "number" || !Number.isSafeInteger(seq) || seq < 1 || typeof previous !== "string") return "it has no place in a chain";
  return { seq, hash: own, previous, time: String(time), fields };
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
