import { hash } from "node:crypto";
import { printableJson } from "@rockbot/contracts";

// A line is one JSON object. It has `seq`, counted from 1, `time`, the record's own fields, and `previous`, the hash of
// the line before. Its last field is `hash`, the SHA-256 of the line's own bytes up to there. So each line vouches for
// all before it. A line escapes characters that a reader could take for a line break, or that show another text than is
// there.

/** Where a chain stands: the number and the hash of its last line. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** The head before the first line. */
export const CHAIN_START: ChainHead = { seq: 0, hash: "0".repeat(64) };

/** Far more than the longest line that `nextLine` makes of fields whose texts are bounded. */
export const MAX_LINE_BYTES = 64 * 1024;

/** The line that comes after `head`, with its line break, and the head from then on. */
export function nextLine(
  head: ChainHead,
  fields: object,
  at: Date,
): { readonly text: string; readonly head: ChainHead } {
  const seq = head.seq + 1;
  const said = printableJson({ seq, time: at.toISOString(), ...fields, previous: head.hash });
  const signed = said.slice(0, -1);
  const own = hash("sha256", signed);
  return { text: `${signed},"hash":"${own}"}\n`, head: { seq, hash: own } };
}

/** A line's place in the chain, and its other fields. */
export interface ChainLine extends ChainHead {
  readonly time: string;
  readonly previous: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const NAME = Buffer.from(',"hash":"');
const END = Buffer.from('"}');
const HEX_DIGITS = 64;

/**
 * Reads the bytes of a line without its line break.
 * @returns why it is none, in words, if they are not what its hash was made of
 */
export function readLine(bytes: Buffer): ChainLine | string {
  const at = bytes.length - NAME.length - HEX_DIGITS - END.length;
  const own = bytes.toString("latin1", at + NAME.length, at + NAME.length + HEX_DIGITS);
  const isOurs = at > 0 && bytes.subarray(at, at + NAME.length).equals(NAME) && bytes.subarray(-END.length).equals(END);
  if (!isOurs || !/^[0-9a-f]{64}$/.test(own)) return "it is not a line of an audit log";
  const signed = bytes.subarray(0, at);
  if (hash("sha256", signed) !== own) return "its text does not match its hash";
  const { seq, time, previous, ...fields } = parse(`${signed}}`);
  if (typeof seq !== "number" || !Number.isSafeInteger(seq) || seq < 1 || typeof previous !== "string")
    return "it has no place in a chain";
  return { seq, hash: own, previous, time: String(time), fields };
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
