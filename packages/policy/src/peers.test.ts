import { expect, test } from "vitest";
import { readPolicy } from "./document/read-policy.ts";
import { peersOf } from "./peers.ts";

test("a name with a reserved prefix belongs to the service whose entry says the prefix, and not to the tools of MCP servers", async () => {
  const yaml = `
everyone: { allow: ["*"] }
services:
  mcp-bridge: { topic: tool.invoke.mcp, tools: ["*__*"] }
  rest-tools: { topic: tool.invoke.rest, tools: ["rest__*"] }
`;
  const { mayOffer, mayAnswer } = peersOf((await readPolicy(yaml, "of the test")).document);
  const may = (service: string, name: string) =>
    mayOffer(service, { name, topic: service === "mcp-bridge" ? "tool.invoke.mcp" : "tool.invoke.rest" });

  expect([
    may("mcp-bridge", "files__read"),
    may("mcp-bridge", "rest__read"),
    may("mcp-bridge", "Agent__chat"),
    may("mcp-bridge", "rest_0123abcd__read"),
  ]).toEqual([true, false, false, true]);
  const agents = peersOf(
    (await readPolicy("services: { agent: { topic: tool.invoke.agent, owns: [] } }", "of the test")).document,
  );
  const topics = ["tool.invoke.agent", "tool.invoke.agent-short", "tool.invoke"];
  expect(topics.map((topic) => agents.mayOffer("agent", { name: "robot_list", topic }))).toEqual([true, true, false]); // a topic of another is no topic of its own
  expect([may("rest-tools", "rest__read"), may("rest-tools", "agent__chat")]).toEqual([true, false]);
  expect([mayAnswer("mcp-bridge", "rest__read"), mayAnswer("rest-tools", "rest__read")]).toEqual([false, true]);
});
