import { busRights, readPolicy } from "@rockbot/policy";
import { expect, test } from "vitest";
import { rightFaults } from "./check-services.ts";

test("the owner of a topic may hear it at the broker", async () => {
  const text = "{ services: { words: { topic: tool.invoke.words } }, delegates: [chat] }";
  const rights = busRights((await readPolicy(text, "policy.yaml")).document);

  expect(rightFaults({ name: "words", topic: "tool.invoke.words" }, rights)).toEqual([]);
  expect(rightFaults({ name: "chat", owns: ["user.message"] }, rights)).toEqual([
    expect.stringContaining('"chat" owns user.message, and its user at the broker may not hear it'),
  ]);
});
