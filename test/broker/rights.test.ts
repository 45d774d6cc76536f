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
delegates: [gateway]
operators: [{ name: ops, tokens: [] }]
`;

/** What others have on the broker: queues that exist, so that a refusal is about rights. */
async function startSystem<Broker extends Verified & Pick<OwnVirtualHost, "url">>(open: (policy: string) => Promise<Broker>): Promise<Broker> {
  const broker = await open(POLICY);
  await using admin = await openRawChannel(broker.url);
  for (const queue of ["rockbot.result.Writer_1.v1", "rockbot.web-tools.v1", "rockbot.files.v1", "rockbot.files.v2.parked"])
    await admin.channel.assertQueue(queue);
  await admin.channel.bindQueue("rockbot.result.Writer_1.v1", "rockbot", "tool.result.Writer_1");
  await admin.channel.bindQueue("rockbot.files.v1", "rockbot", "tool.invoke.files");
  return broker;
}

type Row = readonly [what: string, expected: Verdict, attempt: () => Promise<Verdict>];

function rows(researcher: RawUser, webTools: RawUser): Row[] {
  return [
    ["an agent calls a tool that it may use", "granted", () => researcher.publish("rockbot", "tool.invoke", { userId: "researcher" })],
    ["an agent takes its own results", "granted", () => researcher.bind("rockbot", "tool.result.researcher.i1")],
    ["an agent hears what services announce", "granted", () => researcher.bind("rockbot", "tool.announce.*")],
    ["a service answers an agent", "granted", () => webTools.publish("rockbot", "tool.result.Writer_1", { userId: "web-tools" })],
    ["a service has its own queues", "granted", () => webTools.declareQueue("rockbot.web-tools.v1.dlq")],
    ["an agent has the queue of its last instance", "granted", () => researcher.declareQueue("rockbot.result.researcher.63.v1")],
    ["an agent has a spare queue", "granted", () => researcher.declareQueue("rockbot.result.researcher.v1.spare")],
    ["an agent has its last queue for copies", "granted", () => researcher.declareQueue("rockbot.copy.researcher.255")],
    ["an agent has an instance more", "refused", () => researcher.declareQueue("rockbot.result.researcher.64.v1")],
    ["an agent has an instance of any name", "refused", () => researcher.declareQueue("rockbot.result.researcher.i1.v1")],
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
    ["an agent names another as the sender", "refused", () => researcher.publish("rockbot", "tool.invoke", { userId: "Writer_1" })],
    ["an agent deletes the exchange", "refused", () => researcher.deleteExchange("rockbot")],
    ["an agent takes a service's requests", "refused", () => researcher.bind("rockbot", "tool.invoke")],
    ["an agent reads parked messages", "refused", () => researcher.get("rockbot.files.v2.parked")],
    ["an agent forges dead letters", "refused", () => researcher.publish("rockbot.dlx.v1", "rockbot.files.v1.dlq")],
    ["an agent leads one exchange into another", "refused", () => researcher.bindExchange("rockbot", "rockbot", "#")],
    ["a service announces another's tools", "refused", () => webTools.publish("rockbot", "tool.announce.files")],
    ["a service calls tools", "refused", () => webTools.publish("rockbot", "tool.invoke.files")],
    ["a service takes another's requests", "refused", () => webTools.bind("rockbot", "tool.invoke.files")],
    ["a service takes an agent's results", "refused", () => webTools.bind("rockbot", "tool.result.researcher")],
    ["a service consumes another's queue", "refused", () => webTools.consume("rockbot.files.v1")],
    ["a service forges another's dead letters", "refused", () => webTools.publish("rockbot.dlx.v1", "rockbot.files.v1.dlq")],
    ["a service takes another's dead letters", "refused", () => webTools.bind("rockbot.dlx.v1", "rockbot.files.v2.parked")],
    ["a service takes all dead letters", "refused", () => webTools.bind("rockbot.dlx.v1", "#")],
    ["a service leads its dead letters into the exchange", "refused", () => webTools.bindExchange("rockbot", "rockbot.dlx.v1", "tool.result.researcher")],
  ];
}

test("T01: the broker grants what the policy does and nothing else, and every user has rights to topics", { timeout: 300_000 }, async () => {
  await using broker = await startSystem(startVerifiedBroker);
  await using researcher = await openRawUser(broker.urlOf("researcher"));
  await using webTools = await openRawUser(broker.urlOf("web-tools"));
  const matrix = rows(researcher, webTools);
  const found: string[] = [];
  for (const [what, , attempt] of matrix) found.push(`${what}: ${await attempt()}`);
  expect(found).toEqual(matrix.map(([what, expected]) => `${what}: ${expected}`));

  // A user without topic rights for an exchange may publish and bind any key of it.
  const users = busRights(broker.document).map(({ user }) => user);
  const listed: { user: string; exchange: string }[] = JSON.parse(await broker.ctl("list_topic_permissions", "--formatter", "json"));
  const pairs = users.flatMap((user) => ["rockbot", "rockbot.dlx.v1"].map((exchange) => `${user} ${exchange}`));
  expect(listed.map(({ user, exchange }) => `${user} ${exchange}`).sort()).toEqual(pairs.sort());
  const all: { user: string }[] = JSON.parse(await broker.ctl("list_users", "--formatter", "json"));
  expect(all.map(({ user }) => user).sort()).toEqual([...users, "test"].sort()); // that of the test itself, and no guest
});

test("whatever a user declares is bounded in bytes by policy, and what is no service's ends without its user", { timeout: 300_000 }, async () => {
  await using broker = await startSystem(startVerifiedBroker);
  await using researcher = await openRawUser(broker.urlOf("researcher"));
  await using webTools = await openRawUser(broker.urlOf("web-tools"));
  const ofAgents = ["rockbot.result.researcher.v1", "rockbot.result.researcher.7.v1", "rockbot.result.researcher.7.v1.spare", "rockbot.copy.researcher.9"];
  const ofServices = [
    "rockbot.web-tools.v1",
    "rockbot.web-tools.v1.retry",
    "rockbot.web-tools.v2.retry",
    "rockbot.web-tools.v1.dlq",
    "rockbot.web-tools.v1.parked",
  ];
  for (const name of ofAgents) expect(await researcher.declareQueue(name, { "x-queue-type": "quorum" })).toBe("granted");
  for (const name of ofServices.slice(1)) expect(await webTools.declareQueue(name, { "x-queue-type": "quorum" })).toBe("granted");
  // RabbitMQ 3.10 lists of a queue only its policy's name.
  const queues: { name: string; policy: string }[] = JSON.parse(await broker.ctl("list_queues", "name", "policy", "--formatter", "json"));
  const policies: { name: string; definition: string }[] = JSON.parse(await broker.ctl("list_policies", "--formatter", "json"));
  const definitions = new Map(policies.map(({ name, definition }) => [name, JSON.parse(definition) as Record<string, number>]));
  const policyOf = (name: string) => definitions.get(queues.find((queue) => queue.name === name)?.policy ?? "") ?? {};
  expect([...ofAgents, ...ofServices].filter((name) => !((policyOf(name)["max-length-bytes"] ?? Number.NaN) <= 256 * 1024 * 1024))).toEqual([]);
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
  const isOwn = (text: string) => /^tool\.result\.researcher(\.([A-Za-z0-9_-]{1,64}|\*))?$/.test(text) && !text.includes("\n");
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

test("T01: for any user, operation and name the broker's verdict is that of the policy", { timeout: 300_000 }, async () => {
  await using broker = await startSystem(verifiedHost);
  await using users = new AsyncDisposableStack();
  const raw = new Map<string, RawUser>();
  for (const { user } of busRights(broker.document)) raw.set(user, users.use(await openRawUser(broker.urlOf(user))));
  const word = fc.constantFrom("researcher", "Writer_1", "gateway", "ops", "web-tools", "files", "file-server", "i1", "*", "#", "probe", "list", "x");
  const root = fc.constantFrom("tool.invoke", "tool.cancel", "tool.announce", "tool.result", "tool.progress", "script.result", "mcp.manage.response");
  const key = fc.tuple(root, fc.array(word, { maxLength: 3 })).map(([first, rest]) => [first, ...rest].join("."));
  const operations = ["publish", "bind"] as const;
  const anything = fc.tuple(fc.constantFrom(...raw.keys()), fc.constantFrom(...operations), key);
  /** What may be done is rare among all that could be: half of the tries are of it, or a word away from it. */
  const allowed = [...raw.keys()].flatMap((user) =>
    operations.flatMap((what) =>
      fc.sample(key, { numRuns: 500, seed: 1 }).flatMap((topic) => (mayDo(user, what, topic.split(".")) ? [[user, what, topic] as const] : [])),
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
      expect(`${user} ${what} ${topic}: ${verdict}`).toBe(`${user} ${what} ${topic}: ${mayDo(user, what, topic.split(".")) ? "granted" : "refused"}`);
    }),
    { numRuns: 600 },
  );
  expect(seen.granted).toBeGreaterThan(100);
  expect(seen.refused).toBeGreaterThan(100);
});

/** What the policy above says, in other words than those that are tested. */
function mayDo(user: string, what: "publish" | "bind", words: readonly string[]): boolean {
  const topic = words.join(".");
  const service = { "web-tools": { name: "web-tools", topic: "tool.invoke" }, "file-server": { name: "files", topic: "tool.invoke.files" } }[user];
  const callable = { researcher: ["web-tools"], Writer_1: ["web-tools", "files"], gateway: ["web-tools", "files"], ops: ["web-tools", "files"] }[user] ?? [];
  const topicOf: Record<string, string> = { "web-tools": "tool.invoke", files: "tool.invoke.files" };
  const isWord = (text: string | undefined) => text !== undefined && text !== "#" && (text !== "*" || what === "bind");
  const afterRoot = ["tool.result", "tool.progress", "script.result", "mcp.manage.response"].flatMap((root) =>
    topic.startsWith(`${root}.`) ? [topic.slice(root.length + 1).split(".")] : [],
  )[0];
  if (what === "publish") {
    if (service !== undefined)
      return topic === `tool.announce.${service.name}` || (afterRoot !== undefined && afterRoot.length <= 2 && afterRoot.every(isWord));
    if (words.length === 4 && topic.startsWith("tool.announce.list.")) return isWord(words[3]);
    return topic === "tool.announce.probe" || callable.some((name) => topic === topicOf[name] || topic === `tool.cancel.${name}`);
  }
  if (service !== undefined) return [service.topic, `tool.cancel.${service.name}`, "tool.announce.probe", `tool.announce.list.${service.name}`].includes(topic);
  if (words.length === 3 && topic.startsWith("tool.announce.")) return isWord(words[2]);
  return afterRoot?.[0] === user && afterRoot.length <= 2 && afterRoot.every(isWord);
}

test("rights are literal, whatever a user is called", async () => {
  const { document } = await readPolicy('delegates: ["a-b_C"]', "of the test");
  const [rights] = busRights(document).map(brokerRights);
  const read = new RegExp((rights?.topics["rockbot"]?.read ?? "").replace("\\z", "$"));
  expect(
    ["tool.result.a-b_C", "tool.result.a-b_C.i", "tool.result.axb_C", "tool.result.a-b_CC", "tool.result", "tool.result.a-b_C.i.j"].map((topic) =>
      read.test(topic),
    ),
  ).toEqual([true, true, false, false, false, false]);
  expect(rights?.topics["rockbot.dlx.v1"]).toEqual({ write: "(?!)", read: "(?!)" });
});
