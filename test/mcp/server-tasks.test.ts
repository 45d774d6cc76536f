import { generateKeyPairSync } from "node:crypto";
import { Keep, ToolError } from "@rockbot/contracts";
import { openSqliteRunStore } from "@rockbot/runs";
import { createCommander } from "@rockbot/tools/commands";
import { expect, test } from "vitest";
import { startTaskServer } from "../../packages/mcp/src/client/test-task-server.ts";
import { startTestBridge } from "../../services/mcp-bridge/src/test-bridge.ts";

const { privateKey, publicKey: operatorKey } = generateKeyPairSync("ed25519");
const TOOL = "shop__build";
const done = (text: string) => ({ status: "completed", result: { content: [{ type: "text", text }] } });
const askingFor = (key: string, params: object) => ({
  status: "input_required",
  inputRequests: { [key]: { method: "elicitation/create", params } },
});

/** A bridge before a server that makes tasks. */
async function startShop() {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await startTaskServer());
  const runs = stack.use(await openSqliteRunStore(undefined));
  const servers = () => ({ shop: { type: "http", url: server.url } });
  const { bus, caller } = stack.use(await startTestBridge(servers, { runs, operatorKey }));
  const commander = stack.use(createCommander(bus, { key: privateKey, source: "gateway", policy: undefined }));
  const open = async () => (await runs.open("mcp-bridge", 1))[0];
  return {
    server,
    caller,
    open,
    count: (method: string) => server.asked.filter((each) => each.method === method).length,
    /** The answers that the server was given. */
    told: () =>
      server.asked.filter(({ method }) => method === "tasks/update").map(({ params }) => params["inputResponses"]),
    /** The question that the run asks, once it is this one. */
    async question(words: string) {
      await expect.poll(async () => (await open())?.question?.message).toContain(words);
      return (await open())?.question;
    },
    async answer(hash: string | undefined, value: unknown) {
      const body = { caller: "tester", toolCallId: "b-1", hash, value };
      const command = { kind: "run.answer", service: "mcp-bridge", operator: "ann", body };
      const [answer] = await commander.send(command, { instances: 1, timeoutMs: 5_000 });
      return answer instanceof ToolError ? answer.message : answer;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test("a server's task is followed to its end, and what it asks meanwhile is asked of people, once each", async () => {
  await using shop = await startShop();
  const kept = { keep: Keep.IfParked, toolCallId: "b-1", timeoutMs: 4_000 };
  const call = shop.caller.call(TOOL, {}, kept).catch((error: unknown) => error);
  await expect.poll(async () => (await shop.open())?.handle?.text).toBeTypeOf("string");
  const requestedSchema = { type: "object", properties: { count: { type: "number" } }, required: ["count"] };
  const form = { message: "How many\u202e?", requestedSchema };
  shop.server.becomes(askingFor("count", form));
  const first = await shop.question("How many");
  expect(first).toMatchObject({ origin: "mcp:shop", message: expect.not.stringContaining("\u202e") });
  expect(await shop.answer(first?.hash, { count: 3 })).toEqual({ state: "ready" });
  await expect.poll(shop.told).toHaveLength(1);
  expect(await shop.answer(first?.hash, { count: 4 })).toMatch(/does not count/);
  shop.server.becomes(askingFor("more", form)); // another question in the same words
  const second = await shop.question("How many");
  await shop.answer(second?.hash, { count: 5 });
  await expect.poll(shop.told).toHaveLength(2);

  const url = "https://bank.example:pay@b\u00e4nk.example/pay?x=1";
  shop.server.becomes(askingFor("pay", { mode: "url", message: "Open bank.example", url, elicitationId: "e" }));
  const link = await shop.question("an address of the host xn--bnk-qla.example. Its name has letters beyond ASCII");
  expect(link?.message.endsWith(`\n\n${url}`)).toBe(true);
  const left = await call; // the words and the link are for a person, and never for the model
  expect(left).toMatchObject({ code: "pending", details: { mayHaveRun: true } });
  expect(JSON.stringify([String(left), left])).not.toMatch(/xn--|bank\.example|How many/);
  await shop.answer(link?.hash, { opened: true });
  await expect
    .poll(shop.told)
    .toEqual([
      { count: { action: "accept", content: { count: 3 } } },
      { more: { action: "accept", content: { count: 5 } } },
      { pay: { action: "accept" } },
    ]);
  shop.server.becomes(done("built"));
  const again = { ...kept, timeoutMs: 30_000 };
  expect(await shop.caller.call(TOOL, {}, again)).toMatchObject({ content: "built", trust: { origin: "mcp:shop" } });
  expect(await shop.answer(link?.hash, { opened: true })).toMatch(/the run is ended/);
  expect(shop.count("tools/call")).toBe(1);
});

test("a task is cancelled with its call: at its deadline, while it works, and while it waits for a person", async () => {
  await using shop = await startShop();
  const late = shop.caller.call(TOOL, {}, { timeoutMs: 5_000 });
  await expect(late).rejects.toMatchObject({ code: "timeout" });
  await expect.poll(() => shop.count("tasks/cancel")).toBe(1);

  const stop = new AbortController();
  const working = shop.caller.call(TOOL, {}, { signal: stop.signal, timeoutMs: 30_000 });
  await expect.poll(async () => (await shop.open())?.attempt).toBe(1);
  stop.abort();
  await expect(working).rejects.toThrow();
  await expect.poll(() => shop.count("tasks/cancel")).toBe(2);

  shop.server.tasks.clear();
  const gone = new AbortController();
  const asking = shop.caller.call(TOOL, {}, { signal: gone.signal, timeoutMs: 30_000 });
  await expect.poll(() => shop.server.tasks.size).toBe(1);
  shop.server.becomes(askingFor("name", { message: "Who?", requestedSchema: { type: "object", properties: {} } }));
  await shop.question("Who?");
  gone.abort();
  await expect(asking).rejects.toThrow();
  await expect.poll(() => shop.count("tasks/cancel")).toBe(3);
});

test("a task that its server has lost ends as of unknown outcome, and one that failed as it failed", async () => {
  await using shop = await startShop();
  const lost = shop.caller.call(TOOL, {}, { timeoutMs: 30_000 });
  await expect.poll(() => shop.server.tasks.size).toBe(1);
  shop.server.tasks.clear();
  await expect(lost).rejects.toMatchObject({ code: "outcome_unknown", details: { mayHaveRun: true } });
  const failed = shop.caller.call(TOOL, {}, { timeoutMs: 30_000 });
  await expect.poll(() => shop.server.tasks.size).toBe(1);
  shop.server.becomes({ status: "failed", error: { code: -32_000, message: "no luck" } });
  await expect(failed).rejects.toMatchObject({ code: "execution_failed", message: expect.stringContaining("no luck") });
  expect(shop.count("tools/call")).toBe(2);
});
