import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { SessionHub } from "./session-hub.ts";

test("while the bus is away streams of a caller are refused in words, and the log has one line for all that ask at once", async () => {
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "gateway" });
  const away = createMemoryBus();
  await away[Symbol.asyncDispose]();
  const warned: string[] = [];
  const log = { ...silentLogger, warn: (_: object, text: string) => void warned.push(text) };
  await using hub = new SessionHub(away, caller, { log });

  for (let round = 1; round <= 2; round++) {
    const asked = await Promise.allSettled(["one", "two", "three"].map((session) => hub.listen("alice", session)));
    expect(asked.map((each) => each.status === "rejected" && String(each.reason))).toEqual(
      Array(3).fill(expect.stringContaining("the bus cannot be reached now")),
    );
    expect(warned).toHaveLength(round);
  }
});
