import { expect, test } from "vitest";
import { busRights } from "./bus-rights.ts";
import { readPolicy } from "./document/read-policy.ts";

const rightsOf = async (yaml: string) =>
  Object.fromEntries(busRights((await readPolicy(yaml, "of the test")).document).map(({ user, ...rights }) => [user, rights]));

test("a caller may publish to the topics of services that have a tool for it", async () => {
  const rights = await rightsOf(`
services:
  web: { topic: tool.invoke, tools: ["web_*"] }
  files: { topic: tool.invoke.files, tools: ["file_read", "file_write"] }
everyone: { allow: ['*'], deny: ["file_write"] }
callers:
  all: {}
  reader: { allow: ["*_read"] }
  browser: { allow: ["web_browse"] }
  none: { deny: ["web_*", "file_*"] }
delegates: [gateway]
`);
  const published = Object.fromEntries(
    Object.entries(rights).map(([user, { publishes }]) => [user, publishes.filter((topic) => topic.startsWith("tool.invoke"))]),
  );
  expect(published).toEqual({
    all: ["tool.invoke", "tool.invoke.files"],
    browser: ["tool.invoke"],
    files: [],
    gateway: ["tool.invoke", "tool.invoke.files"],
    none: [],
    reader: ["tool.invoke", "tool.invoke.files"], // web_x_read would be a tool of web
    web: [],
  });
});

test("a service hears its requests and writes answers, and announces itself alone", async () => {
  const { web } = await rightsOf("services: { web: { topic: tool.invoke } }\ndelegates: []");
  expect(web).toMatchObject({
    serves: ["web"],
    hears: ["tool.invoke", "tool.cancel.web", "tool.announce.probe", "tool.announce.list.web"],
    results: [],
    operates: [],
  });
  expect(web?.publishes).toEqual(expect.arrayContaining(["tool.announce.web", "tool.result.*", "tool.result.*.*", "tool.progress.*"]));
  expect(web?.publishes).not.toContain("tool.result");
});

test("the MCP bridge tells of its servers, and who may use one of them asks for what is told to it", async () => {
  const rights = await rightsOf(`
services:
  mcp-bridge: { topic: tool.invoke.mcp, tools: ["files__*"] }
  web: { topic: tool.invoke, tools: ["web_*"] }
callers: { reader: { allow: ["*"] }, browser: { allow: ["web_*"] }, idle: {} }
delegates: []
`);
  const ofMcp = (topics: readonly string[] = []) => topics.filter((topic) => /^(mcp\.manage|tool\.meta\.mcp)(?!\.response)/.test(topic));
  const found = Object.entries(rights).map(([user, { publishes, hears, serves }]) => [user, ofMcp(publishes), ofMcp(hears), serves]);
  expect(found).toEqual([
    ["browser", [], [], []],
    ["idle", [], [], []],
    ["mcp-bridge", ["tool.meta.mcp.*"], ["mcp.manage", "tool.meta.mcp.refresh"], ["mcp-bridge", "mcp-bridge.manage"]],
    ["reader", ["mcp.manage", "tool.meta.mcp.refresh"], ["tool.meta.mcp.reader"], []],
    ["web", [], [], ["web"]],
  ]);
});

test("users are those that the policy names: one for each agent, service, delegate, operator and legacy peer", async () => {
  const rights = await rightsOf(`
services: { web: { topic: tool.invoke, user: web-1 } }
callers: { a: {}, b: { user: B_1 }, c: { user: null } }
delegates: [gateway, a]
legacyPeers: [Old]
operators: [{ name: ops, tokens: [] }]
`);
  expect(Object.keys(rights)).toEqual(["B_1", "Old", "a", "gateway", "ops", "web-1"]);
  expect(rights["ops"]?.operates).toEqual(["web"]);
  expect(rights["web-1"]?.publishes).toContain("tool.result"); // for requests of legacy peers, which may name no other
});
