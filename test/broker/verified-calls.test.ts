import { DeadLetterError, type ParkedMessage } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import {
  createEnvelope,
  decodeMessage,
  encodeMessage,
  Header,
  messages,
  newId,
  ToolErrorCode,
} from "@rockbot/contracts";
import { createReplayer, createToolCaller, serveTools } from "@rockbot/tools";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openRawChannel } from "./raw-channel.ts";
import { verifiedHost } from "./verified-broker.ts";
import { connect, POLICY, request, tapAnswers, whoTool } from "./verified-system.ts";

test("T03: whatever topic a request names for its answer, nothing goes but to its sender", {
  timeout: 180_000,
}, async () => {
  await using broker = await verifiedHost(POLICY);
  await using service = await connect(broker, "echoes");
  await using _tools = await serveTools(service, whoTool("echo_who"), { service: "echoes", policy: broker.policy });
  await using researcher = await connect(broker, "researcher");
  await using tap = await tapAnswers(broker);

  const word = fc.constantFrom(
    "tool",
    "result",
    "progress",
    "script",
    "mcp",
    "manage",
    "response",
    "writer",
    "researcher",
    "Researcher",
    "i1",
    "*",
    "#",
    "",
    "echoes",
    "invoke",
    "announce",
  );
  const fuzzed = fc.oneof(
    fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(".")),
    fc
      .constantFrom("tool.result", "script.result", "mcp.manage.response")
      .chain((root) => fc.array(word, { maxLength: 3 }).map((rest) => [root, ...rest].join("."))),
    fc.string({ maxLength: 40 }).map((text) => `tool.result.${text}`),
  );
  const topics = fc.sample(fuzzed, 500);
  await Promise.all(
    topics.map((replyTo) => researcher.publish(request("echo_who", { replyTo, headers: { [Header.Progress]: "1" } }))),
  );
  const own = /^(tool\.result|script\.result|mcp\.manage\.response)\.researcher(\.[A-Za-z0-9_-]{1,64})?$/;
  const answered = topics.filter((topic) => own.test(topic)).length;
  await expect
    .poll(() => tap.topics.filter((topic) => own.test(topic)).length, { timeout: 120_000, interval: 200 })
    .toBe(answered);
  await expect
    .poll(async () => (await service.inspect("echoes", "parked"))?.messages, { timeout: 20_000 })
    .toBeGreaterThan(0);
  expect(tap.topics.filter((topic) => !own.test(topic))).toEqual([]);
});

test("on whose behalf a call runs is what delegates say, and for others who they are", {
  timeout: 120_000,
}, async () => {
  await using broker = await verifiedHost(POLICY);
  await using service = await connect(broker, "echoes");
  await using _tools = await serveTools(service, whoTool("echo_who"), { service: "echoes", policy: broker.policy });
  await using gatewayBus = await connect(broker, "gateway");
  await using gateway = await createToolCaller(gatewayBus, { agent: "gateway", policy: broker.policy });
  await using researcherBus = await connect(broker, "researcher");
  await using researcher = await createToolCaller(researcherBus, { agent: "researcher", policy: broker.policy });
  await Promise.all([gateway.discovered(), researcher.discovered()]);

  expect((await gateway.call("echo_who", {}, { onBehalfOf: "writer" })).content).toBe("writer");
  expect((await gateway.call("echo_who", {})).content).toBe("gateway");
  expect((await researcher.call("echo_who", {})).content).toBe("researcher");
  await expect(researcher.call("echo_who", {}, { onBehalfOf: "writer" })).rejects.toMatchObject({
    code: ToolErrorCode.Denied,
    message: /may not call on behalf of others/,
  });
  // The same id by another caller is another call: it neither joins that one nor gets its answer.
  const toolCallId = newId();
  expect((await gateway.call("echo_who", {}, { toolCallId, onBehalfOf: "writer" })).content).toBe("writer");
  expect((await researcher.call("echo_who", {}, { toolCallId })).content).toBe("researcher");

  await expect(createToolCaller(researcherBus, { agent: "writer", policy: broker.policy })).rejects.toThrow(
    /the bus knows this process as "researcher"/,
  );
});

test("a message without a verified sender is taken of legacy peers only, and answered to them only", {
  timeout: 120_000,
}, async () => {
  await using broker = await verifiedHost(POLICY);
  await using service = await connect(broker, "echoes");
  await using _tools = await serveTools(service, whoTool("echo_who"), { service: "echoes", policy: broker.policy });
  await using tap = await tapAnswers(broker);
  await using raw = await openRawChannel(broker.urlOf("Old_Agent"));
  const answers: string[] = [];
  const { queue } = await raw.channel.assertQueue("", { exclusive: true });
  await raw.channel.bindQueue(queue, "rockbot", "tool.result.Old_Agent");
  await raw.channel.consume(queue, (message) => {
    const read = decodeMessage("ToolInvokeResponse", message?.content ?? Buffer.of());
    answers.push(read.ok ? String(read.value.content) : "unreadable");
  });
  const send = (source: string, replyTo: string) => {
    const { body, messageId, type } = request("echo_who");
    raw.channel.publish("rockbot", "tool.invoke.echoes", Buffer.from(body), {
      messageId,
      correlationId: messageId,
      type,
      replyTo,
      headers: { "rb-source": source },
    });
  };
  send("Old_Agent", "tool.result.Old_Agent");
  send("Old_Agent", "tool.result");
  send("researcher", "tool.result.researcher"); // nobody says so but itself
  send("Old_Agent", "tool.result.researcher");
  await expect.poll(async () => (await service.inspect("echoes", "parked"))?.messages, { timeout: 20_000 }).toBe(2);
  await expect.poll(() => tap.topics.toSorted(), { timeout: 20_000 }).toEqual(["tool.result", "tool.result.Old_Agent"]);
  await expect.poll(() => answers, { timeout: 10_000 }).toEqual(["Old_Agent"]);
});

test("an operator plays a parked call again on behalf of who made it, and not one that another than its service has parked", {
  timeout: 120_000,
}, async () => {
  await using broker = await verifiedHost(POLICY);
  await using service = await connect(broker, "echoes");
  await using researcher = await connect(broker, "researcher");
  const gone = await service.subscribe({ name: "echoes", topics: ["tool.invoke.echoes"] }, async () => {
    throw new DeadLetterError("not now");
  });
  await researcher.publish(request("echo_who", { replyTo: "tool.result.researcher" }));
  await expect.poll(async () => (await service.inspect("echoes", "parked"))?.messages, { timeout: 20_000 }).toBe(1);
  await gone[Symbol.asyncDispose]();

  let runs = 0;
  const count = async () => void runs++;
  await using _tools = await serveTools(service, whoTool("echo_who", { hold: count }), {
    service: "echoes",
    policy: broker.policy,
  });
  await using operator = await connect(broker, "ops");
  await using replayer = createReplayer(operator, { policy: broker.policy });
  const parked: ParkedMessage[] = [];
  await operator.visitParked("echoes", async (message) => {
    parked.push(message);
    return "keep";
  });
  expect(parked).toMatchObject([{ message: { userId: "researcher" }, parkedBy: "echoes" }]);
  const { message } = parked[0] as ParkedMessage;
  const played = await replayer.replay(message, "echoes", { timeoutMs: 20_000, parkedBy: "echoes" });
  expect([played, runs]).toMatchObject([{ reply: { content: "researcher" }, isFinal: true }, 1]);
  expect(await replayer.replay(message, "echoes", { timeoutMs: 20_000, parkedBy: "echoes" })).toEqual(played);
  expect(runs).toBe(1); // the same call by the same caller

  await expect(replayer.replay(message, "echoes", { timeoutMs: 20_000, parkedBy: "thief" })).rejects.toThrow(
    /"thief" has put it there/,
  );
  await expect(replayer.replay({ ...message, userId: undefined }, "echoes", { timeoutMs: 20_000 })).rejects.toThrow(
    /no sender that the bus has verified/,
  );
});

test("T04: an announcement counts only from the service that it is of, and lists only tools that the policy lets it offer", {
  timeout: 120_000,
}, async () => {
  await using broker = await verifiedHost(POLICY);
  await using researcher = await connect(broker, "researcher");
  await using caller = await createToolCaller(researcher, { agent: "researcher", policy: broker.policy });
  // One that the broker lets do anything, as if its rights had never been imported.
  await using anybody = await connectBus(broker.url, { identity: "verified" });
  const lure = {
    name: "echo_lure",
    description: "Come here.",
    parametersSchema: "{}",
    topic: "tool.invoke.thief",
    subscription: "thief",
  };
  const page = {
    service: "echoes",
    instance: "i1",
    epoch: Date.now(),
    hash: "0123456789abcdef",
    page: 0,
    pages: 1,
    tools: [lure],
    guides: [],
  };
  const body = encodeMessage("ToolAnnouncement", page);
  await anybody.publish(
    createEnvelope({ topic: "tool.announce.echoes", type: messages.ToolAnnouncement.type, source: "echoes", body }),
    { mandatory: true },
  );

  await using thief = await connect(broker, "thief");
  const sets = [whoTool("thief_own"), whoTool("echo_stolen")];
  const set = { tools: sets.flatMap(({ tools }) => tools), guides: sets[0]?.guides ?? [] };
  await using _tools = await serveTools(thief, set, { service: "thief", policy: broker.policy });
  const listed = () => caller.tools.getTools().flatMap(({ name, source }) => (source === "local" ? [] : [name]));
  await expect.poll(listed, { timeout: 20_000 }).toEqual(["thief_own"]);
  await expect(caller.call("echo_stolen", {}, { timeoutMs: 5_000 })).rejects.toMatchObject({
    code: ToolErrorCode.ToolNotFound,
  });
});
