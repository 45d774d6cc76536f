import { silentLogger } from "@rockbot/bus";
import { expect, test } from "vitest";
import { SharedRecords } from "./shared-records.ts";

/** A store that says when it is closed. */
const storeOf = (name: string, closed: string[]) => ({
  name,
  async [Symbol.asyncDispose]() {
    closed.push(name);
  },
});

test("opens each store once, when it is first asked for, and closes the newest first", async () => {
  const closed: string[] = [];
  const opened: string[] = [];
  const connect = (name: string) => async (url: string | (() => string)) => {
    opened.push(`${name} at ${url}`);
    return storeOf(name, closed);
  };
  {
    await using records = new SharedRecords({ redisUrl: "redis://here", log: silentLogger });
    const [first, again] = await Promise.all([
      records.open("first", connect("first")),
      records.open("first", connect("first")),
    ]);
    await records.open("second", connect("second"));

    expect(again).toBe(first);
    expect(opened).toEqual(["first at redis://here", "second at redis://here"]);
  }
  expect(closed).toEqual(["second", "first"]);
});

test("has no stores without an address", async () => {
  await using records = new SharedRecords({ redisUrl: undefined, log: silentLogger });

  expect(await Promise.all([records.claims(), records.rates(), records.leases(), records.journals()])).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("tries anew after an opening that failed", async () => {
  await using records = new SharedRecords({ redisUrl: "redis://here", log: silentLogger });
  await expect(records.open("store", () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");

  await expect(records.open("store", async () => storeOf("store", []))).resolves.toMatchObject({ name: "store" });
});
