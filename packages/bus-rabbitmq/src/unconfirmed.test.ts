import { expect, test } from "vitest";
import { Unconfirmed } from "./unconfirmed.ts";

test("counts as the broker does, and gives up what it has spoken about, by one or up to one", () => {
  const unconfirmed = new Unconfirmed<{ readonly name: string; readonly body: Uint8Array }>();
  for (const [index, name] of ["a", "b", "c", "d"].entries()) unconfirmed.add({ name, body: new Uint8Array(index + 1) });
  const names = (messages: Iterable<{ readonly name: string }>) => Array.from(messages, ({ name }) => name);
  expect([unconfirmed.size, unconfirmed.bytes, unconfirmed.oldest?.name]).toEqual([4, 10, "a"]);

  expect(names(unconfirmed.take(2, false))).toEqual(["b"]);
  expect(names(unconfirmed.take(3, true))).toEqual(["a", "c"]);
  expect(names(unconfirmed.take(3, true))).toEqual([]);
  expect(names(unconfirmed.take(2, false))).toEqual([]);
  expect([unconfirmed.size, unconfirmed.bytes, names({ [Symbol.iterator]: () => unconfirmed[Symbol.iterator]() })]).toEqual([1, 4, ["d"]]);
});
