import { silentLogger } from "@rockbot/bus";
import type { ToolInvokeResponse } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { valueNotes } from "./script-values.ts";

const resultOf = (response: Partial<ToolInvokeResponse>, toolName = "execute_python_script") =>
  valueNotes({
    execute: async ({ toolCallId }) => ({ toolCallId, toolName, content: "printed\n", ...response }),
  }).execute(
    { toolCallId: "1", toolName, arguments: "{}", sessionId: null },
    {
      signal: new AbortController().signal,
      deadline: performance.now() + 10_000,
      caller: "ann",
      progress: () => {},
      log: silentLogger,
    },
  );

test("a model reads the value of a script's last expression behind what the script printed", async () => {
  const value = { type: "int", text: "42", is_cut: false };
  expect((await resultOf({ structured: { value } })).content).toBe("printed\n[Value of the last line, int: 42]");
  expect((await resultOf({ content: null, structured: { value } })).content).toBe("[Value of the last line, int: 42]");
  const notes = { shown_notes: ["The chart is not shown."], file_notes: ["f was not kept."] };
  expect((await resultOf({ structured: notes })).content).toBe("printed\n[The chart is not shown.]\n[f was not kept.]");
});

test("a long value is cut, and other results stay as they are", async () => {
  const value = { type: "str", text: "x".repeat(8_000), is_cut: true };
  expect((await resultOf({ structured: { value } })).content?.length).toBeLessThan(2_100);
  expect((await resultOf({ structured: {} })).content).toBe("printed\n");
  expect((await resultOf({ structured: { value } }, "web_browse")).content).toBe("printed\n");
  expect((await resultOf({ structured: { value: null, shown_notes: "of another form" } })).content).toBe("printed\n");
});
