import { expect, test } from "vitest";
import { readMessage } from "./read-message.ts";

const MAX = 1000;
const filler = "x".repeat(5000);

/** Cuts a text into pieces of so many bytes. */
async function* pieces(text: string, bytes: number): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(text);
  for (let from = 0; from < all.length; from += bytes) yield all.subarray(from, from + bytes);
}

test("a message that is not too large is read as it came", async () => {
  const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ä" });

  for (const bytes of [1, 7, 5000]) expect(String(await readMessage(pieces(text, bytes), MAX))).toBe(text);
});

test.each([
  ["at its beginning", { id: 7, params: { filler } }, 7],
  ["at its end", { params: { filler }, id: 7 }, 7],
  ["that is a text with quotes and more", { params: { filler }, id: 'a"\\ü,}' }, 'a"\\ü,}'],
  ["beside others that are deeper", { params: { id: 1, arguments: [{ id: 2 }, '{"id":3}'] }, filler, id: 4 }, 4],
  ["after one that looks so in a text", { filler: `"id":1,${filler}"id":2`, id: 3 }, 3],
  ["that is none", { params: { filler }, id: { a: 1 } }, undefined],
  ["that is too long", { params: { filler }, id: "y".repeat(300) }, undefined],
  ["nowhere", { params: { filler, id: 1 } }, undefined],
  ["in a batch", [{ id: 1, filler }], undefined],
])("of one that is too large the id is found %s", async (_, message, id) => {
  for (const text of [JSON.stringify(message), JSON.stringify(message, null, 2)])
    for (const bytes of [1, 64, 100_000]) expect(await readMessage(pieces(text, bytes), MAX)).toEqual({ id });
});

test("of one without end not all is read", async () => {
  let bytes = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      bytes += 1024 * 1024;
      yield Buffer.alloc(1024 * 1024, 32);
    }
  }

  expect(await readMessage(endless(), MAX)).toEqual({ id: undefined });
  expect(bytes).toBeLessThan(32 * 1024 * 1024);
});
