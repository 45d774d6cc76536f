import { expect, test } from "vitest";
import { createEnvelope, waitsMs } from "./envelope.ts";

test("a request says how long its sender waits by a header, else by its form, else by its time to live", () => {
  const request = { topic: "tool.invoke", type: "T", source: "s", body: Buffer.from("{}") };
  const bare = createEnvelope(request);
  const expiring = createEnvelope({ ...request, ttlMs: 30 });
  const saying = createEnvelope({ ...request, ttlMs: 30, headers: { "rb-timeout-ms": "20" } });
  const nonsense = createEnvelope({ ...request, ttlMs: 30, headers: { "rb-timeout-ms": "soon" } });
  expect([bare, expiring, saying, nonsense].map((message) => waitsMs(message))).toEqual([undefined, 30, 20, 30]);
  expect([bare, expiring, saying, nonsense].map((message) => waitsMs(message, 10))).toEqual([10, 10, 20, 10]);
});
