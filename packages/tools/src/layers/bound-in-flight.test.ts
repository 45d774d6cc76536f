import { createMemoryBus } from "@rockbot/bus";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { heldTool, testPolicy, testSet } from "../test-tools.ts";

test("a caller has so many calls at once over all tools, and more as soon as one ends; others have their own", async () => {
  const policy = await testPolicy("everyone: { allow: ['*'], limits: { inFlight: 2 } }");
  await using bus = createMemoryBus();
  const [one, two] = [heldTool("one"), heldTool("two")];
  await using _service = await serveTools(bus, testSet(one.tool, two.tool), { service: "held", policy });
  await using busy = await createToolCaller(bus, { agent: "busy" });
  await using other = await createToolCaller(bus, { agent: "other" });
  const calls = [busy.call("one", {}), busy.call("two", {})];
  await expect.poll(() => one.running.length + two.running.length).toBe(2);
  await expect(busy.call("one", {})).rejects.toMatchObject({
    code: "overloaded",
    isRetryable: true,
    retryAfterMs: 1_000,
    details: { reason: "in_flight" },
  });
  calls.push(other.call("one", {}));
  await expect.poll(() => one.running.length).toBe(2);
  two.endAll();
  await calls[1];
  calls.push(busy.call("two", {}));
  await expect.poll(() => two.running.length).toBe(1);
  one.endAll();
  two.endAll();
  await Promise.all(calls);
});
