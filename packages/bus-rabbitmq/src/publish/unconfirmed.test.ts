import { expect, test } from "vitest";
import { Unconfirmed } from "./unconfirmed.ts";

test("counts as the broker does, and gives up what it has spoken about, by one or up to one", () => {
  const unconfirmed = new Unconfirmed<{ readonly name: string; readonly body: Uint8Array }>();
  for (const [index, name] of ["a", "b", "c", "d"].entries())
    unconfirmed.add({ name, body: new Uint8Array(index + 1) });
  const names = (messages: Iterable<{ readonly name: string }>) => Array.from(messages, ({ name }) => name);
  expect([unconfirmed.size, unconfirmed.bytes, unconfirmed.oldest?.name]).toEqual([4, 10, "a"]);

  expect(names(unconfirmed.take(2, false))).toEqual(["b"]);
  expect(names(unconfirmed.take(3, true))).toEqual(["a", "c"]);
  expect(names(unconfirmed.take(3, true))).toEqual([]);
  expect(names(unconfirmed.take(2, false))).toEqual([]);
  expect([
    unconfirmed.size,
    unconfirmed.bytes,
    names({ [Symbol.iterator]: () => unconfirmed[Symbol.iterator]() }),
  ]).toEqual([1, 4, ["d"]]);
});

test("keeps count over thousands of messages, of which the broker speaks in any order", () => {
  const unconfirmed = new Unconfirmed<{ readonly tag: number; readonly body: Uint8Array }>();
  const body = new Uint8Array(1);
  for (let tag = 1; tag <= 5_000; tag++) {
    unconfirmed.add({ tag, body });
    if (tag % 10 !== 0) continue;
    expect(unconfirmed.take(tag - 3, false).map((message) => message.tag)).toEqual([tag - 3]);
    if (tag % 100 !== 0) continue;
    expect(unconfirmed.oldest?.tag).toBe(tag - 99);
    expect(unconfirmed.take(tag - 50, true)).toHaveLength(45);
    expect(unconfirmed.take(tag, true)).toHaveLength(45);
    expect([unconfirmed.size, unconfirmed.bytes, unconfirmed.oldest]).toEqual([0, 0, undefined]);
  }
});
