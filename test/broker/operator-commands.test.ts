import { generateKeyPairSync } from "node:crypto";
import type { Bus } from "@rockbot/bus";
import { createEnvelope, encodeMessage, Header, messages, type OperatorCommand, ToolError } from "@rockbot/contracts";
import type { AuditLine, AuditLog } from "@rockbot/records/audit";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { type Command, createCommander, signCommand } from "@rockbot/tools/commands";
import { expect, test } from "vitest";
import { verifiedHost } from "./verified-broker.ts";
import { connect, POLICY, request, whoTool } from "./verified-system.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const WAIT = { timeout: 20_000 };

/** An audit log that keeps its lines. */
function linesOf(): AuditLog & { readonly lines: AuditLine[] } {
  const lines: AuditLine[] = [];
  return {
    lines,
    isWriting: true,
    write: async (line) => void lines.push(line),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A service with a tool that waits, on a broker that verifies senders, and a call of it that runs. */
async function startRunning() {
  await using started = new AsyncDisposableStack();
  const broker = started.use(await verifiedHost(POLICY));
  const audit = linesOf();
  const let_ = Promise.withResolvers<void>();
  let running = 0;
  const hold = () => {
    running++;
    return let_.promise;
  };
  const service = started.use(await connect(broker, "echoes"));
  started.use(
    await serveTools(service, whoTool("echo_who", { hold }), {
      service: "echoes",
      policy: broker.policy,
      operatorKey: publicKey,
      audit,
      drainMs: 1,
    }),
  );
  const writer = started.use(await connect(broker, "writer"));
  const caller = started.use(await createToolCaller(writer, { agent: "writer", policy: broker.policy }));
  await caller.discovered();
  const toolCallId = "c0ffee".padEnd(32, "0");
  const call = caller.call("echo_who", {}, { toolCallId, timeoutMs: 60_000 });
  call.catch(() => {});
  await expect.poll(() => running, WAIT).toBe(1);
  const parts = started.move();
  return {
    broker,
    audit,
    toolCallId,
    call,
    let: () => let_.resolve(),
    deeds: () => audit.lines.filter((line) => "event" in line),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const commandMessage = (from: string, command: OperatorCommand) =>
  createEnvelope({
    topic: "tool.cancel.echoes",
    type: messages.OperatorCommand.type,
    source: from,
    replyTo: `tool.result.${from}`,
    body: encodeMessage("OperatorCommand", command),
  });

/** Sends the command as the user, and resolves with what its service answers. */
async function answerTo(bus: Bus, user: string, command: OperatorCommand): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  await using _ = await bus.subscribe(
    { name: `result.${user}`, topics: [`tool.result.${user}`], kind: "copy" },
    async ({ body }) => resolve(Buffer.from(body).toString()),
  );
  await bus.publish(commandMessage(user, command), { mandatory: true });
  return await promise;
}

test("an operator cancels a call of another caller by a command of the gateway, and the audit log says so", {
  timeout: 120_000,
}, async () => {
  await using system = await startRunning();
  const { broker, toolCallId } = system;
  await using bus = await connect(broker, "gateway");
  await using commander = createCommander(bus, { key: privateKey, source: "gateway", policy: broker.policy });
  const send = (service: string, body: Command["body"]) =>
    commander.send({ kind: "cancel", service, operator: "ada", body }, { instances: 1, timeoutMs: 10_000 });

  expect(await send("echoes", { toolCallId: "unknown" })).toEqual([{ wasRunning: false }]);
  expect(await send("thief", { toolCallId })).toEqual([]);
  expect(await send("echoes", { toolCallId })).toEqual([{ wasRunning: true }]);
  await expect(system.call).rejects.toMatchObject({
    code: "cancelled",
    message: expect.stringContaining('the operator "ada" cancelled it'),
  });
  expect(system.deeds()).toMatchObject([
    { event: "operator", service: "echoes", operator: "ada", action: "cancel", of: "unknown", outcome: "ok" },
    { event: "operator", operator: "ada", of: toolCallId, outcome: "ok" },
  ]);
});

test("commands that are unsigned, changed, of before, for others or sent twice run nothing, whoever sends them", {
  timeout: 120_000,
}, async () => {
  await using system = await startRunning();
  const { broker, toolCallId } = system;
  const cancel: Command = { kind: "cancel", service: "echoes", operator: "ada", body: { toolCallId } };
  const signed = signCommand(privateKey, cancel);
  const harmless = signCommand(privateKey, { ...cancel, body: { toolCallId: "none" } });
  const forged = (): readonly [string, OperatorCommand, RegExp][] => [
    ["unsigned", { ...signed, signature: "" }, /signature/],
    ["signed by another key", signCommand(generateKeyPairSync("ed25519").privateKey, cancel), /signature/],
    ["expired", signCommand(privateKey, cancel, () => Date.now() - 120_000), /not of this minute/],
    ["for another service", signCommand(privateKey, { ...cancel, service: "thief" }), /it is for \\"thief\\"/],
    ["with another body", { ...harmless, body: signed.body }, /body is another/],
    ["of a kind that there is not", signCommand(privateKey, { ...cancel, kind: "exec" }), /knows no command/],
  ];
  for (const user of ["researcher", "gateway"]) {
    await using bus = await connect(broker, user);
    for (const [what, command, why] of forged())
      expect([user, what, await answerTo(bus, user, command)]).toEqual([user, what, expect.stringMatching(why)]);
    const once = signCommand(privateKey, { ...cancel, body: { toolCallId: "none" } });
    expect(await answerTo(bus, user, once)).toMatch(/wasRunning/);
    expect(await answerTo(bus, user, once)).toMatch(/taken before/);
  }
  system.let();
  expect(await system.call).toMatchObject({ content: "writer" });
});

test("a service without a key obeys nothing, and says what to set", { timeout: 120_000 }, async () => {
  await using broker = await verifiedHost(POLICY);
  await using service = await connect(broker, "echoes");
  await using _tools = await serveTools(service, whoTool("echo_who"), { service: "echoes", policy: broker.policy });
  await using bus = await connect(broker, "gateway");
  await using commander = createCommander(bus, { key: privateKey, source: "gateway", policy: broker.policy });
  const command = { kind: "cancel", service: "echoes", operator: "ada", body: { toolCallId: "c1" } };
  const [answer] = await commander.send(command, { instances: 1, timeoutMs: 10_000 });
  expect(answer).toBeInstanceOf(ToolError);
  expect((answer as ToolError).message).toContain("Set OPERATOR_PUBLIC_KEY");
});

test("an operator stands in the audit line only where a delegate says so: a caller's own word counts for nothing", {
  timeout: 120_000,
}, async () => {
  await using broker = await verifiedHost(POLICY);
  const audit = linesOf();
  await using service = await connect(broker, "echoes");
  await using _tools = await serveTools(service, whoTool("echo_who"), {
    service: "echoes",
    policy: broker.policy,
    audit,
  });
  for (const [user, headers] of [
    ["researcher", {}],
    ["gateway", { [Header.OnBehalfOf]: "writer" }],
  ] as const) {
    await using bus = await connect(broker, user);
    const before = audit.lines.length;
    await bus.publish(
      request("echo_who", { replyTo: `tool.result.${user}`, headers: { ...headers, [Header.Operator]: "ada" } }),
    );
    await expect.poll(() => audit.lines.length, WAIT).toBe(before + 1);
  }
  expect(audit.lines).toMatchObject([
    { caller: "researcher", operator: undefined },
    { caller: "writer", operator: "ada" },
  ]);
});
