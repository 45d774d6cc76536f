import { AsyncLocalStorage } from "node:async_hooks";
import { createContextKey } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { LinkedContextManager } from "./linked-context.ts";

const [one, other] = [createContextKey("one"), createContextKey("other")];

test("a context has its own values and those it was made from, which it leaves as they are", () => {
  const outer = new LinkedContextManager().active().setValue(one, 1);
  const inner = outer.setValue(other, 2).setValue(one, 3);

  expect([inner.getValue(one), inner.getValue(other)]).toEqual([3, 2]);
  expect([outer.getValue(one), outer.getValue(other)]).toEqual([1, undefined]);
  const deleted = inner.deleteValue(one);
  expect([deleted.getValue(one), deleted.getValue(other), inner.getValue(one)]).toEqual([undefined, 2, 3]);
});

test("a context is active in what is called and awaited within it, and nowhere else", async () => {
  const manager = new LinkedContextManager().enable();
  const inner = manager.active().setValue(one, 1);
  const seen = await manager.with(inner, async () => {
    await new Promise(setImmediate);
    return manager.active().getValue(one);
  });

  expect(seen).toBe(1);
  expect(manager.active().getValue(one)).toBeUndefined();
  manager.disable();
});

test("entering a context leaves other storages as they are, and all as it was when what was called has returned or thrown", async () => {
  const manager = new LinkedContextManager().enable();
  const storage = new AsyncLocalStorage<string>();
  const outer = manager.active().setValue(one, 1);
  const seen = () => [manager.active().getValue(one), storage.getStore()];

  const pending = storage.run("theirs", () =>
    manager.with(outer, () => {
      const inner = manager.with(manager.active().setValue(one, 2), async () => {
        const before = seen();
        await new Promise(setImmediate);
        return [before, seen()];
      });
      expect(seen()).toEqual([1, "theirs"]);
      expect(() =>
        manager.with(outer.setValue(one, 3), () => {
          throw new Error(String(seen()));
        }),
      ).toThrow("3,theirs");
      expect(seen()).toEqual([1, "theirs"]);
      return inner;
    }),
  );
  expect(seen()).toEqual([undefined, undefined]);
  expect(await pending).toEqual([
    [2, "theirs"],
    [2, "theirs"],
  ]);
  const self = { name: "self" };
  expect(
    manager.with(
      outer,
      function (this: typeof self, word: string) {
        return `${this.name} ${word}`;
      },
      self,
      "said",
    ),
  ).toBe("self said");
  manager.disable();
});
