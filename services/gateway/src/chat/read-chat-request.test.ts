import { ToolError } from "@rockbot/contracts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readChatRequest } from "./read-chat-request.ts";

const messages = [{ role: "user", content: "?" }];
const fields =
  "messages model stream stream_options tools tool_choice n stop modalities audio logprobs response_format max_tokens parallel_tool_calls".split(
    " ",
  );

test("whatever JSON comes, it becomes a turn that the agent takes, or a refusal in words", () => {
  const part = fc.oneof(
    fc.constant({ type: "text", text: "t" }),
    fc.record({ type: fc.jsonValue(), text: fc.jsonValue() }),
    fc.jsonValue(),
  );
  const keys = {
    role: fc.oneof(fc.constantFrom("user", "tool", "assistant", "__proto__"), fc.jsonValue()),
    content: fc.oneof(fc.array(part), fc.jsonValue()),
  };
  const message = fc.record(
    { ...keys, tool_calls: fc.jsonValue(), tool_call_id: fc.jsonValue(), name: fc.jsonValue() },
    { requiredKeys: ["role"] },
  );
  const value = fc.oneof(fc.jsonValue(), fc.array(message, { minLength: 1 }), fc.constant(messages));
  const body = fc.dictionary(fc.constantFrom(...fields), value).map((rest) => ({ messages, ...rest }));
  void fc.assert(
    fc.property(body, fc.option(fc.constant("s"), { nil: undefined }), (given, sessionId) => {
      try {
        const { input } = readChatRequest(given, sessionId);
        expect("messages" in input).toBe(sessionId === undefined);
      } catch (error) {
        expect(error).toBeInstanceOf(ToolError);
        expect((error as ToolError).details).toEqual({ param: expect.stringMatching(/^[a-z_]+(\[\d+\]|\.[a-z_]+)*$/) });
      }
    }),
    { numRuns: 500 },
  );
});

test("every fault is named, with its place", () => {
  const given = {
    messages: [{ role: "user", content: [{ type: "file" }] }, { role: "robot" }],
    n: 0,
    tools: [{ type: "custom" }],
    max_tokens: "many",
  };
  expect(() => readChatRequest(given, undefined)).toThrow(
    /^Cannot take the request: messages\[0\]\.content\[0\]: .*; messages\[1\]\.role: .*; tools\[0\]: .*; max_tokens: .*; n: /,
  );
});

test("in a session only the last message is looked at, and the program's tools are refused", () => {
  const image = { role: "user", content: [{ type: "image_url" }] };
  const { input } = readChatRequest({ messages: [image, ...messages] }, "s");
  const tool = { type: "function", function: { name: "f" } };

  expect(input).toEqual({ message: "?", session_id: "s" });
  expect(() => readChatRequest({ messages: [...messages, { role: "assistant", content: "!" }] }, "s")).toThrow(
    /last message has to be the user's/,
  );
  expect(() => readChatRequest({ messages, tools: [tool] }, "s")).toThrow(/its own tools only/);
  expect(readChatRequest({ messages, tools: [tool], tool_choice: "none" }, "s").input).toEqual({
    message: "?",
    session_id: "s",
  });
});
