import { createMemoryBus, MAX_HEADER_BYTES } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { createEnvelope, type Envelope, MAX_REQUEST_BYTES, messages, newId } from "@rockbot/contracts";
import { sharedAmqpUrl } from "@rockbot/testing";
import { createToolCaller, defineTool, MAX_RESULT_BYTES, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { uniqueName } from "./messages.ts";

/** A body of a call of `echo` with exactly so many bytes. */
function bodyOf(bytes: number): Buffer {
  const make = (padding: string): string =>
    JSON.stringify({
      toolCallId: newId(),
      toolName: "echo",
      arguments: JSON.stringify({ a: padding }),
      sessionId: null,
    });
  return Buffer.from(make("x".repeat(bytes - make("").length)));
}

const buses = [
  ["the in-memory bus", async () => createMemoryBus()],
  ["RabbitMQ", async () => connectBus(await sharedAmqpUrl())],
] as const;

test.each(buses)(
  "over %s the largest request, result and headers are carried, and with one byte more each side says too_large",
  { timeout: 60_000 },
  async (_, open) => {
    await using bus = await open();
    const service = uniqueName();
    let resultBytes = 1;
    const definition = {
      name: "echo",
      description: "For tests.",
      inputSchema: { type: "object" },
      readOnly: true,
      idempotent: true,
      validateInput: Object.assign((_: unknown): _ is object => true, { errors: null }),
    };
    const echo = defineTool(definition, async () => "x".repeat(resultBytes));
    await using _service = await serveTools(
      bus,
      { tools: [echo], guides: [{ name: service, summary: "Echoes.", document: "# Echo" }] },
      { service },
    );
    await using caller = await createToolCaller(bus, { agent: service });
    await caller.discovered();
    const answers: Envelope[] = [];
    const replyTo = `tool.result.${service}.raw`;
    await using _answers = await bus.subscribe(
      { name: `raw-${service}`, topics: [replyTo], kind: "copy" },
      async (answer) => void answers.push(answer),
    );

    /** What the service says to a message that a stranger sends past our own checks. */
    async function ask(body: Buffer, headers: Record<string, string> = {}): Promise<unknown> {
      const before = answers.length;
      await bus.publish(
        createEnvelope({
          topic: `tool.invoke.${service}`,
          type: messages.ToolInvokeRequest.type,
          source: service,
          replyTo,
          body,
          headers,
        }),
      );
      await expect.poll(() => answers.length, { timeout: 20_000 }).toBe(before + 1);
      return (JSON.parse(Buffer.from(answers.at(-1)?.body ?? []).toString()) as { code?: unknown }).code;
    }
    const call = (args: object | undefined) =>
      caller.call("echo", args).then(
        () => undefined,
        (error: { code?: unknown }) => error.code,
      );
    const argumentsOf = (bytes: number): object => ({ a: "x".repeat(bytes) });

    const said: unknown[] = [];
    for (const bytes of [-1, 0, 1]) said.push(await ask(bodyOf(MAX_REQUEST_BYTES + bytes)));
    expect(said).toEqual([undefined, undefined, "too_large"]);
    // What surrounds the arguments in the body of our own caller has some hundred bytes.
    expect([await call(argumentsOf(MAX_REQUEST_BYTES - 1_000)), await call(argumentsOf(MAX_REQUEST_BYTES))]).toEqual([
      undefined,
      "too_large",
    ]);
    expect(await ask(bodyOf(1_000), { a: "x".repeat(MAX_HEADER_BYTES - 1) })).toBeUndefined();
    const results: unknown[] = [];
    for (const bytes of [MAX_RESULT_BYTES - 1_000, MAX_RESULT_BYTES]) {
      resultBytes = bytes;
      results.push(await call(undefined));
    }
    expect(results).toEqual([undefined, "too_large"]);
  },
);
