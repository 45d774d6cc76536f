import { expect, test } from "vitest";
import { type FirstListingParts, firstListing } from "./first-listing.ts";

/** A pool with one server, which has not listed its tools yet. */
function startPool() {
  const server = { isHeard: false, tools: [] as unknown[] };
  const listeners = new Set<() => void>();
  const pool = {
    find: () => server,
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as FirstListingParts["pool"];
  const list = (...tools: readonly unknown[]): void => {
    Object.assign(server, { isHeard: true, tools });
    for (const listener of listeners) listener();
  };
  return { parts: { pool, trust: { waitingOn: () => [] } }, list, listeners };
}

test("tools are counted once the server has listed them", async () => {
  const { parts, list, listeners } = startPool();
  const said = firstListing(parts, "slow", 60_000);
  list("echo", "act");
  expect(await said).toBe("2 tool(s) available.");
  expect(listeners.size).toBe(0);
});

test("a server that has not listed its tools in time is not said to have none", async () => {
  expect(await firstListing(startPool().parts, "slow", 1)).toMatch(/^(?!.*\b0\b).*still being read/);
});
