import { randomBytes } from "node:crypto";
import { connectBus } from "@rockbot/bus-rabbitmq";
import type { ToolDefinition, Validator } from "@rockbot/contracts";
import { connectRedisJournalStore } from "@rockbot/journal/redis";
import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startProgram } from "./start-service.ts";

const CALLS = 50;
const POLL = { timeout: 20_000, interval: 50 };

const definition: ToolDefinition<{ readonly index: number }> = {
  name: "hold",
  description: "Gives back its argument when it is told to.",
  inputSchema: { type: "object" },
  readOnly: false,
  idempotent: false,
  validateInput: ((value: unknown) => typeof (value as { index?: unknown }).index === "number") as Validator<{ readonly index: number }>,
};

// F10: half of the answers come while nobody is there, the other half after the restart.
test("a caller that is killed with 50 calls out finds all 50 answers after its restart, each once", { timeout: 90_000 }, async () => {
  const [amqpUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);
  const prefix = `caller-${randomBytes(4).toString("hex")}`;
  const halves = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  let runs = 0;
  let ended = 0;
  const hold = defineTool(definition, async ({ index }) => {
    runs++;
    await halves[index % 2 === 0 ? 0 : 1].promise;
    ended++;
    return String(index);
  });
  await using bus = await connectBus(amqpUrl, { name: "hold" });
  const guides = [{ name: prefix, summary: "Holds.", document: "# Hold" }];
  await using _tools = await serveTools(bus, { tools: [hold], guides }, { service: prefix, concurrency: 2 * CALLS });
  await using journals = await connectRedisJournalStore(redisUrl, { prefix });

  const start = (calls: number) => startProgram("test/services/calling-service.ts", { args: [amqpUrl, redisUrl, prefix, String(calls)] });
  await using before = start(CALLS);
  await expect.poll(() => before.stdout() + before.stderr(), POLL).toContain("out\n");
  await expect.poll(() => runs, POLL).toBe(CALLS);
  const out = (await journals.readOpen(`${prefix}.0`)).map(({ toolCallId }) => toolCallId).sort();
  before.kill("SIGKILL");
  await before.ended;
  halves[0].resolve();
  await expect.poll(() => ended, POLL).toBe(CALLS / 2);

  const killedAt = performance.now();
  await using after = start(0);
  await expect.poll(() => after.stdout(), POLL).toContain("\n"); // the first answers are there
  halves[1].resolve();
  await expect.poll(() => after.stdout() + after.stderr(), POLL).toContain("resumed\n");
  console.log({ calls: CALLS, foundAfterMs: Math.round(performance.now() - killedAt) });

  const answers = after
    .stdout()
    .trim()
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { toolCallId: string; content?: string });
  expect(answers.map(({ toolCallId }) => toolCallId).sort()).toEqual(out);
  expect(answers.map(({ content }) => Number(content)).sort((a, b) => a - b)).toEqual(Array.from({ length: CALLS }, (_, index) => index));
  expect(runs).toBe(CALLS);
  expect(await journals.readOpen(`${prefix}.0`)).toEqual([]);
});
