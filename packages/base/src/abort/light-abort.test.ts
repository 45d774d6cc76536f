import { expect, test, vi } from "vitest";
import { type AbortSource, LightAbort } from "./light-abort.ts";

function light(): [AbortSource, (reason: unknown) => void] {
  const abort = new LightAbort();
  return [abort, (reason) => abort.abort(reason)];
}

function standard(): [AbortSource, (reason: unknown) => void] {
  const controller = new AbortController();
  return [controller.signal, (reason) => controller.abort(reason)];
}

test.each([
  ["a light abort", light],
  ["an AbortSignal", standard],
])("%s tells each listener once, in order, and none that has left", (_name, create) => {
  const [source, abort] = create();
  const told: string[] = [];
  const listenerOf = (name: string) => () => void told.push(`${name}: ${source.reason}`);
  const leaver = listenerOf("leaver");
  source.addEventListener("abort", listenerOf("first"), { once: true });
  source.addEventListener("abort", leaver, { once: true });
  source.addEventListener("abort", listenerOf("second"), { once: true });
  source.removeEventListener("abort", leaver);
  source.removeEventListener("abort", leaver);
  expect(() => source.throwIfAborted()).not.toThrow();
  expect([source.aborted, source.reason]).toEqual([false, undefined]);

  abort("enough");
  abort("again");
  const late = vi.fn();
  source.addEventListener("abort", late, { once: true });

  expect(told).toEqual(["first: enough", "second: enough"]);
  expect([source.aborted, source.reason]).toEqual([true, "enough"]);
  expect(() => source.throwIfAborted()).toThrow("enough");
  expect(late).not.toHaveBeenCalled();
});

test.each([
  ["a light abort", light],
  ["an AbortSignal", standard],
])("a listener of %s that takes another away while it aborts keeps it from being told", (_name, create) => {
  const [source, abort] = create();
  const other = vi.fn();
  source.addEventListener("abort", () => source.removeEventListener("abort", other), { once: true });
  source.addEventListener("abort", other, { once: true });
  abort("enough");
  expect(other).not.toHaveBeenCalled();
});
