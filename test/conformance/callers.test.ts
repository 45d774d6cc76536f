import { connectBus } from "@rockbot/bus-rabbitmq";
import { type CaseResult, runCallerConformance } from "@rockbot/conformance";
import { sharedAmqpUrl } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { uniqueName } from "../broker/messages.ts";
import { openRawChannel } from "../broker/raw-channel.ts";

const url = await sharedAmqpUrl();
const names = () => ({ caller: uniqueName(), service: uniqueName(), tool: uniqueName() });
const clausesOf = (results: readonly CaseResult[], outcome: string) => [
  ...new Set(results.filter((one) => one.outcome === outcome).map(({ clause }) => clause)),
];

test("a ToolCaller keeps every clause, and what nobody sees from there is said", { timeout: 120_000 }, async () => {
  const { caller: agent, service, tool } = names();
  const examining = runCallerConformance({ url, caller: agent, service, tool });
  examining.catch(() => {});
  await using bus = await connectBus(url);
  await using caller = await createToolCaller(bus, { agent, results: "copy" });
  await expect.poll(async () => (await caller.discovered()).services, { timeout: 20_000 }).toContain(service);
  for (let number = 0, seen = ""; number < 6 && seen !== "done"; number++) {
    const calling = caller.call(tool, { seen }, { timeoutMs: 4_000, onProgress: () => {} });
    seen = await calling.then(({ content }) => content ?? "").catch(() => "");
  }
  const results = await examining;
  expect(results.filter(({ outcome }) => outcome !== "kept")).toMatchObject([
    { name: expect.stringMatching(/^requests are mandatory/), outcome: "not tried" },
  ]);
});

test("a caller that gets everything wrong is told each clause by name", { timeout: 120_000 }, async () => {
  const { caller, service, tool } = names();
  const examining = runCallerConformance({ url, caller, service, tool });
  examining.catch(() => {});
  await using raw = await openRawChannel(url);
  const { queue } = await raw.channel.assertQueue("", { exclusive: true });
  await raw.channel.bindQueue(queue, "rockbot", `tool.announce.${service}`);
  const send = (topic: string, type: string, body: object) =>
    raw.channel.publish("rockbot", topic, Buffer.from(JSON.stringify(body)), {
      type,
      headers: { "rb-source": "other", "rb-rb-progress": 1 },
      replyTo: `tool.result.${caller}x`,
    });
  let number = 0;
  const call = () =>
    send(`tool.invoke.${service}`, "ToolCall", {
      toolCallId: "same",
      toolName: tool,
      arguments: JSON.stringify({ seen: `wrong ${number++}` }),
    });
  await raw.channel.consume(queue, () => {
    if (number < 3) call();
    else send(`tool.cancel.${service}-queue`, "Cancel", { toolCallId: "same" });
  });

  expect(clausesOf(await examining, "broken").sort()).toEqual(
    [
      "caller-answer",
      "caller-cancel",
      "caller-progress",
      "caller-request",
      "caller-results",
      "headers",
      "properties",
      "redelivered",
      "request-form",
      "sender",
    ].sort(),
  );
});
