import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { unlessAborted } from "./unless-aborted.ts";

test("unlessAborted gives the result of work that ends before, and leaves no listener", async () => {
  const { signal } = new AbortController();
  await expect(unlessAborted(Promise.resolve("done"), signal)).resolves.toBe("done");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("unlessAborted fails with the signal's reason, be it aborted later or before", async () => {
  const stop = new AbortController();
  const waiting = unlessAborted(new Promise(() => {}), stop.signal);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(unlessAborted(Promise.resolve("done"), stop.signal)).rejects.toThrow("enough");
});

test("unlessAborted leaves nothing unhandled of work that fails later", async () => {
  const work = Promise.withResolvers<never>();
  await expect(unlessAborted(work.promise, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  work.reject(new Error("too late"));
  await new Promise((resolve) => setImmediate(resolve));
});
