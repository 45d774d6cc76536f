import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeMessage, MAX_JSON_DEPTH, type MessageName, parseJson } from "./decode.ts";
import { messages } from "./generated/messages.ts";

const names = Object.keys(messages) as MessageName[];

test("any bytes give a value or a fault, and never reach a prototype", () => {
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .object({ key: fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toolCallId", "toolName", "arguments", "tools", "page")) })
      .map((value) => Buffer.from(JSON.stringify(value))),
  );
  fc.assert(
    fc.property(fc.constantFrom(...names), bodies, (name, body) => {
      const decoded = decodeMessage(name, body);
      if (!decoded.ok) expect(decoded.fault.message).toContain(name);
    }),
    { numRuns: 10_000 },
  );
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test.each([
  ["not_utf8", Buffer.from([0xff, 0xfe])],
  ["not_utf8", Buffer.from('"\ud83d"', "latin1").fill(0xe2, 1, 2)],
  ["not_json", Buffer.from("")],
  ["not_json", Buffer.from('{"a":1,}')],
  ["not_json", Buffer.from("NaN")],
  ["not_json", Buffer.from("[".repeat(100_000))],
  ["too_deep", Buffer.from("[".repeat(100_000) + "]".repeat(100_000))],
  ["forbidden_key", Buffer.from('{"toolCallId":"a","toolName":"b","__proto__":{"isAdmin":true}}')],
  ["forbidden_key", Buffer.from('{"toolCallId":"a","toolName":"b","x":[{"\\u005f_proto__":1}]}')],
  ["invalid", Buffer.from("null")],
  ["invalid", Buffer.from("[]")],
])("says %s of %s", (reason, body) => {
  expect(decodeMessage("ToolInvokeRequest", body)).toMatchObject({ ok: false, fault: { reason } });
});

test("names every fault of a message at once: where, what was expected, what came", () => {
  const decoded = decodeMessage("ToolInvokeRequest", Buffer.from('{"toolName":7,"arguments":{"a":1},"sessionId":null}'));
  expect(decoded).toMatchObject({
    ok: false,
    fault: {
      message:
        "ToolInvokeRequest: toolCallId: is required and missing; toolName: expected string, got the number 7; arguments: expected string or null, got an object",
    },
  });
});

test("fills in the defaults of a message, and lets unknown fields pass", () => {
  expect(decodeMessage("ToolInvokeResponse", Buffer.from('{"toolCallId":"a","toolName":"b","later":1}'))).toEqual({
    ok: true,
    value: { toolCallId: "a", toolName: "b", isError: false, later: 1 },
  });
});

test("takes values of MAX_JSON_DEPTH levels and no more", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  expect(parseJson(nested(MAX_JSON_DEPTH)).ok).toBe(true);
  expect(parseJson(nested(MAX_JSON_DEPTH + 2)).ok).toBe(false);
});
