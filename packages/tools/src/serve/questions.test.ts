import { generateKeyPairSync } from "node:crypto";
import { createMemoryBus } from "@rockbot/bus";
import { Keep, ToolError, type Validator } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { MAX_ASKED_BYTES, openSqliteRunStore, type Run, RunState } from "@rockbot/runs";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { createCommander } from "../commands/send-commands.ts";
import { ANSWER, ANSWER_OF_CALLER } from "../commands/take-commands.ts";
import { type AskingCallContext, defineTool, type ResumableCallContext } from "../define/define-tool.ts";
import { testSet, testTool } from "../test-tools.ts";
import { serveTools } from "./serve-tools.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const aNumber = {
  message: "How many?",
  schema: { type: "number" },
  validate: ((value: unknown) => typeof value === "number") as Validator<number>,
};
const aForm = {
  message: "How many?",
  schema: { type: "object", properties: { count: { type: "number" } } },
  validate: (() => true) as unknown as Validator<{ readonly count: number }>,
};

/** A service with a tool that asks people, and what they answer. */
async function station(run: (input: unknown, context: AskingCallContext) => Promise<string>, policyText?: string) {
  const stack = new AsyncDisposableStack();
  const bus = stack.use(createMemoryBus());
  const runs = stack.use(await openSqliteRunStore(undefined));
  const tool = defineTool(testTool("order", async () => "").definition, run, { asks: true });
  const policy = policyText && holdPolicy(createPolicy(await readPolicy(policyText, "test")));
  const options = { service: "shop", runs, operatorKey: publicKey, drainMs: 1, ...(policy ? { policy } : {}) };
  stack.use(await serveTools(bus, testSet(tool), options));
  const caller = stack.use(await createToolCaller(bus, { agent: "ada" }));
  await caller.discovered();
  const commander = stack.use(createCommander(bus, { key: privateKey, source: "gateway", policy: undefined }));
  return {
    caller,
    runs,
    /** The run that waits for an answer to this question. */
    async waiting(message: string): Promise<Run> {
      await expect.poll(async () => (await runs.open("shop", 1))[0]?.question?.message).toBe(message);
      return (await runs.open("shop", 1))[0] as Run;
    },
    async answer({ caller: of, toolCallId, question }: Run, value: unknown, kind: string = ANSWER) {
      const body = { caller: of, toolCallId, hash: question?.hash ?? "none", value };
      const command = { kind, service: "shop", operator: "ann", body };
      const [answer] = await commander.send(command, { instances: 1, timeoutMs: 5_000 });
      return answer instanceof ToolError ? answer.message : answer;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test("a tool that asks runs again from its beginning with the answers, and its caller gets one end", async () => {
  let runs = 0;
  await using shop = await station(async (_, context) => {
    runs++;
    const count = await context.ask(aNumber);
    const colour = await context.ask({ ...aNumber, message: "Which colour?" });
    context.begins();
    return `${count} of ${colour}`;
  });
  const call = shop.caller.call("order", {});
  const first = await shop.waiting("How many?");
  expect(await shop.answer(first, 3)).toEqual({ state: RunState.Ready });
  const second = await shop.waiting("Which colour?");
  expect(await shop.answer(first, 4)).toMatch(/does not count: it asks another question/);
  expect(await shop.answer(second, 7)).toEqual({ state: RunState.Ready });
  expect(await call).toMatchObject({ content: "3 of 7" });
  expect(runs).toBe(3);
  expect(await shop.answer(second, 7)).toMatch(/the run is ended/);
});

test("an answer that does not fit is asked for again, with what is wrong about it", async () => {
  await using shop = await station(async (_, context) => `${await context.ask(aNumber)}`);
  const call = shop.caller.call("order", {});
  const asked = await shop.waiting("How many?");
  expect(await shop.answer(asked, "x".repeat(MAX_ASKED_BYTES))).toMatch(/does not count: it has more than/);
  await shop.answer(asked, "three");
  await expect.poll(async () => (await shop.runs.open("shop", 1))[0]?.question?.faults).toBeTruthy();
  await shop.answer(await shop.waiting("How many?"), 3);
  expect(await call).toMatchObject({ content: "3" });
});

test("a caller that leaves hears the question, and a kept call goes on without it", async () => {
  await using shop = await station(async (_, context) => `${await context.ask(aNumber)}`);
  const options = { keep: Keep.IfParked, timeoutMs: 500, toolCallId: "o-1" };
  const left = await shop.caller.call("order", {}, options).catch((error: unknown) => error);
  expect(left).toMatchObject({ code: "pending", message: expect.stringContaining("a person's answer to: How many?") });
  await shop.answer(await shop.waiting("How many?"), 5);
  await expect.poll(async () => (await shop.runs.open("shop", 1)).length).toBe(0);
  expect(await shop.caller.call("order", {}, options)).toMatchObject({ content: "5" });
});

test("a tool whose service knows no operators is told that nobody would answer", async () => {
  await using bus = createMemoryBus();
  const run = async (_: unknown, { ask, canAsk }: AskingCallContext) => (canAsk ? "can" : `${await ask(aNumber)}`);
  const tool = defineTool(testTool("order", async () => "").definition, run, { asks: true });
  await using _ = await serveTools(bus, testSet(tool), { service: "shop" });
  await using caller = await createToolCaller(bus, { agent: "ada" });
  await caller.discovered();
  await expect(caller.call("order", {})).rejects.toMatchObject({
    code: "execution_failed",
    message: expect.stringContaining("nobody can answer here"),
  });
});

test("a tool does not ask after its first effect, nor for a secret", async () => {
  await using shop = await station(async (input, context) => {
    if ("late" in (input as object)) context.begins();
    const schema = { type: "object", properties: { api_key: { type: "string" } } };
    return `${await context.ask("late" in (input as object) ? aNumber : { ...aNumber, schema })}`;
  });
  for (const [input, why] of [
    [{ late: true }, /has begun its effects/],
    [{}, /people do not type secrets into a form, such as "api_key"/],
  ] as const)
    await expect(shop.caller.call("order", input)).rejects.toMatchObject({
      code: "execution_failed",
      message: expect.stringMatching(why),
      details: { reason: "cannot_ask" },
    });
});

test("the person behind a caller answers only where the call says so, is asked at once, and approves nothing", async () => {
  const policy = `
everyone: { allow: ["*"] }
operators: [{ name: ann, tokens: [], may: [decide] }]
approve: [{ tools: [order], arguments: { type: object, required: [paid] }, by: [ann] }]`;
  await using shop = await station(async (_, context) => `${(await context.ask(aForm)).count}`, policy);
  const other = shop.caller.call("order", {}, { timeoutMs: 60_000 });
  const asked = await shop.waiting("How many?");
  expect(await shop.answer(asked, { count: 3 }, ANSWER_OF_CALLER)).toMatch(/asks nothing that its caller answers/);
  await shop.answer(asked, { count: 3 });
  expect(await other).toMatchObject({ content: "3" });

  const options = { asksCaller: true, toolCallId: "o-1", timeoutMs: 60_000 };
  const told = { code: "pending", details: { isKept: true } };
  await expect(shop.caller.call("order", {}, options)).rejects.toMatchObject(told);
  expect(await shop.answer(await shop.waiting("How many?"), { count: 4 }, ANSWER_OF_CALLER)).toEqual({
    state: RunState.Ready,
  });
  expect(await shop.caller.call("order", {}, options)).toMatchObject({ content: "4" });

  const paid = shop.caller.call("order", { paid: true }, { ...options, toolCallId: "o-2" });
  await expect.poll(async () => (await shop.runs.open("shop", 1))[0]?.approval).toBeTruthy();
  const [run] = await shop.runs.open("shop", 1);
  expect(await shop.answer(run as Run, { count: 5 }, ANSWER_OF_CALLER)).toMatch(/asks nothing that its caller answers/);
  expect((await shop.runs.open("shop", 1))[0]).toMatchObject({ state: RunState.Parked, isKept: false });
  void paid.catch(() => {});
});

test("a resumable tool whose detached run has lost its owner is told that the run may have begun", async () => {
  await using bus = createMemoryBus();
  await using runs = await openSqliteRunStore(undefined);
  const told: unknown[] = [];
  const { definition } = testTool("build", async () => "");
  const run = async (_: unknown, { mayHaveBegun, signal }: ResumableCallContext) => {
    told.push(mayHaveBegun);
    if (told.length === 1) await new Promise((_resolve, reject) => signal.addEventListener("abort", reject));
    return "built";
  };
  const tool = defineTool(definition, run, { isResumable: true });
  await using _ = await serveTools(bus, testSet(tool), { service: "shop", runs, drainMs: 1 });
  await using caller = await createToolCaller(bus, { agent: "ada" });
  await caller.discovered();
  const detached = { keep: Keep.Detached, timeoutMs: 30_000, toolCallId: "b-1" };
  await caller.call("build", {}, detached).catch((error: unknown) => error);
  await expect.poll(() => told.length).toBe(1);
  const [open] = await runs.open("shop", 1);
  const stored = open && (await runs.read(open));
  if (stored !== undefined) await runs.replace(stored, { ...stored.run, lease: { owner: "gone", until: 0 } });
  await expect.poll(() => told, { timeout: 20_000 }).toEqual([undefined, true]);
});
