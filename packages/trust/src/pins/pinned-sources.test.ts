import { expect, test } from "vitest";
import { createMemoryTrustStore } from "../store/memory-trust-store.ts";
import { PinnedSources } from "./pinned-sources.ts";

test("a text that cannot be read at first is read again soon, long before it would be refreshed; its fault is told once", async () => {
  await using store = createMemoryTrustStore();
  const told: string[] = [];
  let tries = 0;
  await using sources = new PinnedSources<{ readonly name: string }, string>({
    trust: { store },
    pin: "first-sight",
    refreshMs: 3_600_000,
    retryMs: 5,
    prefix: "test:",
    async read() {
      if (++tries < 4) throw new Error("nobody is there");
      return { text: "hello", parse: () => "hello" };
    },
    partsOf: (text) => [{ name: "part", description: text, inputSchema: {}, annotations: {} }],
    onChange() {},
    onRead: () => told.push("read"),
    onFault: (_, fault) => told.push(fault),
    onHeld() {},
    onError: (_, error) => told.push(String(error)),
  });
  await sources.apply([{ name: "peer" }]);
  expect(sources.faults("blind")).toEqual([{ name: "peer", why: "nobody is there" }]);
  await expect.poll(() => sources.all, { timeout: 10_000 }).toMatchObject([{ content: "hello", fault: undefined }]);
  expect([[...(sources.all[0]?.offered ?? [])], told, tries]).toEqual([["part"], ["nobody is there", "read"], 4]);
});
