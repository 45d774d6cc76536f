import { expect, test } from "vitest";
import { readParked } from "./dead-letter.ts";

const parked = (properties: object) =>
  readParked(
    { fields: { routingKey: "tool.invoke" }, properties: { headers: {}, ...properties }, content: Buffer.from("{}") },
    "web-tools",
  );

test("a parked message says when it was sent only if its sender did", () => {
  expect(parked({ timestamp: 1_700_000_000 }).sentAt).toBe(1_700_000_000_000);
  expect(parked({}).sentAt).toBeUndefined();
});
