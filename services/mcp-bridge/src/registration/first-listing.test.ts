import { expect, test } from "vitest";
import { type FirstListingParts, firstListing } from "./first-listing.ts";

/** A pool with one server, which has not listed its tools yet. */
function startPool() {
  const server = { isHeard: false, tools: [] as unknown[], health: { state: "connecting", failures: 0 } };
  const listeners = new Set<() => void>();
  const pool = {
    find: () => server,
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as FirstListingParts["pool"];
  const change = (facts: object): void => {
    Object.assign(server, facts);
    for (const listener of listeners) listener();
  };
  return { parts: { pool, trust: { waitingOn: () => [] } }, change, listeners };
}

test("tools are counted once the server has listed them", async () => {
  const { parts, change, listeners } = startPool();
  const said = firstListing(parts, "slow", 60_000);
  change({ isHeard: true, tools: ["echo", "act"] });
  expect(await said).toBe("2 tool(s) available.");
  expect(listeners.size).toBe(0);
});

test("a server that has not listed its tools in time is not said to have none", async () => {
  expect(await firstListing(startPool().parts, "slow", 1)).toMatch(/^(?!.*\b0\b).*still being read/);
});

test("no time that is left is none to wait", async () => {
  expect(await firstListing(startPool().parts, "slow", -5_000)).toMatch(/still being read/);
});

test.each([
  ["its connection fails", { state: "failing", failures: 1 }, /connection has failed/],
  ["its approvals cannot be read", { state: "ready", failures: 0 }, /approved cannot be read/],
])("the wait ends once %s, and that is said", async (_, health, words) => {
  const { parts, change } = startPool();
  const said = firstListing(parts, "slow", 60_000);
  change({ health });
  expect(await said).toMatch(words);
});
