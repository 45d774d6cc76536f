import { createEnvelope } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { replyAddress } from "./reply-address.ts";

const message = (replyTo: string | undefined, userId?: string) =>
  createEnvelope({ topic: "user.message", type: "t", source: "user-proxy", body: new Uint8Array(), replyTo, userId });

test("where nobody is verified, replies go to any topic of users, and to the shared one if none is named", () => {
  const on = { isDurable: true, verifiesSender: false };

  expect(replyAddress(message(undefined), "user-proxy", on)).toBe("user.response");
  expect(replyAddress(message("user.response.other.1"), "user-proxy", on)).toBe("user.response.other.1");
  expect(replyAddress(message("tool.result.other"), "user-proxy", on)).toBeUndefined();
});

test("where senders are verified, replies go to topics of the sender only", () => {
  const on = { isDurable: true, verifiesSender: true };

  expect(replyAddress(message("user.response.alice.1", "alice"), "alice", on)).toBe("user.response.alice.1");
  expect(replyAddress(message("user.response", "alice"), "alice", on)).toBe("user.response.alice");
  expect(replyAddress(message(undefined, "alice"), "alice", on)).toBe("user.response.alice");
  expect(replyAddress(message("user.response.bob", "alice"), "alice", on)).toBeUndefined();
});

test("a program of the original, which the broker does not verify, hears the shared topic", () => {
  expect(replyAddress(message("user.response"), "user-proxy", { isDurable: true, verifiesSender: true })).toBe(
    "user.response",
  );
});
