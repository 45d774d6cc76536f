import fc from "fast-check";
import { expect, test } from "vitest";
import { messages } from "../generated/messages.ts";
import { decodeMessage, encodeMessage, type MessageName } from "./decode.ts";

const names = Object.keys(messages) as MessageName[];

/** The names of Object.prototype before any message was read. */
const prototypeNames = Object.getOwnPropertyNames(Object.prototype).sort();

test("any bytes give a value or a fault, and never reach a prototype", () => {
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .object({
        key: fc.oneof(
          fc.string(),
          fc.constantFrom("__proto__", "constructor", "toolCallId", "toolName", "arguments", "tools", "page"),
        ),
      })
      .map((value) => Buffer.from(JSON.stringify(value))),
  );
  fc.assert(
    fc.property(fc.constantFrom(...names), bodies, (name, body) => {
      const decoded = decodeMessage(name, body);
      if (!decoded.ok) expect(decoded.fault.message).toContain(name);
    }),
    { numRuns: 10_000 },
  );
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(prototypeNames);
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
  [
    "forbidden_key",
    Buffer.from('{"toolCallId":"a","toolName":"b","x":{"constructor":{"prototype":{"isAdmin":true}}}}'),
  ],
  ["duplicate_key", Buffer.from('{"toolCallId":"a","toolName":"b","toolName":"c"}')],
  ["duplicate_key", Buffer.from('{"toolCallId":"a","toolName":"b","x":[{"y":1,"\\u0079" :2}]}')],
  ["duplicate_key", Buffer.from('{"__proto__x":1,"a":{"":1,"":1}}')],
  ["invalid", Buffer.from("null")],
  ["invalid", Buffer.from("[]")],
])("says %s of %s", (reason, body) => {
  expect(decodeMessage("ToolInvokeRequest", body)).toMatchObject({ ok: false, fault: { reason } });
});

test("names every fault of a message at once: where, what was expected, what came", () => {
  const decoded = decodeMessage(
    "ToolInvokeRequest",
    Buffer.from('{"toolName":7,"arguments":{"a":1},"sessionId":null}'),
  );
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

test.each([
  ['{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}},"prototype":1}', undefined],
  [`${'{"a":'.repeat(900)}1${"}".repeat(900)}`, undefined],
  [
    "[1e999,-1e999,9007199254740993,1e-999,9007199254740992,0.1,1e21]",
    '["1e999","-1e999","9007199254740993","1e-999",9007199254740992,0.1,1e+21]',
  ],
])("an answer carries what a tool gave: %.60s", (structured, arrives = structured) => {
  for (const [name, field, value] of [
    ["ToolInvokeResponse", "structured", structured],
    ["ToolError", "details", `{"data":${structured}}`],
  ] as const) {
    const body = `{"toolCallId":"a","toolName":"b","code":"c","message":"d","${field}":${value}}`;
    const decoded = decodeMessage(name, Buffer.from(body));
    if (!decoded.ok) throw new Error(decoded.fault.message);
    expect(Buffer.from(encodeMessage(name, decoded.value)).toString()).toContain(
      `"${field}":${value.replace(structured, arrives)}`,
    );
  }
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(prototypeNames);
});
