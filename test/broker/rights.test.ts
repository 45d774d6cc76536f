import { brokerRights } from "@rockbot/bus-rabbitmq";
import { busRights, readPolicy } from "@rockbot/policy";
import type { OwnVirtualHost } from "@rockbot/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { atScale } from "../faults/figures.ts";
import { openRawChannel } from "./raw-channel.ts";
import { openRawUser, type RawUser, type Verdict } from "./raw-user.ts";
import { startVerifiedBroker, type Verified, verifiedHost } from "./verified-broker.ts";

const POLICY = `
identity: verified
everyone: { allow: ["*"] }
callers:
  researcher: { allow: ["web_*"] }
  writer: { user: Writer_1, deny: ["web_search"] }
  reached-by-gateway: { user: null }
services:
  web-tools: { topic: tool.invoke, tools: ["web_*"] }
  files: { user: file-server, topic: tool.invoke.files, tools: ["file_read", "file_write"] }
  agent: { topic: tool.invoke.agent, tools: ["agent__*"], owns: [user.message, user.feedback, user.history.request] }
delegates: [gateway, { user: agent, for: [writer, "team-*"] }]
operators: [{ name: ops, tokens: [] }]
`;

/** What others have on the broker: queues that exist, so that a refusal is about rights. */
async function startSystem<Broker extends Verified & Pick<OwnVirtualHost, "url">>(
  open: (policy: string) => Promise<Broker>,
): Promise<Broker> {
  const broker = await open(POLICY);
  await using admin = await openRawChannel(broker.url);
  for (const queue of [
    "rockbot.result.Writer_1.v1",
    "rockbot.web-tools.v1",
    "rockbot.files.v1",
    "rockbot.files.v2.parked",
  ])
    await admin.channel.assertQueue(queue);
  await admin.channel.bindQueue("rockbot.result.Writer_1.v1", "rockbot", "tool.result.Writer_1");
  await admin.channel.bindQueue("rockbot.files.v1", "rockbot", "tool.invoke.files");
  return broker;
}

type Row = readonly [what: string, expected: Verdict, attempt: () => Promise<Verdict>];

interface Users {
  readonly researcher: RawUser;
  readonly writer: RawUser;
  readonly webTools: RawUser;
  readonly agent: RawUser;
  readonly gateway: RawUser;
}

const SESSION = "0123456789abcdef";

// Long because: it is one table
function rows({ researcher, writer, webTools, agent, gateway }: Users): Row[] {
  return [
    [
      "one who may use the agent writes to it",
      "granted",
      () => writer.publish("rockbot", "user.message", { userId: "Writer_1" }),
    ],
    [
      "one who may use the agent asks for its history",
      "granted",
      () => writer.publish("rockbot", "user.history.request"),
    ],
    ["one who may use the agent judges a reply", "granted", () => writer.publish("rockbot", "user.feedback")],
    ["one hears replies to itself", "granted", () => writer.bind("rockbot", "user.response.Writer_1")],
    ["one hears replies to its instances", "granted", () => writer.bind("rockbot", "user.response.Writer_1.*")],
    ["one hears its history", "granted", () => writer.bind("rockbot", "user.history.response.Writer_1")],
    ["a caller hears what happens in its sessions", "granted", () => writer.bind("rockbot", "agent.event.writer.*")],
    ["a delegate hears what happens in all sessions", "granted", () => gateway.bind("rockbot", "agent.event.*.*")],
    ["a delegate hears one session", "granted", () => gateway.bind("rockbot", `agent.event.writer.${SESSION}`)],
    ["the agent hears users", "granted", () => agent.bind("rockbot", "user.message")],
    ["the agent has a queue for what users send", "granted", () => agent.declareQueue("rockbot.agent.user.v1")],
    ["the agent replies", "granted", () => agent.publish("rockbot", "user.response.Writer_1")],
    [
      "the agent tells what happens",
      "granted",
      () => agent.publish("rockbot", `agent.event.writer.${SESSION}`, { userId: "agent" }),
    ],
    ["the agent calls a tool", "granted", () => agent.publish("rockbot", "tool.invoke")],
    ["a delegate for some hears events of those", "granted", () => agent.bind("rockbot", "agent.event.team-a.*")],
    ["a delegate for some hears events of all", "refused", () => agent.bind("rockbot", "agent.event.*.*")],
    ["one who may not use the agent writes to it", "refused", () => researcher.publish("rockbot", "user.message")],
    ["one hears what others send to the agent", "refused", () => writer.bind("rockbot", "user.message")],
    ["one hears replies to another", "refused", () => writer.bind("rockbot", "user.response.gateway")],
    ["one hears replies to all", "refused", () => writer.bind("rockbot", "user.response.*")],
    ["one hears the topic that proxies of before share", "refused", () => writer.bind("rockbot", "user.response")],
    ["one hears another's history", "refused", () => gateway.bind("rockbot", "user.history.response.Writer_1")],
    ["one hears events of another", "refused", () => writer.bind("rockbot", "agent.event.researcher.*")],
    ["one hears events under its user's name", "refused", () => writer.bind("rockbot", "agent.event.Writer_1.*")],
    ["one hears events of all", "refused", () => writer.bind("rockbot", "agent.event.#")],
    ["one forges an event", "refused", () => writer.publish("rockbot", `agent.event.writer.${SESSION}`)],
    ["a delegate forges an event", "refused", () => gateway.publish("rockbot", `agent.event.writer.${SESSION}`)],
    ["one forges a reply", "refused", () => gateway.publish("rockbot", "user.response.Writer_1")],
    ["another service replies to users", "refused", () => webTools.publish("rockbot", "user.response.Writer_1")],
    [
      "another service tells what happens",
      "refused",
      () => webTools.publish("rockbot", `agent.event.writer.${SESSION}`),
    ],
    ["another service hears users", "refused", () => webTools.bind("rockbot", "user.message")],
    ["one reads what waits for the agent", "refused", () => writer.get("rockbot.agent.user.v1")],
    [
      "an agent calls a tool that it may use",
      "granted",
      () => researcher.publish("rockbot", "tool.invoke", { userId: "researcher" }),
    ],
    ["an agent takes its own results", "granted", () => researcher.bind("rockbot", "tool.result.researcher.i1")],
    ["an agent hears what services announce", "granted", () => researcher.bind("rockbot", "tool.announce.*")],
    [
      "a service answers an agent",
      "granted",
      () => webTools.publish("rockbot", "tool.result.Writer_1", { userId: "web-tools" }),
    ],
    ["a service has its own queues", "granted", () => webTools.declareQueue("rockbot.web-tools.v1.dlq")],
    [
      "an agent has the queue of its last instance",
      "granted",
      () => researcher.declareQueue("rockbot.result.researcher.63.v1"),
    ],
    ["an agent has a spare queue", "granted", () => researcher.declareQueue("rockbot.result.researcher.v1.spare")],
    [
      "an agent's successor has a queue",
      "granted",
      () => researcher.declareQueue("rockbot.result.researcher.63.v1.next"),
    ],
    ["an agent has its last queue for copies", "granted", () => researcher.declareQueue("rockbot.copy.researcher.255")],
    ["an agent has an instance more", "refused", () => researcher.declareQueue("rockbot.result.researcher.64.v1")],
    [
      "an agent has an instance of any name",
      "refused",
      () => researcher.declareQueue("rockbot.result.researcher.i1.v1"),
    ],
    ["an agent writes a number in another way", "refused", () => researcher.declareQueue("rockbot.copy.researcher.00")],
    ["an agent has a queue for copies more", "refused", () => researcher.declareQueue("rockbot.copy.researcher.256")],
    ["an agent has queues that the broker names", "refused", () => researcher.declareQueue("")],
    ["an agent has another's queue for copies", "refused", () => researcher.declareQueue("rockbot.copy.Writer_1.0")],
    ["an agent answers another", "refused", () => researcher.publish("rockbot", "tool.result.Writer_1")],
    ["an agent calls a tool that it may not use", "refused", () => researcher.publish("rockbot", "tool.invoke.files")],
    ["an agent announces tools", "refused", () => researcher.publish("rockbot", "tool.announce.web-tools")],
    ["an agent takes everything", "refused", () => researcher.bind("rockbot", "#")],
    ["an agent takes another's results", "refused", () => researcher.bind("rockbot", "tool.result.Writer_1")],
    ["an agent consumes a service's queue", "refused", () => researcher.consume("rockbot.web-tools.v1")],
    ["an agent deletes a service's queue", "refused", () => researcher.deleteQueue("rockbot.web-tools.v1")],
    ["an agent reads another's queue", "refused", () => researcher.get("rockbot.result.Writer_1.v1")],
    ["an agent goes past the exchange", "refused", () => researcher.publish("", "rockbot.result.Writer_1.v1")],
    [
      "an agent names another as the sender",
      "refused",
      () => researcher.publish("rockbot", "tool.invoke", { userId: "Writer_1" }),
    ],
    ["an agent deletes the exchange", "refused", () => researcher.deleteExchange("rockbot")],
    ["an agent takes a service's requests", "refused", () => researcher.bind("rockbot", "tool.invoke")],
    ["an agent calls a tool by the fast lane", "granted", () => researcher.publish("rockbot.fast", "tool.invoke")],
    [
      "an agent calls a tool that it may not use by the fast lane",
      "refused",
      () => researcher.publish("rockbot.fast", "tool.invoke.files"),
    ],
    ["an agent takes a service's fast lane", "refused", () => researcher.bind("rockbot.fast", "tool.invoke")],
    ["an agent has the queue of a fast lane", "refused", () => researcher.declareQueue("rockbot.web-tools.v1.fast")],
    ["an agent reads parked messages", "refused", () => researcher.get("rockbot.files.v2.parked")],
    ["an agent forges dead letters", "refused", () => researcher.publish("rockbot.dlx.v1", "rockbot.files.v1.dlq")],
    ["an agent leads one exchange into another", "refused", () => researcher.bindExchange("rockbot", "rockbot", "#")],
    ["a service announces another's tools", "refused", () => webTools.publish("rockbot", "tool.announce.files")],
    ["a service calls tools", "refused", () => webTools.publish("rockbot", "tool.invoke.files")],
    ["a service takes another's requests", "refused", () => webTools.bind("rockbot", "tool.invoke.files")],
    ["a service takes an agent's results", "refused", () => webTools.bind("rockbot", "tool.result.researcher")],
    ["a service consumes another's queue", "refused", () => webTools.consume("rockbot.files.v1")],
    [
      "a service forges another's dead letters",
      "refused",
      () => webTools.publish("rockbot.dlx.v1", "rockbot.files.v1.dlq"),
    ],
    [
      "a service takes another's dead letters",
      "refused",
      () => webTools.bind("rockbot.dlx.v1", "rockbot.files.v2.parked"),
    ],
    ["a service takes all dead letters", "refused", () => webTools.bind("rockbot.dlx.v1", "#")],
    [
      "a service leads its dead letters into the exchange",
      "refused",
      () => webTools.bindExchange("rockbot", "rockbot.dlx.v1", "tool.result.researcher"),
    ],
  ];
}

test("T01: the broker grants what the policy does and nothing else, and every user has rights to topics", {
  timeout: 300_000,
}, async () => {
  await using broker = await startSystem(startVerifiedBroker);
  await using researcher = await openRawUser(broker.urlOf("researcher"));
  await using webTools = await openRawUser(broker.urlOf("web-tools"));
  await using writer = await openRawUser(broker.urlOf("Writer_1"));
  await using agent = await openRawUser(broker.urlOf("agent"));
  await using gateway = await openRawUser(broker.urlOf("gateway"));
  const matrix = rows({ researcher, writer, webTools, agent, gateway });
  const found: string[] = [];
  for (const [what, , attempt] of matrix) found.push(`${what}: ${await attempt()}`);
  expect(found).toEqual(matrix.map(([what, expected]) => `${what}: ${expected}`));

  // A user without topic rights for an exchange may publish and bind any key of it.
  const users = busRights(broker.document).map(({ user }) => user);
  const listed: { user: string; exchange: string }[] = JSON.parse(
    await broker.ctl("list_topic_permissions", "--formatter", "json"),
  );
  const pairs = users.flatMap((user) =>
    ["rockbot", "rockbot.dlx.v1", "rockbot.fast"].map((exchange) => `${user} ${exchange}`),
  );
  expect(listed.map(({ user, exchange }) => `${user} ${exchange}`).sort()).toEqual(pairs.sort());
  const all: { user: string }[] = JSON.parse(await broker.ctl("list_users", "--formatter", "json"));
  expect(all.map(({ user }) => user).sort()).toEqual([...users, "test"].sort()); // that of the test itself, and no guest
});

test("whatever a user declares is bounded in bytes by policy, and what is no service's ends without its user", {
  timeout: 300_000,
}, async () => {
  await using broker = await startSystem(startVerifiedBroker);
  await using researcher = await openRawUser(broker.urlOf("researcher"));
  await using webTools = await openRawUser(broker.urlOf("web-tools"));
  const ofAgents = [
    "rockbot.result.researcher.v1",
    "rockbot.result.researcher.7.v1",
    "rockbot.result.researcher.7.v1.spare",
    "rockbot.copy.researcher.9",
  ];
  const ofServices = [
    "rockbot.web-tools.v1",
    "rockbot.web-tools.v1.retry",
    "rockbot.web-tools.v2.retry",
    "rockbot.web-tools.v1.dlq",
    "rockbot.web-tools.v1.parked",
  ];
  for (const name of ofAgents)
    expect(await researcher.declareQueue(name, { "x-queue-type": "quorum" })).toBe("granted");
  for (const name of ofServices.slice(1))
    expect(await webTools.declareQueue(name, { "x-queue-type": "quorum" })).toBe("granted");
  // RabbitMQ 3.10 lists of a queue only its policy's name.
  const queues: { name: string; policy: string }[] = JSON.parse(
    await broker.ctl("list_queues", "name", "policy", "--formatter", "json"),
  );
  const policies: { name: string; definition: string }[] = JSON.parse(
    await broker.ctl("list_policies", "--formatter", "json"),
  );
  const definitions = new Map(
    policies.map(({ name, definition }) => [name, JSON.parse(definition) as Record<string, number>]),
  );
  const policyOf = (name: string) => definitions.get(queues.find((queue) => queue.name === name)?.policy ?? "") ?? {};
  expect(
    [...ofAgents, ...ofServices].filter(
      (name) => !((policyOf(name)["max-length-bytes"] ?? Number.NaN) <= 256 * 1024 * 1024),
    ),
  ).toEqual([]);
  expect(ofAgents.filter((name) => !((policyOf(name)["expires"] ?? Number.NaN) <= 600_000))).toEqual([]);
  expect(ofServices.filter((name) => "expires" in policyOf(name))).toEqual([]);
});

test("T02: hostile names reach no foreign key", { timeout: 300_000 }, async () => {
  await using broker = await startSystem(verifiedHost);
  await using researcher = await openRawUser(broker.urlOf("researcher"));
  await using webTools = await openRawUser(broker.urlOf("web-tools"));
  const piece = fc.oneof(
    fc.constantFrom(
      "*",
      "#",
      ".",
      "..",
      "Writer_1",
      "writer",
      "web-tools",
      "researcher",
      "RESEARCHER",
      "rеsearcher",
      ".+",
      ".*",
      "\\z",
      "|",
      "\n",
      "\0",
      "{username}",
      "%",
      "i1",
      "-",
    ),
    fc.string({ minLength: 1, maxLength: 6, unit: "grapheme" }),
  );
  const hostile = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""));
  const key = fc.oneof(
    hostile.map((name) => `tool.result.${name}`),
    hostile.map((name) => `tool.result.researcher${name}`),
    hostile.map((name) => `tool.result.researcher.${name}`),
    hostile,
  );
  const isOwn = (text: string) =>
    /^tool\.result\.researcher(\.([A-Za-z0-9_-]{1,64}|\*))?$/.test(text) && !text.includes("\n");
  let reached = 0;
  await fc.assert(
    fc.asyncProperty(
      key.filter((text) => Buffer.byteLength(text) <= 255),
      async (text) => {
        if ((await researcher.bind("rockbot", text)) === "granted" && !isOwn(text)) reached++;
        if ((await webTools.publish("rockbot.dlx.v1", text)) === "granted") reached++;
        expect([text, reached]).toEqual([text, 0]);
      },
    ),
    { numRuns: atScale(250, 1_000) },
  );
  expect(reached).toBe(0);
});

test("T01: for any user, operation and name the broker's verdict is that of the policy", {
  timeout: 300_000,
}, async () => {
  await using broker = await startSystem(verifiedHost);
  await using users = new AsyncDisposableStack();
  const raw = new Map<string, RawUser>();
  for (const { user } of busRights(broker.document)) raw.set(user, users.use(await openRawUser(broker.urlOf(user))));
  const word = fc.constantFrom(
    "researcher",
    "Writer_1",
    "writer",
    "team-a",
    "gateway",
    "ops",
    "web-tools",
    "files",
    "file-server",
    "agent",
    "i1",
    "*",
    "#",
    "probe",
    "list",
    "x",
  );
  const ofTools = fc.constantFrom(
    "tool.invoke",
    "tool.cancel",
    "tool.announce",
    "tool.result",
    "tool.progress",
    "script.result",
    "mcp.manage.response",
  );
  const ofUsers = fc.constantFrom(
    "user.message",
    "user.feedback",
    "user.history.request",
    "user.response",
    "user.history.response",
    "agent.event",
  );
  const root = fc.oneof(ofTools, ofUsers);
  const key = fc.tuple(root, fc.array(word, { maxLength: 3 })).map(([first, rest]) => [first, ...rest].join("."));
  const operations = ["publish", "bind"] as const;
  const anything = fc.tuple(fc.constantFrom(...raw.keys()), fc.constantFrom(...operations), key);
  /** What may be done is rare among all that could be: half of the tries are of it, or a word away from it. */
  const allowed = [...raw.keys()].flatMap((user) =>
    operations.flatMap((what) =>
      fc
        .sample(key, { numRuns: 500, seed: 1 })
        .flatMap((topic) => (mayDo(user, what, topic.split(".")) ? [[user, what, topic] as const] : [])),
    ),
  );
  const likely = fc
    .tuple(fc.constantFrom(...allowed), fc.option(word))
    .map(([[user, what, topic], more]) => [user, what, more === null ? topic : `${topic}.${more}`] as const);
  const seen = { granted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.oneof(anything, likely), async ([user, what, topic]) => {
      const verdict = await (raw.get(user) as RawUser)[what]("rockbot", topic);
      seen[verdict]++;
      expect(`${user} ${what} ${topic}: ${verdict}`).toBe(
        `${user} ${what} ${topic}: ${mayDo(user, what, topic.split(".")) ? "granted" : "refused"}`,
      );
    }),
    { numRuns: 600 },
  );
  expect(seen.granted).toBeGreaterThan(100);
  expect(seen.refused).toBeGreaterThan(100);
});

const SERVICES: Readonly<Record<string, { readonly name: string; readonly topic: string }>> = {
  "web-tools": { name: "web-tools", topic: "tool.invoke" },
  "file-server": { name: "files", topic: "tool.invoke.files" },
  agent: { name: "agent", topic: "tool.invoke.agent" },
};
const EVERY = Object.values(SERVICES);
const CALLABLE: Readonly<Record<string, typeof EVERY>> = {
  researcher: EVERY.slice(0, 1),
  Writer_1: EVERY,
  gateway: EVERY,
  ops: EVERY,
  agent: EVERY,
};
const ANSWERS = ["tool.result", "tool.progress", "script.result", "mcp.manage.response"];
const REPLIES = ["user.response", "user.history.response"];
const ASKED = ["user.message", "user.feedback", "user.history.request"];

/** What the policy above says, in other words than those that are tested. */
function mayDo(user: string, what: "publish" | "bind", words: readonly string[]): boolean {
  const topic = words.join(".");
  const service = SERVICES[user];
  const callable = CALLABLE[user] ?? [];
  const usesAgent = callable.some(({ name }) => name === "agent");
  const isWord = (text: string | undefined) => text !== undefined && text !== "#" && (text !== "*" || what === "bind");
  const isBelow = (roots: readonly string[], isFirst: (word: string | undefined) => boolean) => {
    const root = roots.find((each) => topic.startsWith(`${each}.`));
    const rest = root === undefined ? [] : topic.slice(root.length + 1).split(".");
    return isFirst(rest[0]) && rest.length <= 2 && rest.every(isWord);
  };
  const isEvent = topic.startsWith("agent.event.") && words.length === 4 && isWord(words[2]) && isWord(words[3]);
  if (what === "publish") {
    if (service !== undefined && (topic === `tool.announce.${service.name}` || isBelow(ANSWERS, isWord))) return true;
    if (user === "agent" && (isEvent || isBelow(REPLIES, isWord))) return true;
    if (callable.length === 0) return false;
    if (words.length === 4 && topic.startsWith("tool.announce.list.")) return isWord(words[3]);
    if (topic === "tool.announce.probe" || (usesAgent && ASKED.includes(topic))) return true;
    return callable.some(({ name, topic: invoke }) => topic === invoke || topic === `tool.cancel.${name}`);
  }
  if (
    service !== undefined &&
    [
      service.topic,
      `tool.cancel.${service.name}`,
      "tool.announce.probe",
      `tool.announce.list.${service.name}`,
    ].includes(topic)
  )
    return true;
  if (user === "agent" && ASKED.includes(topic)) return true;
  if (callable.length === 0) return false;
  if (words.length === 3 && topic.startsWith("tool.announce.")) return isWord(words[2]);
  if (isEvent && usesAgent) {
    if (user === "Writer_1") return words[2] === "writer";
    return user !== "agent" || words[2] === "writer" || /^team-./.test(words[2] ?? "");
  }
  return isBelow(usesAgent ? [...ANSWERS, ...REPLIES] : ANSWERS, (first) => first === user);
}

test("rights are literal, whatever a user is called", async () => {
  const { document } = await readPolicy('delegates: ["a-b_C"]', "of the test");
  const [rights] = busRights(document).map(brokerRights);
  const read = new RegExp((rights?.topics["rockbot"]?.read ?? "").replace("\\z", "$"));
  expect(
    [
      "tool.result.a-b_C",
      "tool.result.a-b_C.i",
      "tool.result.axb_C",
      "tool.result.a-b_CC",
      "tool.result",
      "tool.result.a-b_C.i.j",
    ].map((topic) => read.test(topic)),
  ).toEqual([true, true, false, false, false, false]);
  expect(rights?.topics["rockbot.dlx.v1"]).toEqual({ write: "(?!)", read: "(?!)" });
});
