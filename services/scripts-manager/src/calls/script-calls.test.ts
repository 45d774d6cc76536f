import { saidBy, ToolError, ToolErrorCode, type ToolInvokeResponse } from "@rockbot/contracts";
import { createMemoryReplayStore, type ReplayStore } from "@rockbot/records/replays";
import type { CallOptions, ResumableCallContext, ToolRegistration } from "@rockbot/tools";
import { expect, test } from "vitest";
import { ScriptCalls } from "./script-calls.ts";
import { ScriptRecord } from "./script-record.ts";

const answered = (content: string): ToolInvokeResponse => ({ toolCallId: "any", toolName: "any", content });
const TOOLS = [
  { name: "page", readOnly: true },
  { name: "save", readOnly: false },
] as unknown as readonly ToolRegistration[];

/** One run of the script of one call. `ends` says how its calls end. */
async function run(store: ReplayStore, ends: (tool: string) => ToolInvokeResponse | ToolError) {
  const open = await store.open({ caller: "ada", toolCallId: "script" }, "{}");
  if (open === undefined) throw new Error("there is no record");
  const record = new ScriptRecord(store, open);
  const made: { readonly tool: string; readonly isMarked: boolean | undefined }[] = [];
  const caller = {
    async call(tool: string, _: unknown, { hasReadUntrusted }: CallOptions = {}) {
      made.push({ tool, isMarked: hasReadUntrusted });
      const end = ends(tool);
      if (end instanceof ToolError) throw end;
      return end;
    },
  };
  const context = { caller: "ada", toolCallId: "script", signal: new AbortController().signal };
  const calls = new ScriptCalls({
    caller,
    context: context as unknown as ResumableCallContext,
    record,
    tools: TOOLS,
    maxCalls: 10,
    maxAnswerBytes: 1_000,
  });
  const ask = (id: number, tool: string): Promise<unknown> =>
    new Promise((resolve) => {
      calls.stopped.addEventListener("abort", () => resolve(calls.stopped.reason), { once: true });
      calls.onMessage(Buffer.from(JSON.stringify({ id, path: String(id), tool, arguments: {} })), {
        send: async (message) => resolve(JSON.parse(message.toString())),
        leftMs: () => 10_000,
      });
    });
  return { calls, record, made, ask };
}

test("a call that waited for people carries its mark when it is made again", async () => {
  await using store = createMemoryReplayStore();
  const pending = new ToolError(ToolErrorCode.Pending, "It waits");
  const page = { ...answered("strange"), trust: saidBy("https://page.test/") };
  const first = await run(store, (tool) => (tool === "page" ? page : pending));
  await first.ask(0, "page");
  expect(await first.ask(1, "save")).toBe(pending);

  const second = await run(store, () => answered("saved"));
  const [waiting] = await second.record.waiting();
  if (waiting === undefined) throw new Error("nothing waits");
  await second.calls.make(waiting, 1_000);
  expect(second.made).toEqual([{ tool: "save", isMarked: true }]);
});

test("a call whose outcome is unknown stays so, and is not made again", async () => {
  await using store = createMemoryReplayStore();
  const unknown = new ToolError(ToolErrorCode.OutcomeUnknown, "It may have run", { details: { mayHaveRun: true } });
  const answer = {
    id: 0,
    error: { code: "outcome_unknown", message: "It may have run", details: { mayHaveRun: true } },
  };
  const first = await run(store, () => unknown);
  expect(await first.ask(0, "save")).toEqual(answer);

  const second = await run(store, () => answered("saved"));
  expect(await second.ask(0, "save")).toEqual(answer);
  expect([first.made.length, second.made.length]).toEqual([1, 0]);
});
