import { expect, test } from "vitest";
import { createEnvelope } from "./envelope.ts";
import { fromWire, toWire } from "./wire.ts";

test("logical headers are prefixed once more on the wire, as the original's are", () => {
  const envelope = createEnvelope({
    topic: "t",
    type: "T",
    source: "me",
    destination: "you",
    body: Buffer.from("{}"),
    headers: { "rb-timeout-ms": "5", traceparent: "00-x" },
  });
  expect(toWire(envelope).headers).toEqual({
    "rb-source": "me",
    "rb-destination": "you",
    "rb-rb-timeout-ms": "5",
    "rb-traceparent": "00-x",
  });
});

test("a known header is understood with a single prefix too, and the doubled one wins", () => {
  expect(
    fromWire("t", { headers: { "rb-timeout-ms": "5", "rb-mcp-server": "calendar" } }, new Uint8Array()).headers,
  ).toEqual({
    "rb-timeout-ms": "5",
    "rb-mcp-server": "calendar",
  });
  for (const headers of [
    { "rb-timeout-ms": "5", "rb-rb-timeout-ms": "7" },
    { "rb-rb-timeout-ms": "7", "rb-timeout-ms": "5" },
  ]) {
    expect(fromWire("t", { headers }, new Uint8Array()).headers["rb-timeout-ms"]).toBe("7");
  }
});

test("what is missing or of the wrong type gets the original's defaults", () => {
  const envelope = fromWire(
    "t",
    {
      messageId: 7,
      type: {},
      correlationId: "",
      replyTo: "",
      timestamp: 0,
      headers: {
        "rb-source": 5,
        "rb-x": true,
        "rb-y": { a: 1 },
        "x-death": "no",
        "rb-z": "yes",
        ["rb-__proto__"]: "plain",
      },
    },
    new Uint8Array(),
  );
  expect(envelope).toMatchObject({ type: "unknown", source: "unknown", correlationId: undefined, replyTo: undefined });
  expect(envelope.messageId).toMatch(/^[0-9a-f]{32}$/);
  expect(envelope.timestamp).toBeGreaterThan(1_700_000_000);
  expect(Object.entries(envelope.headers)).toEqual([
    ["z", "yes"],
    ["__proto__", "plain"],
  ]);
});

test.each([null, undefined, 5, "text", []])("headers that are %j are none", (headers) => {
  expect(Object.keys(fromWire("t", { headers }, new Uint8Array()).headers)).toEqual([]);
});
