import type { WriteStream } from "node:tty";
import { type AgentEvent, type ToolAgentChatOutput, ToolError } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { jsonPrinter, textPrinter } from "./turn-printer.ts";

/** Two streams that keep what was written, with what would be seen once carriage returns have wiped their lines. */
function streams(isTTY: boolean) {
  const kept = { out: "", err: "" };
  const stream = (name: keyof typeof kept): WriteStream => {
    const write = (text: string): void => {
      kept[name] += text;
    };
    return { isTTY, columns: 80, write } as unknown as WriteStream;
  };
  return { out: stream("out"), err: stream("err"), kept, seen: () => kept.err.replaceAll(/[^\n]*\r\x1b\[K/g, "") };
}

let sequence = 0;
const event = (kind: AgentEvent["kind"], rest: Partial<AgentEvent> = {}): AgentEvent => ({
  sessionId: "s",
  turnId: "t",
  sequence: ++sequence,
  at: "2026-01-01T00:00:00.000Z",
  kind,
  ...rest,
});
const turn = (text: string, rest: Partial<ToolAgentChatOutput> = {}) => ({
  output: {
    turn_id: "t",
    session_id: "s",
    text,
    finish: "stop" as const,
    usage: { input_tokens: 1, output_tokens: 1 },
    ...rest,
  },
  isUntrusted: false,
});

test("at a terminal text shows as it comes, and each tool has a line once it has run", () => {
  const at = streams(true);
  const printer = textPrinter(at);
  printer.event(event("turn_started"));
  printer.event(event("text", { text: "Let me look." }));
  printer.event(event("tool_started", { toolName: "web_browse" }));
  printer.event(event("tool_progress", { toolName: "web_browse", progress: 1, total: 2, message: "reading" }));
  expect(at.kept.err).toContain("1/2 web_browse reading");
  printer.event(event("tool_finished", { toolName: "web_browse", status: "ok", durationMs: 1_234 }));
  printer.event(
    event("tool_finished", { toolName: "web_search", status: "timeout", message: "no answer", durationMs: 2_000 }),
  );
  printer.event(event("text", { text: "It is " }));
  expect(at.kept.out).toBe("Let me look.\nIt is ");
  printer.answer(turn("It is so."));

  expect(at.kept.out).toBe("Let me look.\nIt is so.\n");
  expect(at.seen()).toBe("  ✓ web_browse 1.2 s\n  ✗ web_search 2.0 s timeout: no answer\n");
});

test("at a terminal an answer that begins again does so on a line of its own, and elsewhere nobody sees the first", () => {
  const [terminal, pipe] = [streams(true), streams(false)];
  for (const at of [terminal, pipe]) {
    const printer = textPrinter(at);
    printer.event(event("text", { text: "It is fo" }));
    printer.event(event("notice", { text: "Taken up.", dropsText: true }));
    printer.event(event("text", { text: "It is four" }));
    printer.answer(turn("It is four."));
  }

  expect(terminal.kept.out).toBe("It is fo\n(The answer begins again.)\nIt is four.\n");
  expect(pipe.kept.out).toBe("It is four.\n");
});

test("elsewhere only the answer is printed", () => {
  const at = streams(false);
  const printer = textPrinter(at);
  printer.event(event("text", { text: "Let me look." }));
  printer.event(event("tool_finished", { toolName: "web_browse", status: "ok" }));
  printer.answer(turn("It is so."));

  expect(at.kept).toEqual({ out: "It is so.\n", err: "" });
});

test("text of others steers no terminal, wherever it is cut", () => {
  const at = streams(true);
  const printer = textPrinter(at);
  for (const text of ["a\x1b", "]0;title\x07b\x1b[2", "Jc\u202e"]) printer.event(event("text", { text }));
  printer.event(event("tool_finished", { toolName: "x\x1b[2J\ny", status: "ok" }));
  printer.failure(new ToolError("denied", "no\x1b[2J"));

  expect(`${at.kept.out}${at.seen()}`).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
  expect(at.seen()).toContain("x\\u001b[2J y");
});

test("an answer that is not complete says why on stderr", () => {
  const at = streams(false);
  textPrinter(at).answer(turn("So far", { finish: "limit", reason: "its time is over" }));

  expect(at.kept).toEqual({ out: "So far\n", err: "rockbot: the answer is not complete: its time is over\n" });
});

test("as JSON each step is a line, the answer is the last, and none can steer a terminal", () => {
  const at = streams(true);
  const printer = jsonPrinter(at);
  printer.event(event("text", { text: "a\x1b\u202eb", toolName: null }));
  printer.answer(turn("a"));
  printer.failure(new ToolError("denied", "no"));
  const lines = at.kept.out.trimEnd().split("\n");

  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      sessionId: "s",
      turnId: "t",
      sequence: expect.any(Number),
      at: expect.any(String),
      kind: "text",
      text: "a\x1b\u202eb",
    },
    expect.objectContaining({ kind: "answer", text: "a", finish: "stop", is_untrusted: false }),
    { kind: "error", code: "denied", message: "no", isRetryable: false },
  ]);
  expect(at.kept.out).not.toMatch(/\x1b|\u202e/);
});
