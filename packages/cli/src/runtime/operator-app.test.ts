import { DeadLetterError } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import {
  createEnvelope,
  encodeMessage,
  messages,
  newId,
  type ToolDefinition,
  type Validator,
} from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { sharedAmqpUrl } from "@rockbot/testing";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { operatorApp } from "./operator-app.ts";

const url = new URL(await sharedAmqpUrl());
const SERVICE = "operated";
const TOPIC = `tool.invoke.${SERVICE}`;

const definition: ToolDefinition = {
  name: "operated_who",
  description: "Says who called.",
  inputSchema: { type: "object" },
  readOnly: true,
  idempotent: true,
  dangerous: true,
  validateInput: Object.assign((value: unknown): value is object => typeof value === "object", {
    errors: null,
  }) as Validator<object>,
};
const set = {
  tools: [defineTool(definition, async (_, { caller }) => caller)],
  guides: [{ name: SERVICE, summary: "Operated.", document: "# Operated" }],
};

test("what operators reach knows the policy's callers and which tools are dangerous", { timeout: 60_000 }, async () => {
  const user = url.username || "guest";
  const yaml = `
callers: { researcher: { user: ${user}, allow: [operated_who] } }
services: { ${SERVICE}: { user: ${user}, topic: ${TOPIC} } }
delegates: [${user}]
`;
  const policy = holdPolicy(createPolicy(await readPolicy(yaml, "of the test")));
  await using bus = await connectBus(url.href, { identity: "verified" });
  await using caller = await createToolCaller(bus, { agent: user, results: "copy", policy });
  const app = operatorApp({
    bus,
    caller,
    journals: () => [caller.journal],
    policy,
    signal: new AbortController().signal,
    log: undefined,
  });
  const ask = async (method: string, path: string): Promise<string> =>
    (await app.fetch(new Request(`http://localhost${path}`, { method }), {} as never)).text();

  const toolCallId = newId();
  const body = encodeMessage("ToolInvokeRequest", {
    toolCallId,
    toolName: definition.name,
    arguments: "{}",
    sessionId: null,
  });
  {
    await using _ = await bus.subscribe({ name: SERVICE, topics: [TOPIC] }, async () => {
      throw new DeadLetterError("not now");
    });
    await bus.publish(
      createEnvelope({
        topic: TOPIC,
        type: messages.ToolInvokeRequest.type,
        source: user,
        body,
        messageId: toolCallId,
        replyTo: `tool.result.${user}`,
      }),
    );
    await expect.poll(async () => (await bus.inspect(SERVICE, "parked"))?.messages, { timeout: 20_000 }).toBe(1);
  }
  await using _tools = await serveTools(bus, set, { service: SERVICE, policy });

  expect(await ask("POST", `/operator/dlq/replay?service=${SERVICE}&id=${toolCallId}`)).toMatch(
    /"content":"researcher"/,
  );
  await expect.poll(() => caller.tools.get(definition.name)?.dangerous, { timeout: 10_000 }).toBe(true);
  expect(await ask("GET", `/operator/policy?caller=writer&tool=${definition.name}`)).toMatch(/may not use .*dangerous/);
});
