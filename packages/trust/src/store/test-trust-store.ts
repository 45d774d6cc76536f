import { StoreUnavailableError } from "@rockbot/records";
import { describe, expect, test } from "vitest";
import { approve, readWaiting } from "../operators/approvals.ts";
import { readRejected, reject } from "../operators/withdrawals.ts";
import { Registrations } from "../servers/registrations.ts";
import type { RequestedServer } from "../servers/requested-server.ts";
import { type TrustStore, updateRecord } from "./trust-store.ts";

/** The promises of every trust store, as tests. `create` makes an empty one each time. */
export function testTrustStore(name: string, create: () => Promise<TrustStore>): void {
  describe(name, () => {
    test("gives back what was written, whatever its name and whatever is in it", async () => {
      await using store = await create();
      const value = { text: "é\u0000\u202e\n", list: [1, null, { deep: true }], "": "", constructor: "own" };
      for (const record of ["pins/a", "pins/A", "pins/__proto__", "pins/…", "x".repeat(200)]) {
        expect(await store.read(record)).toEqual({ value: undefined, version: undefined });
        expect(await store.write(record, value, undefined)).toBe(true);
        expect(await store.read(record)).toEqual({ value, version: expect.any(String) });
      }
      expect(await store.names()).toHaveLength(5);
    });

    test("writes over the version that was read, and over no other", async () => {
      await using store = await create();
      await store.write("a", { n: 1 }, undefined);
      expect(await store.write("a", { n: 2 }, undefined)).toBe(false);
      const { version } = await store.read("a");
      expect(await store.write("a", { n: 2 }, version)).toBe(true);
      expect(await store.write("a", { n: 3 }, version)).toBe(false);
      expect(await store.write("b", { n: 1 }, version)).toBe(false);
      expect((await store.read("a")).value).toEqual({ n: 2 });
    });

    test("removes a record of the version that was read", async () => {
      await using store = await create();
      await store.write("a", {}, undefined);
      const { version } = await store.read("a");
      expect(await store.write("a", undefined, "another")).toBe(false);
      expect(await store.write("a", undefined, version)).toBe(true);
      expect(await store.names()).toEqual([]);
      expect(await store.write("a", {}, undefined)).toBe(true);
    });

    test("of many who change a record at once, each change is in it", async () => {
      await using store = await create();
      const add = (n: number) => updateRecord(store, "all", (value) => [...((value as number[] | undefined) ?? []), n]);
      await Promise.all(Array.from({ length: 8 }, (_, n) => add(n)));
      expect(((await store.read("all")).value as number[]).toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    });

    test("has another revision after each change, and the same while there is none", async () => {
      await using store = await create();
      const seen = [await store.revision()];
      await store.write("a", {}, undefined);
      seen.push(await store.revision());
      await store.write("a", { n: 1 }, (await store.read("a")).version);
      seen.push(await store.revision());
      await store.read("a");
      expect(await store.revision()).toBe(seen.at(-1));
      await store.write("a", undefined, (await store.read("a")).version);
      expect(await store.revision()).not.toBe(seen.at(-1));
      expect(new Set(seen).size).toBe(3);
    });

    test("holds a rejection until the same is approved after all, and then both", async () => {
      await using store = await create();
      const registrations = new Registrations(store);
      const request: RequestedServer = {
        name: "weather",
        address: { kind: "url", url: "https://weather.example/mcp", transport: "auto" },
      };
      await registrations.ask(request, "one");
      const { servers } = await readWaiting(store);
      await reject(store, { tools: [], servers }, "ada");
      expect([await registrations.isRejected(request, "one"), await registrations.approvalOf(request, "one")]).toEqual([
        true,
        undefined,
      ]);
      const rejected = (await readRejected(store)).servers;
      expect(rejected).toMatchObject([{ server: "weather", rejectedBy: "ada" }]);
      expect(await approve(store, { tools: [], servers: rejected }, "bob")).toEqual({
        approved: ["weather"],
        stale: [],
      });
      expect([await registrations.isRejected(request, "one"), await registrations.approvalOf(request, "one")]).toEqual([
        false,
        "bob",
      ]);
      expect(await readRejected(store)).toEqual({ tools: [], servers: [] });
      expect(await registrations.read()).toMatchObject({ asked: [{ rejectedBy: "ada", approvedBy: "bob" }] });
    });

    test("says how many bytes each record has", async () => {
      await using store = await create();
      await store.write("pins/a", "é", undefined);
      expect(await store.room()).toMatchObject({ sizes: new Map([["pins/a", 4]]), mostPerAgent: 16 * 1024 * 1024 });
    });

    test("keeps no record that is too long", async () => {
      await using store = await create();
      await expect(store.write("a", "x".repeat(4 * 1024 * 1024), undefined)).rejects.toThrow(StoreUnavailableError);
      expect(await store.names()).toEqual([]);
    });
  });
}
