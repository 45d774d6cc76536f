import { silentLogger } from "@rockbot/bus";
import { createEnvelope, type McpRegisterServerRequest, messages } from "@rockbot/contracts";
import { createPolicy, readPolicy } from "@rockbot/policy";
import { createMemoryRateStore } from "@rockbot/records/rates";
import { createPolicyTurns } from "@rockbot/tools";
import { expect, test } from "vitest";
import { ServerRequests } from "./server-requests.ts";

/** Requests of one caller, one at once, each of which runs until the test ends it. */
async function start(tool: string) {
  const yaml = `callers: { ada: { allow: [${tool}], rules: [{ tools: [${tool}], concurrency: 1 }] } }`;
  const policy = createPolicy(await readPolicy(yaml, "of the test"));
  const running: PromiseWithResolvers<void>[] = [];
  const receivedAt: number[] = [];
  const run = () => {
    const one = Promise.withResolvers<void>();
    running.push(one);
    return one.promise;
  };
  const requests = new ServerRequests({
    registrar: {
      async register(_request, _agent, at) {
        receivedAt.push(at);
        await run();
        return "";
      },
      unregister: run,
    },
    identity: { senderOf: () => ({ name: "ada", caller: "ada", mayHear: () => true }) },
    policy: { current: () => policy },
    rates: createMemoryRateStore(),
    turns: createPolicyTurns(),
    audit: undefined,
    log: silentLogger,
  });
  const message = createEnvelope({
    topic: "mcp.manage",
    type: messages.McpUnregisterServerRequest.type,
    source: "ada",
    body: Buffer.from("{}"),
  });
  return { requests, message, running, receivedAt };
}

test("a request that had to wait for its turn has the time since it came", async () => {
  const { requests, message, running, receivedAt } = await start("mcp_register_server");
  const ask = () =>
    requests.register(
      { ok: true, value: { serverName: "weather", type: "stdio" } as McpRegisterServerRequest },
      message,
    );
  const [first, second] = [ask(), ask()];
  await expect.poll(() => running).toHaveLength(1);
  const askedBefore = performance.now();
  running[0]?.resolve();
  await expect.poll(() => running).toHaveLength(2);
  running[1]?.resolve();
  expect([await first, await second]).toEqual([{ summary: "" }, { summary: "" }]);
  expect(receivedAt.filter((at) => at <= askedBefore)).toHaveLength(2);
});

test("the policy's concurrency holds for requests as for calls of a tool", async () => {
  const { requests, message, running } = await start("mcp_unregister_server");
  const ask = () => requests.unregister({ ok: true, value: { serverName: "weather" } }, message);
  const [first, second, third] = [ask(), ask(), ask()];
  expect(await third).toMatchObject({ code: "overloaded" });
  expect(running).toHaveLength(1);
  running[0]?.resolve();
  expect(await first).toBeUndefined();
  await expect.poll(() => running).toHaveLength(2);
  running[1]?.resolve();
  expect(await second).toBeUndefined();
});
