import { expect, test } from "vitest";
import { replicaName } from "./replica-name.ts";

test("a replica's name is its host's, as far as a topic can have it, and never the same twice", () => {
  const id = "[0-9a-f]{12}";
  expect(replicaName("Bridge_0.example.com")).toMatch(new RegExp(`^bridge-0-example-com-${id}$`));
  expect(replicaName(`${"long-".repeat(20)}7d9f-x2x`)).toMatch(new RegExp(`^[a-z-]{31,32}7d9f-x2x-${id}$`));
  expect(replicaName("Ω")).toMatch(new RegExp(`^${id}$`));
  expect(replicaName("a")).not.toBe(replicaName("a"));
});
