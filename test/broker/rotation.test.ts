import { setTimeout as sleep } from "node:timers/promises";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startVerifiedBroker } from "./verified-broker.ts";
import { POLICY, whoTool } from "./verified-system.ts";

test("T22: a new password takes effect without a restart, and no call is lost when connections end before it is there", {
  timeout: 300_000,
}, async () => {
  await using broker = await startVerifiedBroker(POLICY);
  const urls = new Map(["echoes", "researcher"].map((user) => [user, broker.urlOf(user)]));
  const connect = (user: string) => connectBus(() => urls.get(user) ?? "", { name: user, identity: "verified" });
  await using service = await connect("echoes");
  // Reads only: what was delivered to a connection that ended then runs again. With effects, and no shared claims, it
  // would be outcome_unknown.
  await using _tools = await serveTools(service, whoTool("echo_who", { readOnly: true }), {
    service: "echoes",
    policy: broker.policy,
  });
  await using bus = await connect("researcher");
  await using caller = await createToolCaller(bus, { agent: "researcher", policy: broker.policy });
  await caller.discovered();

  const calls: Promise<string>[] = [];
  let waiting = 0;
  const stop = new AbortController();
  const load = (async () => {
    while (!stop.signal.aborted) {
      // A slow machine may be long without a connection, and a caller may have so many calls out.
      if (waiting < 200) {
        waiting++;
        const call = caller.call("echo_who", {}, { timeoutMs: 120_000 }).then(({ content }) => content ?? "", String);
        calls.push(call.finally(() => waiting--));
      }
      await sleep(50);
    }
  })();
  await broker.importDefinitions({
    users: [...urls.keys()].map((name) => ({ name, password: `new-${name}-password`, tags: "" })),
  });
  await broker.ctl("close_all_connections", "the drill");
  await expect.poll(() => service.isReady || bus.isReady, { timeout: 20_000 }).toBe(false);
  for (const user of urls.keys()) {
    const url = new URL(broker.url);
    Object.assign(url, { username: user, password: `new-${user}-password` });
    urls.set(user, url.href);
  }
  await expect.poll(() => service.isReady && bus.isReady, { timeout: 60_000 }).toBe(true);
  const before = calls.length;
  await expect.poll(() => calls.length, { timeout: 20_000 }).toBeGreaterThan(before + 20);
  stop.abort();
  await load;
  const outcomes = await Promise.all(calls);
  expect(outcomes.slice(before).filter((outcome) => outcome !== "researcher")).toEqual([]);
  // A caller that is back before the service is told so, at once and in words.
  expect(
    outcomes.filter((outcome) => outcome !== "researcher" && !/cannot be called now: .* is not running/.test(outcome)),
  ).toEqual([]);
});
