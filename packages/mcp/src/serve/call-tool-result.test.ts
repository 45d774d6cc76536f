import type { CallToolResult } from "@modelcontextprotocol/client";
import { ToolError, type ToolInvokeResponse } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { callResult } from "../client/call/call-result.ts";
import { callToolResult, errorResult } from "./call-tool-result.ts";

const image = { type: "image", data: "aGFsbG8=", mimeType: "image/png" } as const;
const text = (value: string) => ({ type: "text", text: value }) as const;
const document = {
  type: "resource",
  resource: { uri: "file:///a", mimeType: "text/plain", text: "one\ntwo" },
} as const;
const link = { type: "resource_link", uri: "file:///b", name: "b" } as const;

/** What a server's result is as a message. */
const onTheBus = (result: CallToolResult): ToolInvokeResponse =>
  JSON.parse(JSON.stringify({ toolCallId: "1", toolName: "t", ...callResult(result) })) as ToolInvokeResponse;

const results: Readonly<Record<string, CallToolResult>> = {
  "text alone": { content: [text("hello")] },
  "text of several lines": { content: [text("hello\n\nworld")] },
  "structured content with its text": { content: [text('{"a":1}')], structuredContent: { a: 1 } },
  "a block alone": { content: [image] },
  "blocks between texts": { content: [text("before"), image, text("between"), document, link, text("after")] },
  "equal blocks": { content: [{ ...image }, { ...image }, text("twice")] },
  "a block with structured content": { content: [image, text("one")], structuredContent: { count: 1 } },
  "a failure of its own": { content: [text("no luck")], isError: true },
};

test.each(Object.entries(results))("what came from an MCP server goes to an MCP client as it was: %s", (_, result) => {
  const { content, structuredContent, isError } = callToolResult(onTheBus(result));
  expect({
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError ? { isError } : {}),
  }).toEqual(result);
});

test("structured content that is no object is what it was, and has its text", () => {
  const answer = onTheBus({ content: [], structuredContent: [1, 2] as unknown as Record<string, unknown> });
  expect(callToolResult(answer)).toMatchObject({ content: [text("[1,2]")], structuredContent: [1, 2] });
});

test("an answer without text gives its structured content as text, and one with nothing an empty text", () => {
  expect(callToolResult({ toolCallId: "1", toolName: "t", content: null, structured: { a: 1 } }).content).toEqual([
    text('{"a":1}'),
  ]);
  expect(callToolResult({ toolCallId: "1", toolName: "t", content: null }).content).toEqual([text("")]);
});

test("what looks like blocks and is none stays structured content", () => {
  const structured = { $content: [{ type: "image", data: 7 }] };
  expect(callToolResult({ toolCallId: "1", toolName: "t", content: "odd", structured })).toMatchObject({
    content: [text("odd")],
    structuredContent: structured,
  });
});

test("files that were kept of blocks are left out: a client has the blocks", () => {
  const structured = { $content: [image], $files: [{ handle: "file_1" }] };
  expect(callToolResult({ toolCallId: "1", toolName: "t", content: "text", structured })).toEqual({
    content: [image, text("text")],
    _meta: { "rockbot/toolCallId": "1" },
  });
});

test("blocks that the text does not speak of come after it", () => {
  expect(
    callToolResult({ toolCallId: "1", toolName: "t", content: "only text", structured: { $content: [image] } }).content,
  ).toEqual([image, text("only text")]);
});

test("an error is its words, its code and when to come back, and keeps what it says beside that", () => {
  const error = new ToolError("overloaded", "Cannot run it now.", { retryAfterMs: 1499.5, details: { queue: 3 } });
  expect(errorResult(error, { toolCallId: "1", toolName: "t" })).toEqual({
    isError: true,
    content: [text("Cannot run it now.\n(overloaded, try again in 1500 ms)")],
    _meta: {
      "rockbot/toolCallId": "1",
      "rockbot/error": expect.objectContaining({
        toolCallId: "1",
        toolName: "t",
        code: "overloaded",
        isRetryable: true,
        details: { queue: 3 },
      }),
    },
  });
});
