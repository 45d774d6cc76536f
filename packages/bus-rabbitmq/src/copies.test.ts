import { expect, test } from "vitest";
import { asCopy, maybeHandledSince } from "./copies.ts";

const fields = { deliveryTag: 1, routingKey: "tool.invoke" };
const NOW = 1_000_000;

test("a message that is handed out for the first time was handed to nobody, whatever else it says", () => {
  expect(
    maybeHandledSince(
      { fields: { ...fields, redelivered: false }, properties: { headers: {}, expiration: "60000" } },
      NOW,
    ),
  ).toBeUndefined();
});

test.each([
  ["is no older than its time to live and its way", { headers: {}, expiration: "60000" }, NOW - 60_000 - 30_000],
  ["has any age without one", { headers: {} }, Number.NEGATIVE_INFINITY],
  ["has any age with one that cannot be read", { headers: {}, expiration: "soon" }, Number.NEGATIVE_INFINITY],
  [
    "has any age, whatever its sender's clock says",
    { headers: {}, timestamp: Math.floor(Date.now() / 1_000) },
    Number.NEGATIVE_INFINITY,
  ],
])("a message that was handed out before %s", (_, properties, expected) => {
  expect(maybeHandledSince({ fields: { ...fields, redelivered: true }, properties }, NOW)).toBe(expected);
});

test("a message that was sent twice may have been handed out since the first time, also by a sender who lies about that", () => {
  const copy = asCopy({ deliveryMode: 2, headers: { "rb-source": "agent" } }, 1_234.5);
  expect(copy.headers).toMatchObject({ "rb-source": "agent" });
  const heard = (headers: Record<string, unknown>) =>
    maybeHandledSince({ fields: { ...fields, redelivered: false }, properties: { headers, expiration: "5000" } }, NOW);
  expect(heard(copy.headers)).toBe(NOW - 5_000 - 1_235 - 30_000);
  const [name = ""] = Object.keys(copy.headers).filter((header) => header !== "rb-source");
  for (const lie of ["-5", "1e99", "", 7]) expect(heard({ [name]: lie })).toBe(Number.NEGATIVE_INFINITY);
});
