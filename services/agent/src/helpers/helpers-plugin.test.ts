import type { AgentHost, TurnScope } from "@rockbot/agent";
import { BusClosedError, silentLogger } from "@rockbot/bus";
import { ToolError } from "@rockbot/contracts";
import { createWorkingMemory } from "@rockbot/memory";
import type { Tool } from "@rockbot/tools";
import { expect, test } from "vitest";
import { HelperRun } from "./agent-helper.ts";
import { type HelperBounds, type HelperRecord, HelperRecords } from "./helper-records.ts";
import { helpers } from "./helpers-plugin.ts";

type SendHelper = (onSent: () => void, toolCallId: string) => Promise<never>;

const scope = { caller: "alice", sessionId: "s", rootSessionId: "s", turnId: "t1" } as TurnScope;

/** The plugin as one process has it. */
function startHelpers(records: HelperRecords, send: SendHelper, told: string[] = []) {
  const caller = {
    toolsOf: () => [{ name: "agent__helper" }],
    call: (
      _name: string,
      _input: object,
      { onSent, toolCallId }: { readonly onSent: () => void; readonly toolCallId: string },
    ) => send(onSent, toolCallId),
  };
  const tellFailure = async (_input: object, failure: string) => void told.push(failure);
  const plugin = helpers({
    records,
    messages: { progress: async () => {} },
    turnTimeoutMs: 10_000,
    tellFailure,
    againMs: 0,
  });
  return plugin.start?.({ caller, log: silentLogger } as unknown as AgentHost);
}

/** The tool `spawn_subagent` as one process has it. */
async function spawnTool(
  records: HelperRecords,
  send: SendHelper,
  told?: string[],
): Promise<(toolCallId: string) => Promise<unknown>> {
  const plugin = await startHelpers(records, send, told);
  const tool = plugin?.tools?.(scope)?.find(({ definition }) => definition.name === "spawn_subagent") as Tool;
  const context = {
    caller: "alice",
    signal: new AbortController().signal,
    deadline: performance.now() + 60_000,
    progress: () => {},
    log: silentLogger,
  };
  return (toolCallId) =>
    tool.executor.execute({ toolCallId, toolName: "spawn_subagent", arguments: "{}", sessionId: null }, {
      ...context,
      toolCallId,
      input: { description: "Count." },
    } as never);
}

const bounds: HelperBounds = { maxActive: 2, maxUnattended: 2, isUnattended: false };
const never = () => new Promise<never>(() => {});
const record = (taskId: string, more: Partial<HelperRecord> = {}): HelperRecord => ({
  taskId,
  description: "x",
  state: "running",
  startedAt: 1,
  ...more,
});

test("a process that takes up a call sends the helper's request that the one before had only noted down", async () => {
  await using memory = createWorkingMemory();
  const records = new HelperRecords(memory);
  void (await spawnTool(records, never))("call-1"); // dies before it sends
  await expect.poll(async () => (await records.list("alice", "s")).map(({ state }) => state)).toEqual(["waiting"]);
  let sent = 0;
  const spawn = await spawnTool(new HelperRecords(memory), (onSent) => {
    sent++;
    onSent();
    return never();
  });
  expect(await spawn("call-1")).toMatchObject({ content: expect.stringMatching(/^Helper [0-9a-f]{12} has started/) });
  expect(sent).toBe(1);
  expect(await records.list("alice", "s")).toHaveLength(1);
});

test("a helper that was promised is asked for again under its id while its call is refused for now, and its session is told if it fails for good", async () => {
  await using memory = createWorkingMemory();
  const records = new HelperRecords(memory);
  const ids: string[] = [];
  const told: string[] = [];
  const spawn = await spawnTool(
    records,
    async (onSent, toolCallId) => {
      onSent();
      ids.push(toolCallId);
      throw new ToolError(ids.length < 4 ? "unavailable" : "denied", "not now");
    },
    told,
  );
  expect(await spawn("call-1")).toMatchObject({ content: expect.stringMatching(/^Helper [0-9a-f]{12} has started/) });
  await expect.poll(() => told).toEqual(["denied: not now"]);
  expect([ids.length, new Set(ids).size]).toEqual([4, 1]);
  await expect.poll(() => records.list("alice", "s")).toMatchObject([{ state: "failed", isUntold: false }]);
});

test("a process that closes its bus says of no helper that it has failed, as its request lies with the bus, or is sent by the next process", async () => {
  await using memory = createWorkingMemory();
  const records = new HelperRecords(memory);
  const told: string[] = [];
  const closed = new ToolError("outcome_unknown", "this process closed its bus", {
    cause: new BusClosedError("closed"),
  });
  const ends: ((error: Error) => void)[] = [];
  const untilClosed: SendHelper = (onSent) => {
    onSent();
    return new Promise((_, reject) => ends.push(reject));
  };
  await (await spawnTool(records, untilClosed, told))("call-1");
  ends[0]?.(closed);
  await (await spawnTool(records, () => Promise.reject(closed), told))("call-2").catch(() => {});
  expect(await records.list("alice", "s")).toMatchObject([{ state: "waiting" }, { state: "waiting" }]);
  expect(told).toEqual([]);
});

test("a session is told of a helper again where the store of conversations was away", async () => {
  await using memory = createWorkingMemory();
  let asked = 0;
  const runTurn = async () => {
    if (++asked === 1) throw new ToolError("unavailable", "The message was not taken.");
    return {
      text: "A pity.",
      finish: "stop",
      usage: { inputTokens: 1, outputTokens: 1 },
      hasReadUntrusted: false,
    } as const;
  };
  const heard: string[] = [];
  const onUnasked = async (...of: readonly string[]) => void heard.push(of[3] ?? "");
  const run = new HelperRun(
    { runTurn },
    { records: new HelperRecords(memory), messages: { result: async () => {} }, onUnasked },
  );
  const about = {
    caller: "alice",
    toolCallId: "call-1",
    signal: new AbortController().signal,
    deadline: performance.now() + 60_000,
  };
  await run.tellFailure(
    { task_id: "0123456789ab", session_id: "s", root_session_id: "s", description: "Count." },
    "not now",
    about,
  );
  expect(heard).toEqual(["A pity."]);
});

test("a helper that has failed, and of which nobody was left to tell, stands beside the next message of its session, and no other turn's", async () => {
  await using memory = createWorkingMemory();
  const records = new HelperRecords(memory);
  const plugin = await startHelpers(records, never);
  await records.add("alice", "s", record("0123456789ab", { state: "waiting", endsBy: Date.now() - 1 }));
  expect(await plugin?.aside?.({ ...scope, sessionId: "sub-x" }, "Hello.", () => true)).toBeUndefined();
  const untold = {
    text: "Helper 0123456789ab has failed, and you were not told before: it did not end in its time. Its task was: x",
    isUntrusted: false,
  };
  expect(await plugin?.aside?.(scope, "Hello.", () => true)).toEqual(untold);
  expect(await plugin?.aside?.(scope, "Hello.", () => true)).toEqual(untold); // as another process takes the turn up
  expect(await plugin?.aside?.({ ...scope, turnId: "t2" }, "Hello.", () => true)).toBeUndefined();
});

test("helpers whose time is over take no place from others, though nobody was left to say that they have ended", async () => {
  await using memory = createWorkingMemory();
  const records = new HelperRecords(memory);
  for (const [index, endsBy] of [Date.now() - 1, Date.now() - 1, Date.now() + 60_000].entries())
    await records.add("alice", "s", record(`${index}`, { endsBy }), { ...bounds, maxActive: 3 });
  expect(await records.add("alice", "s", record("3", { endsBy: Date.now() + 60_000 }), bounds)).toBeUndefined();
  expect(await records.add("alice", "s", record("4"), bounds)).toMatchObject({
    active: [{ taskId: "2" }, { taskId: "3" }],
  });
  expect(await records.get("alice", "s", "0")).toMatchObject({
    state: "failed",
    progress: "it did not end in its time",
  });
});

test("turns that were told of a helper's end start so many helpers in a row, until a user's turn starts one", async () => {
  await using memory = createWorkingMemory();
  const records = new HelperRecords(memory);
  let startedAt = 1;
  const add = (taskId: string, isUnattended: boolean) =>
    records.add("alice", "s", record(taskId, { state: "done", startedAt: startedAt++ }), { ...bounds, isUnattended });
  for (const round of ["a", "b"]) {
    expect([await add(`${round}0`, false), await add(`${round}1`, true), await add(`${round}2`, true)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(await add(`${round}3`, true)).toEqual({ unattended: 2 });
    expect(await add(`${round}2`, true)).toBeUndefined(); // one that is there is not counted again
  }
});
