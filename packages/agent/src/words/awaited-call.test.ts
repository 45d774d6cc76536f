import { expect, test } from "vitest";
import { noticeOf } from "./awaited-call.ts";

test("progress becomes a notice for people only if the call itself waits, and not another one that a tool names", () => {
  expect(noticeOf("awaiting approval: a1", "a1")).toContain("rockbot approvals approve a1");
  expect(noticeOf("awaiting approval: b2", "a1")).toBeUndefined();
});
