import { silentLogger } from "@rockbot/bus";
import { createEnvelope, messages } from "@rockbot/contracts";
import { createPolicy, readPolicy } from "@rockbot/policy";
import { createMemoryRateStore } from "@rockbot/records/rates";
import { expect, test } from "vitest";
import { ServerRequests } from "./server-requests.ts";

test("the policy's concurrency holds for requests as for calls of a tool", async () => {
  const yaml =
    "callers: { ada: { allow: [mcp_unregister_server], rules: [{ tools: [mcp_unregister_server], concurrency: 1 }] } }";
  const policy = createPolicy(await readPolicy(yaml, "of the test"));
  const running: PromiseWithResolvers<void>[] = [];
  const requests = new ServerRequests({
    registrar: {
      register: async () => "",
      unregister: () => {
        const run = Promise.withResolvers<void>();
        running.push(run);
        return run.promise;
      },
    },
    identity: { senderOf: () => ({ name: "ada", caller: "ada", mayHear: () => true }) },
    policy: { current: () => policy },
    rates: createMemoryRateStore(),
    audit: undefined,
    log: silentLogger,
  });
  const message = createEnvelope({
    topic: "mcp.manage",
    type: messages.McpUnregisterServerRequest.type,
    source: "ada",
    body: Buffer.from("{}"),
  });
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
