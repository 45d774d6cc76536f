import type { AgentHost, TurnScope } from "@rockbot/agent";
import { silentLogger } from "@rockbot/bus";
import { createWorkingMemory } from "@rockbot/memory";
import type { Tool } from "@rockbot/tools";
import { expect, test } from "vitest";
import { type HelperBounds, type HelperRecord, HelperRecords } from "./helper-records.ts";
import { helpers } from "./helpers-plugin.ts";

type SendHelper = (onSent: () => void) => Promise<never>;

/** The tool `spawn_subagent` as one process has it. */
async function spawnTool(records: HelperRecords, send: SendHelper): Promise<(toolCallId: string) => Promise<unknown>> {
  const caller = {
    toolsOf: () => [{ name: "agent__helper" }],
    call: (_name: string, _input: object, { onSent }: { readonly onSent: () => void }) => send(onSent),
  };
  const plugin = await helpers({ records, messages: { progress: async () => {} }, turnTimeoutMs: 1_000 }).start?.({
    caller,
    log: silentLogger,
  } as unknown as AgentHost);
  const scope = { caller: "alice", sessionId: "s", rootSessionId: "s" } as TurnScope;
  const tool = plugin?.tools?.(scope)?.find(({ definition }) => definition.name === "spawn_subagent") as Tool;
  const context = { caller: "alice", signal: new AbortController().signal, deadline: performance.now() + 60_000, progress: () => {}, log: silentLogger };
  return (toolCallId) =>
    tool.executor.execute({ toolCallId, toolName: "spawn_subagent", arguments: "{}", sessionId: null }, {
      ...context,
      toolCallId,
      input: { description: "Count." },
    } as never);
}

const bounds: HelperBounds = { maxActive: 2, maxUnattended: 2, isUnattended: false };
const never = () => new Promise<never>(() => {});
const record = (taskId: string, more: Partial<HelperRecord> = {}): HelperRecord => ({ taskId, description: "x", state: "running", startedAt: 1, ...more });

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

test("helpers whose time is over take no place from others, though nobody was left to say that they have ended", async () => {
  await using memory = createWorkingMemory();
  const records = new HelperRecords(memory);
  for (const [index, endsBy] of [Date.now() - 1, Date.now() - 1, Date.now() + 60_000].entries())
    await records.add("alice", "s", record(`${index}`, { endsBy }), { ...bounds, maxActive: 3 });
  expect(await records.add("alice", "s", record("3", { endsBy: Date.now() + 60_000 }), bounds)).toBeUndefined();
  expect(await records.add("alice", "s", record("4"), bounds)).toMatchObject({ active: [{ taskId: "2" }, { taskId: "3" }] });
  expect(await records.get("alice", "s", "0")).toMatchObject({ state: "failed", progress: "it did not end in its time" });
});

test("turns that were told of a helper's end start so many helpers in a row, until a user's turn starts one", async () => {
  await using memory = createWorkingMemory();
  const records = new HelperRecords(memory);
  let startedAt = 1;
  const add = (taskId: string, isUnattended: boolean) =>
    records.add("alice", "s", record(taskId, { state: "done", startedAt: startedAt++ }), { ...bounds, isUnattended });
  for (const round of ["a", "b"]) {
    expect([await add(`${round}0`, false), await add(`${round}1`, true), await add(`${round}2`, true)]).toEqual([undefined, undefined, undefined]);
    expect(await add(`${round}3`, true)).toEqual({ unattended: 2 });
    expect(await add(`${round}2`, true)).toBeUndefined(); // one that is there is not counted again
  }
});
