import { busRights, readPolicy } from "@rockbot/policy";
import { expect, test } from "vitest";
import { busFaults } from "./check-services.ts";

const text = "{ services: { words: { topic: tool.invoke.words } }, delegates: [chat] }";
const rights = busRights((await readPolicy(text, "policy.yaml")).document);

test("a service on the bus has a topic for its tools, and a user at the broker", () => {
  expect(busFaults([{ name: "words", topic: "tool.invoke.words", tools: ["count_*"] }], rights)).toEqual([]);
  expect(busFaults([{ name: "chat", isDelegate: true }], rights)).toEqual([]);

  expect(busFaults([{ name: "chat", tools: ["count_*"], isDelegate: true }], rights)).toEqual([expect.stringContaining('"chat" has tools and no topic')]);
  expect(busFaults([{ name: "idle" }], rights)).toEqual([expect.stringContaining('"idle" has no topic and is no delegate')]);
});

test("a topic has one owner, whose user may hear it", () => {
  const words = { name: "words", topic: "tool.invoke.words" };
  expect(busFaults([words, { name: "chat", isDelegate: true, owns: [words.topic] }], [])).toEqual([
    'services/index.ts: "chat" and "words" have the topic tool.invoke.words, and a topic has one owner',
  ]);
  expect(busFaults([{ name: "chat", isDelegate: true, owns: ["user.message"] }], rights)).toEqual([
    expect.stringContaining('"chat" owns user.message, and its user at the broker may not hear it'),
  ]);
});
