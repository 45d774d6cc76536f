import { describe, expect, test } from "vitest";
import { OwnAsyncDisposableStack } from "./async-disposable-stack.ts";

/** What is disposed of writes its name; `fails` throws it, too. */
function part(log: string[], name: string, { fails = false } = {}): AsyncDisposable & Disposable {
  const dispose = (): void => {
    log.push(name);
    if (fails) throw new Error(name);
  };
  return { [Symbol.dispose]: dispose, [Symbol.asyncDispose]: async () => dispose() };
}

describe.each([
  ["Node's own", AsyncDisposableStack],
  ["ours", OwnAsyncDisposableStack as typeof AsyncDisposableStack],
])("a stack: %s", (_, Stack) => {
  test("disposes of what it has, the last first, each once", async () => {
    const log: string[] = [];
    const stack = new Stack();
    stack.use(part(log, "first"));
    stack.use({ [Symbol.dispose]: () => log.push("second") });
    expect(stack.use(null)).toBe(null);
    stack.defer(async () => void log.push("third"));
    expect(stack.adopt(4, async (value) => void log.push(String(value)))).toBe(4);

    expect(stack.disposed).toBe(false);
    await stack.disposeAsync();
    await stack[Symbol.asyncDispose]();
    expect([log, stack.disposed]).toEqual([["4", "third", "second", "first"], true]);
  });

  test("waits for each before the next", async () => {
    const log: string[] = [];
    const stack = new Stack();
    stack.defer(() => void log.push("after"));
    stack.defer(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      log.push("slow");
    });
    await stack.disposeAsync();
    expect(log).toEqual(["slow", "after"]);
  });

  test("goes on after failures, and throws the last with those before it", async () => {
    const log: string[] = [];
    const stack = new Stack();
    for (const [name, fails] of Object.entries({ first: true, second: false, third: true }))
      stack.use(part(log, name, { fails }));

    const thrown: unknown = await stack.disposeAsync().catch((error: unknown) => error);
    expect(log).toEqual(["third", "second", "first"]);
    expect(thrown).toMatchObject({
      name: "SuppressedError",
      error: { message: "first" },
      suppressed: { message: "third" },
    });
  });

  test("that is moved leaves all to the new one", async () => {
    const log: string[] = [];
    const stack = new Stack();
    stack.use(part(log, "a"));
    const moved = stack.move();
    await stack.disposeAsync();
    expect([log, stack.disposed, moved.disposed]).toEqual([[], true, false]);
    await moved.disposeAsync();
    expect(log).toEqual(["a"]);
  });

  test("that is over, or gets what cannot be disposed of, refuses", async () => {
    const stack = new Stack();
    expect(() => stack.use({} as Disposable)).toThrow(TypeError);
    await stack.disposeAsync();
    expect(() => stack.defer(() => {})).toThrow(ReferenceError);
    expect(() => stack.move()).toThrow(ReferenceError);
  });
});
