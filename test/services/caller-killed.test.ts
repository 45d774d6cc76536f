import { randomBytes } from "node:crypto";
import { connectRedisJournalStore } from "@rockbot/records/journal/redis";
import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startHeldTool } from "./held-tool.ts";
import { startProgram, startService } from "./start-service.ts";

const CALLS = 50;
const POLL = { timeout: 20_000, interval: 50 };
const newName = () => `held-${randomBytes(4).toString("hex")}`;

// F10: half of the answers come while nobody is there, the other half after the restart.
test("a caller that is killed with 50 calls out finds all 50 answers after its restart, each once", {
  timeout: 90_000,
}, async () => {
  const [amqpUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);
  const name = newName();
  await using tool = await startHeldTool(amqpUrl, name);
  await using journals = await connectRedisJournalStore(redisUrl, { prefix: name });
  const start = (calls: number) =>
    startProgram("test/services/calling-service.ts", { args: [amqpUrl, redisUrl, name, String(calls)] });

  await using before = start(CALLS);
  await expect.poll(() => before.stdout() + before.stderr(), POLL).toContain("out\n");
  await expect.poll(() => tool.counts().started, POLL).toBe(CALLS);
  const out = (await journals.readOpen(`${name}.0`)).map(({ toolCallId }) => toolCallId).sort();
  before.kill("SIGKILL");
  await before.ended;
  tool.release("even");
  await expect.poll(() => tool.counts().ended, POLL).toBe(CALLS / 2);

  const killedAt = performance.now();
  await using after = start(0);
  await expect.poll(() => after.stdout(), POLL).toContain("\n"); // the first answers are there
  tool.release("odd");
  await expect.poll(() => after.stdout() + after.stderr(), POLL).toContain("resumed\n");
  console.log({ calls: CALLS, foundAfterMs: Math.round(performance.now() - killedAt) });

  const lines = after.stdout().trim().split("\n").slice(0, -1);
  const answers = lines.map((line) => JSON.parse(line) as { readonly toolCallId: string; readonly content?: string });
  expect(answers.map(({ toolCallId }) => toolCallId).sort()).toEqual(out);
  expect(answers.map(({ content }) => Number(content)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: CALLS }, (_, index) => index),
  );
  expect(tool.counts().started).toBe(CALLS);
  await expect.poll(() => journals.readOpen(`${name}.0`), POLL).toEqual([]);
});

test("a gateway that is killed gives the answer of a call that was out when it is back, and keeps its key for that call", {
  timeout: 90_000,
}, async () => {
  const [amqpUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);
  const name = newName();
  await using tool = await startHeldTool(amqpUrl, name);
  const env = { BUS_URL: amqpUrl, REDIS_URL: redisUrl, PORT: "0", AGENT_NAME: name, INSTANCE: "a" };
  const urlOf = (gateway: { stdout(): string }) => /http:\/\/127\.0\.0\.1:\d+/.exec(gateway.stdout())?.[0] ?? "";
  const key = `order-${name}`;
  const stateIn = async (gateway: { stdout(): string }) =>
    (await (await fetch(`${urlOf(gateway)}/v1/calls/${key}`)).json()) as Record<string, unknown>;

  await using before = await startService("gateway", env);
  const headers = { "content-type": "application/json", "idempotency-key": key };
  const broken = fetch(`${urlOf(before)}/v1/tools/${name}/invoke`, {
    method: "POST",
    headers,
    body: '{"index":0}',
  }).catch(() => "broken");
  await expect.poll(() => tool.counts().started, POLL).toBe(1);
  await expect.poll(() => stateIn(before), POLL).toMatchObject({ state: "accepted" });
  before.kill("SIGKILL");
  await before.ended;
  expect(await broken).toBe("broken");

  await using after = await startService("gateway", env);
  expect(await stateIn(after)).toMatchObject({
    toolName: name,
    state: expect.stringMatching(/^(asked|accepted)$/) as string,
  });
  tool.release("even");
  await expect.poll(() => stateIn(after), POLL).toMatchObject({ state: "answered", result: { content: "0" } });

  // The key stays the call's: the same request gets its answer, and another one is refused and changes nothing.
  const again = async (body: string) => {
    const answer = await fetch(`${urlOf(after)}/v1/tools/${name}/invoke`, {
      method: "POST",
      headers,
      body,
      signal: AbortSignal.timeout(30_000),
    });
    return [answer.status, await answer.json()];
  };
  expect(await again('{"index":0}')).toEqual([200, expect.objectContaining({ content: "0" })]);
  expect(await again('{"index":1}')).toEqual([
    400,
    expect.objectContaining({ code: "invalid_arguments", details: expect.objectContaining({ reason: "conflict" }) }),
  ]);
  expect(await stateIn(after)).toMatchObject({ state: "answered", result: { content: "0" } });
  expect(tool.counts().started).toBe(1);
});
