import { expect, test } from "vitest";
import { isVisibleTo } from "./record-store.ts";

test("others see a record while the approved hash is its own", () => {
  expect(isVisibleTo({ maker: "alice", hash: "a" }, "alice")).toBe(true);
  expect(isVisibleTo({ maker: "alice", hash: "a" }, "bob")).toBe(false);
  expect(isVisibleTo({ maker: "alice", hash: "a", approvedHash: "a" }, "bob")).toBe(true);
  expect(isVisibleTo({ maker: "alice", hash: "b", approvedHash: "a" }, "bob")).toBe(false);
});
