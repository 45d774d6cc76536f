import { services } from "@rockbot/services";
import { expect, test } from "vitest";
import { type Entry, listFaults } from "./list-faults.ts";

const noTopic: Entry = {
  onBus: true,
  name: "words",
  summary: "Counts.",
  tools: ["count_*"],
  state: ["claims"],
  egress: [],
};
const words: Entry = { ...noTopic, topic: "tool.invoke.words" };
const chat: Entry = { onBus: true, name: "chat", summary: "Talks.", isDelegate: true, state: [], egress: ["internet"] };

test("the list of services has no fault, nor has an entry that is well written", () => {
  expect(listFaults(services, undefined)).toEqual([]);
  expect(listFaults([words, chat], ["count_words"])).toEqual([]);
});

test("all faults of an entry come at once, each with what is meant", () => {
  const found = listFaults(
    [{ ...noTopic, summary: " ", tools: ["cuont_words"], state: ["claim" as "claims"], egress: ["web" as "internet"] }],
    ["count_words"],
  );

  expect(found).toEqual([
    expect.stringMatching(/^services\/index\.ts: "words" has no summary/),
    expect.stringMatching(/"words" has the state "claim", which is none\. Did you mean "claims"\?/),
    expect.stringMatching(/"words" has the egress "web", which is none\. There are: internet, /),
    expect.stringContaining('"words" has tools and no topic'),
    expect.stringMatching(/"words" has "cuont_words" among its tools, .* Did you mean "count_words"\?/),
  ]);
});

test("a name has one entry and a topic one owner", () => {
  expect(
    listFaults(
      [words, { ...words, topic: "tool.invoke.two" }, { ...chat, topic: "chat", owns: ["tool.invoke.words"] }],
      undefined,
    ),
  ).toEqual([
    'services/index.ts: has two entries of the name "words": give each the name of its folder',
    'services/index.ts: "chat" and "words" have the topic tool.invoke.words, and a topic has one owner',
  ]);
});

test("topics are owned by a service that has calls of its own", () => {
  expect(listFaults([{ ...chat, owns: ["user.message"] }], [])).toEqual([
    expect.stringContaining('"chat" owns topics and has no topic of its calls'),
  ]);
});

test("a service on the bus has a user at the broker, and tools of MCP servers are in no schema", () => {
  expect(listFaults([{ ...words, tools: ["*__*"] }], [])).toEqual([]);
  expect(listFaults([{ ...chat, isDelegate: false }], [])).toEqual([
    expect.stringContaining('"chat" has no topic and is no delegate'),
  ]);
});
