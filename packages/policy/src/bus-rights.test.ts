import { expect, test } from "vitest";
import { busRights } from "./bus-rights.ts";
import { readPolicy } from "./document/read-policy.ts";

const rightsOf = async (yaml: string) =>
  Object.fromEntries(
    busRights((await readPolicy(yaml, "of the test")).document).map(({ user, ...rights }) => [user, rights]),
  );

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
    Object.entries(rights).map(([user, { publishes }]) => [
      user,
      publishes.filter((topic) => topic.startsWith("tool.invoke")),
    ]),
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

test("only operators for dead letters are users of the broker", async () => {
  const rights = await rightsOf(
    "services: { web: { topic: tool.invoke } }\ndelegates: []\noperators: [{ name: reader, tokens: [], may: [read] }, { name: ops, tokens: [] }]",
  );
  expect(rights["ops"]).toMatchObject({ operates: ["web"] });
  expect(rights).not.toHaveProperty("reader");
});

test("a service hears its requests and writes answers, and announces itself alone", async () => {
  const { web } = await rightsOf("services: { web: { topic: tool.invoke } }\ndelegates: []");
  expect(web).toMatchObject({
    serves: ["web"],
    hears: ["tool.invoke", "tool.cancel.web", "tool.announce.probe", "tool.announce.list.web"],
    results: [],
    operates: [],
  });
  expect(web?.publishes).toEqual(
    expect.arrayContaining(["tool.announce.web", "tool.result.*", "tool.result.*.*", "tool.progress.*"]),
  );
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
  const ofMcp = (topics: readonly string[] = []) =>
    topics.filter((topic) => /^(mcp\.manage|tool\.meta\.mcp)(?!\.response)/.test(topic));
  const found = Object.entries(rights).map(([user, { publishes, hears, serves }]) => [
    user,
    ofMcp(publishes),
    ofMcp(hears),
    serves,
  ]);
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

const AGENT = `
services:
  agent: { user: Agent_1, topic: tool.invoke.agent, tools: ["agent__*"] }
  web: { topic: tool.invoke, tools: ["web_*"] }
callers: { chatter: { user: Chat_1, allow: ["agent__chat"] }, browser: { allow: ["web_*"] }, reached: { user: null, allow: ["*"] } }
legacyPeers: [old]
everyone: { allow: ["agent__*"] }
delegates: [gateway, { user: scheduler, for: [chatter, "team-*"] }]
`;

test("the agent alone hears what users send and tells what happens, and each caller hears its own", async () => {
  const rights = await rightsOf(AGENT);
  const ofUsers = (topics: readonly string[] = []) => topics.filter((topic) => /^(user|agent)\./.test(topic));
  const below = (user: string) => [
    `user.response.${user}`,
    `user.response.${user}.*`,
    `user.history.response.${user}`,
    `user.history.response.${user}.*`,
  ];
  const asked = ["user.message", "user.feedback", "user.history.request"];
  const found = Object.fromEntries(
    Object.entries(rights).map(([user, { publishes, hears }]) => [
      user,
      [ofUsers(publishes), ofUsers(hears)].map((topics) => topics.sort()),
    ]),
  );
  expect(found).toEqual({
    Agent_1: [["agent.event.*.*", ...below("*"), "user.response", "user.history.response"].sort(), [...asked].sort()],
    Chat_1: [[...asked].sort(), ["agent.event.chatter.*", ...below("Chat_1")].sort()],
    browser: [[], []],
    gateway: [[...asked].sort(), ["agent.event.*.*", ...below("gateway")].sort()],
    old: [[...asked].sort(), ["agent.event.old.*", ...below("old"), "user.response", "user.history.response"].sort()],
    scheduler: [[...asked].sort(), ["agent.event.chatter.*", "agent.event.team-*.*", ...below("scheduler")].sort()],
    web: [[], []],
  });
  expect(rights["Agent_1"]?.serves).toEqual(["agent", "agent-short", "agent.user"]);
  expect(rights["Chat_1"]?.publishes).toEqual(expect.arrayContaining(["tool.invoke.agent", "tool.invoke.agent-short"]));
});

test("without peers of before nobody shares a topic for replies", async () => {
  const rights = await rightsOf(AGENT.replace("[old]", "[]"));
  const shared = Object.values(rights).flatMap(({ publishes, hears }) => [...publishes, ...hears]);
  expect(shared.filter((topic) => ["user.response", "user.history.response"].includes(topic))).toEqual([]);
});

test("what a service owns may be given, and is its own: any other topic has a subscription of its last word", async () => {
  const rights = await rightsOf(`
services:
  agent: { topic: tool.invoke.agent, owns: [] }
  shop: { topic: tool.invoke.shop, tools: ["shop_*"], owns: [orders.new, orders.status] }
callers: { buyer: { allow: ["shop_*"] }, other: { allow: ["web_*"] } }
delegates: []
`);
  expect(rights["agent"]?.hears).not.toContain("user.message");
  expect(rights["shop"]).toMatchObject({
    serves: ["shop", "shop.new", "shop.status"],
    hears: expect.arrayContaining(["orders.new", "orders.status"]),
  });
  expect(rights["buyer"]?.publishes).toEqual(expect.arrayContaining(["orders.new", "orders.status"]));
  for (const user of ["other", "agent"])
    expect(rights[user]?.publishes.filter((topic) => topic.startsWith("orders"))).toEqual([]);
});

test("an agent on the bus hears its tasks and answers, and has no rights of a service of tools; who may ask it hears what it announces", async () => {
  const rights = await rightsOf(`
services:
  a2a: { topic: tool.invoke.a2a, tools: [invoke_agent] }
  agent: { topic: tool.invoke.agent, tools: [agent__chat], owns: [user.message, agent.task.RockBot] }
  research: { user: ResearchAgent, topic: agent.task.ResearchAgent }
callers: { researcher: { user: ResearchAgent, allow: [agent__chat] }, browser: { allow: ["web_*"] } }
delegates: []
`);
  const ofTasks = (user: string) => {
    const only = (topics: readonly string[] = []) =>
      topics.filter((topic) => /^(agent\.(task|response)|discovery)/.test(topic)).toSorted();
    return { publishes: only(rights[user]?.publishes), hears: only(rights[user]?.hears), serves: rights[user]?.serves };
  };
  const giver = ["discovery.announce", "agent.task.status"];
  expect(ofTasks("a2a")).toEqual({
    publishes: [
      "agent.task.ResearchAgent",
      "agent.task.RockBot",
      "agent.task.cancel.ResearchAgent",
      "agent.task.cancel.RockBot",
    ],
    hears: ["agent.response.a2a", "agent.response.a2a.*", ...giver].toSorted(),
    serves: ["a2a"],
  });
  expect(rights["a2a"]?.results).toEqual(["result.tasks.a2a.*"]);
  expect(ofTasks("agent")).toEqual({
    publishes: ["agent.response.*", "agent.response.*.*", ...giver].toSorted(),
    hears: ["agent.task.RockBot", "agent.task.cancel.RockBot", "discovery.announce"],
    serves: ["agent", "agent-short", "agent.user", "agent.task"],
  });
  expect(ofTasks("ResearchAgent")).toMatchObject({
    publishes: [
      "agent.response.*",
      "agent.response.*.*",
      ...giver,
      "agent.task.RockBot",
      "agent.task.cancel.RockBot",
    ].toSorted(),
    serves: ["research"],
  });
  expect(
    rights["ResearchAgent"]?.publishes.filter((topic) => /^tool\.(result|announce\.research)/.test(topic)),
  ).toEqual([]);
  expect(ofTasks("browser")).toEqual({ publishes: [], hears: [], serves: [] });
});
