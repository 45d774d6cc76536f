import { expect, test } from "vitest";
import { ConsoleSessions } from "./console-sessions.ts";

test("a session lasts twelve hours, and its cookie does not show the token", () => {
  let now = 1_000;
  const sessions = new ConsoleSessions(() => now);
  const { cookie, value, endsAt } = sessions.begin("the-token");
  expect(Buffer.from(cookie, "base64url").toString("latin1")).not.toContain("the-token");
  expect(sessions.open(cookie, value)).toMatchObject({ token: "the-token", endsAt });
  now = endsAt - 1;
  expect(sessions.open(cookie, value)).toBeDefined();
  now = endsAt;
  expect(sessions.open(cookie, value)).toBeUndefined();
});

test("what no session was made of opens none", () => {
  const sessions = new ConsoleSessions();
  const { cookie, value } = sessions.begin("the-token");
  for (const [given, beside] of [
    ["", ""],
    [cookie, ""],
    ["", value],
    [cookie.slice(0, 30), value],
    [cookie, `${value}x`.repeat(9)],
    [`${cookie.startsWith("A") ? "B" : "A"}${cookie.slice(1)}`, value],
  ] as const)
    expect(sessions.open(given, beside)).toBeUndefined();
});
