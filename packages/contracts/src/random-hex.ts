import { randomFillSync } from "node:crypto";

/** Random bytes are cheap by the kilobyte and dear by the call: two ids a tool call were a tenth of its cost in memory. */
const pool = Buffer.alloc(4096);
let at = pool.length;

/** So many random bytes, 4096 at most, as lower-case hex digits. */
export function randomHex(bytes: number): string {
  if (at + bytes > pool.length) {
    randomFillSync(pool);
    at = 0;
  }
  at += bytes;
  return pool.toString("hex", at - bytes, at);
}
