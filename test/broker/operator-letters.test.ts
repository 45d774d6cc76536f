import { createHash } from "node:crypto";
import { DeadLetterError } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { type GatewayConfig, startGateway } from "@rockbot/gateway";
import { loadConfig } from "@rockbot/process/config";
import { serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { check, configSchema } from "../../services/gateway/src/settings.ts";
import { verifiedHost } from "./verified-broker.ts";
import { connect, POLICY, request, whoTool } from "./verified-system.ts";

const hash = `sha256:${createHash("sha256").update("token-of-ops").digest("hex")}`;
const OWN_POLICY = POLICY.replace("{ name: ops, tokens: [] }", `{ name: ops, tokens: [{ hash: "${hash}" }] }`);

/** The gateway as its own user of the broker, with the requests of an operator to it. */
async function startOperated(broker: Awaited<ReturnType<typeof verifiedHost>>, settings: Partial<GatewayConfig>) {
  await using started = new AsyncDisposableStack();
  const bus = started.use(await connect(broker, "gateway"));
  const config = loadConfig(configSchema, { env: {}, overrides: { port: 0, ...settings }, check });
  const letters = {
    services: ["echoes", "thief"],
    forms: async () => [],
    connect: ({ url, ...options }: { url: string; identity: "trusted" | "verified" }) =>
      connectBus(url, { name: "operator", connectTimeoutMs: 10_000, ...options }),
  };
  const { url } = started.use(await startGateway(bus, config, { policy: broker.policy, letters }));
  const parts = started.move();
  return {
    ask: async (path: string) => {
      const headers = { authorization: "Bearer token-of-ops" };
      const answer = await fetch(`${url}/operator/dlq/${path}`, { method: "POST", headers });
      return { status: answer.status, text: await answer.text() };
    },
    /** What is wrong, by the overview. */
    problems: async () => {
      const answer = await fetch(`${url}/operator/overview`, { headers: { authorization: "Bearer token-of-ops" } });
      return ((await answer.json()) as { readonly problems: readonly { readonly what: string }[] }).problems;
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test("an operator's user of the broker lists, replays and purges dead letters at the gateway, whose own user may not", {
  timeout: 120_000,
}, async () => {
  await using broker = await verifiedHost(OWN_POLICY);
  await using service = await connect(broker, "echoes");
  await using researcher = await connect(broker, "researcher");
  const sent = ["first", "second"].map((messageId) =>
    request("echo_who", { messageId, replyTo: "tool.result.researcher" }),
  );
  {
    await using _ = await service.subscribe({ name: "echoes", topics: ["tool.invoke.echoes"] }, async () => {
      throw new DeadLetterError("of the test");
    });
    for (const message of sent) await researcher.publish(message);
    await expect.poll(async () => (await service.inspect("echoes", "parked"))?.messages, { timeout: 20_000 }).toBe(2);
  }
  {
    await using without = await startOperated(broker, {});
    const { status, text } = await without.ask("list");
    expect([status, text]).toEqual([503, expect.stringContaining("Set OPERATOR_BROKER_URL")]);
    // How many there are is told to everybody.
    expect(await without.problems()).toContainEqual(
      expect.objectContaining({ page: "letters", what: expect.stringMatching(/^2 dead letters of "echoes"/) }),
    );
  }
  {
    // The gateway's own user has no such right, whatever the setting says of it.
    await using wrong = await startOperated(broker, { operatorBrokerUrl: broker.urlOf("gateway") });
    expect((await wrong.ask("purge?service=echoes")).text).toMatch(/refus/);
    expect((await service.inspect("echoes", "parked"))?.messages).toBe(2);
  }
  await using gateway = await startOperated(broker, { operatorBrokerUrl: broker.urlOf("ops") });
  expect((await gateway.ask("list")).text).toMatch(/"id":"first"[\s\S]*"id":"second"/);
  await using _tools = await serveTools(service, whoTool("echo_who"), { service: "echoes", policy: broker.policy });
  expect((await gateway.ask("replay?service=echoes&id=first")).text).toMatch(
    /"content":"researcher"[\s\S]*"isRemoved":true/,
  );
  expect((await gateway.ask("purge?service=echoes&id=second")).text).toContain('"kind":"purged"');
  expect((await service.inspect("echoes", "parked"))?.messages).toBe(0);
});
