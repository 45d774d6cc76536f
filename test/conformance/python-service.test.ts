import { join } from "node:path";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { type CaseResult, runConformance, serviceCommand } from "@rockbot/conformance";
import { sharedAmqpUrl, startTcpFaultProxy } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { uniqueName } from "../broker/messages.ts";
import { openRawChannel } from "../broker/raw-channel.ts";
import { pythonEnvironment } from "../python-environment.ts";

const folder = join(import.meta.dirname, "../../examples/python-service");
const url = await sharedAmqpUrl();
const environment = await pythonEnvironment(join(folder, "requirements.txt"));
const isMissing = "missing" in environment;
const why = isMissing ? ` (skipped: ${environment.missing})` : "";
const python = isMissing ? "" : environment.python;

/** The example as a process. Disposal kills it. */
const exampleService = (service: string, bus: string) =>
  serviceCommand(`SERVICE=${service} BUS_URL='${bus}' exec '${python}' '${join(folder, "tools.py")}'`);

test.skipIf(isMissing)(`the Python service keeps every clause of the contract${why}`, async () => {
  const service = uniqueName();
  await using example = exampleService(service, url);
  const results: readonly CaseResult[] = await runConformance({
    url,
    topic: `tool.invoke.${service}`,
    service,
    quick: { tool: "roll_dice", arguments: '{"sides":1000000000}' },
    slow: { tool: "wait_seconds", arguments: '{"seconds":1.5}' },
    process: example,
  });
  expect(results.filter(({ outcome }) => outcome !== "kept")).toEqual([]);
  expect(results.length).toBeGreaterThanOrEqual(35);
});

test.skipIf(isMissing)(
  `a caller of ours calls the Python service, whose call outlives a lost connection, and runs once${why}`,
  async () => {
    const service = uniqueName();
    await using proxy = await startTcpFaultProxy(url);
    await using example = exampleService(service, proxy.through(url));
    await example.start();
    await using bus = await connectBus(url);
    await using caller = await createToolCaller(bus, { agent: uniqueName() });
    await expect.poll(() => caller.tools.getTools().some(({ name }) => name === "roll_dice")).toBe(true);

    await expect(caller.call("roll_dice", { sides: 6 })).resolves.toMatchObject({
      content: expect.stringMatching(/^You rolled [1-6]\.$/),
      isError: false,
    });
    await expect(caller.call("roll_dice", { sides: "six" })).rejects.toMatchObject({
      code: "invalid_arguments",
      details: { faults: [{ path: "/sides" }] },
    });
    const begun = Promise.withResolvers<void>();
    const cutOff = caller.call(
      "wait_seconds",
      { seconds: 1 },
      { timeoutMs: 30_000, onProgress: () => begun.resolve() },
    );
    await begun.promise;
    proxy.cutAll();
    await expect(cutOff).resolves.toMatchObject({ content: expect.stringContaining("Waited 1 seconds") }); // the number of its one run: a second one would be outcome_unknown
  },
);

test.skipIf(isMissing)(
  `what processes have died over is answered by the Python service, and parked${why}`,
  async () => {
    const service = uniqueName();
    await using bus = await connectBus(url);
    await using raw = await openRawChannel(url);
    await using example = exampleService(service, url);
    await example.start();
    await expect.poll(async () => (await bus.inspect(service))?.consumers).toBe(1);

    const answered = Promise.withResolvers<Record<string, unknown>>();
    const { queue } = await raw.channel.assertQueue("", { exclusive: true });
    const replyTo = `tool.result.${service}`;
    await raw.channel.bindQueue(queue, "rockbot", replyTo);
    await raw.channel.consume(
      queue,
      (message) =>
        message !== null && answered.resolve(JSON.parse(message.content.toString()) as Record<string, unknown>),
    );
    const body = Buffer.from(JSON.stringify({ toolCallId: "poison", toolName: "roll_dice", arguments: '{"sides":6}' }));
    // As the broker moves it: from the main queue's dead letters.
    raw.channel.publish("rockbot.dlx.v1", `rockbot.${service}.v1.retry`, body, {
      replyTo,
      correlationId: "c",
      headers: { "rb-source": "somebody" },
    });

    expect(await answered.promise).toMatchObject({
      toolCallId: "poison",
      code: "execution_failed",
      details: { reason: "crashed", mayHaveRun: true },
    });
    await expect.poll(async () => (await bus.inspect(service, "parked"))?.messages).toBe(1);
  },
);
