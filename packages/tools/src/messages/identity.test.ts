import { createEnvelope, Header, ToolError } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { expect, test } from "vitest";
import { addressOf } from "../serve/read-request.ts";
import { callerOf, createIdentity, type Sender, type Stranger } from "./identity.ts";
import { toolRequestForm } from "./request-form.ts";

const POLICY = `
callers:
  researcher: {}
  writer: { user: writer-1 }
  hidden: { user: null }
services: { web-tools: { user: web, topic: tool.invoke, tools: ["web_*"] } }
delegates: [gateway, { user: agent, for: [researcher, "team-*"] }, { user: idle, for: [] }]
legacyPeers: [Old_Agent]
operators: [{ name: ops, tokens: [] }]
`;

async function identityOn(verifiesSender: boolean) {
  return createIdentity(
    { traits: { isDurable: true, verifiesSender, user: verifiesSender ? "researcher" : undefined } },
    holdPolicy(createPolicy(await readPolicy(POLICY, "of the test"))),
  );
}

const message = (fields: { userId?: string; source?: string; behalf?: string; operator?: string }) =>
  createEnvelope({
    topic: "tool.invoke",
    type: "t",
    source: fields.source ?? "somebody",
    body: Buffer.of(),
    headers: {
      ...(fields.behalf === undefined ? {} : { [Header.OnBehalfOf]: fields.behalf }),
      ...(fields.operator === undefined ? {} : { [Header.Operator]: fields.operator }),
    },
    ...(fields.userId === undefined ? {} : { userId: fields.userId }),
  });

const outcomeOf = (sender: Sender | Stranger): string =>
  "refusal" in sender ? `refused: ${sender.refusal.message}` : sender.caller;

test.each([
  ["who the bus says", { userId: "researcher", source: "writer" }, "researcher"],
  ["the caller that the user is", { userId: "writer-1" }, "writer"],
  ["nobody named, under the user's name", { userId: "newcomer" }, "newcomer"],
  ["whom a delegate names", { userId: "gateway", behalf: "hidden" }, "hidden"],
  ["whom an operator names", { userId: "ops", behalf: "researcher" }, "researcher"],
  ["a legacy peer that nobody verifies", { source: "Old_Agent" }, "Old_Agent"],
])("where senders are verified the effective caller is %s", async (_, fields, caller) => {
  expect(outcomeOf((await identityOn(true)).senderOf(message(fields)))).toBe(caller);
});

test("an operator is believed of whoever may call on behalf of others, and of nobody else", async () => {
  const of = async (isVerified: boolean, fields: Parameters<typeof message>[0]) => {
    const sender = (await identityOn(isVerified)).senderOf(message({ ...fields, operator: "ada" }));
    return "refusal" in sender ? "refused" : sender.operator;
  };
  expect(await of(true, { userId: "gateway", behalf: "writer" })).toBe("ada");
  expect(await of(true, { userId: "gateway" })).toBe("ada");
  expect(await of(true, { userId: "researcher", source: "gateway" })).toBeUndefined();
  expect(await of(true, { source: "Old_Agent" })).toBeUndefined();
  expect(await of(false, { source: "researcher" })).toBeUndefined();
  const strange = message({ userId: "gateway", operator: 'ada", "caller' });
  expect((await identityOn(true)).senderOf(strange)).not.toHaveProperty("operator");
});

test.each([
  ["nobody is verified", { source: "researcher" }, /no sender that the bus has verified/],
  ["its user has the name of another's caller", { userId: "writer" }, /"writer" is not the caller of that name/],
  ["its user has the name of one without a user", { userId: "hidden" }, /not the caller of that name/],
  ["it speaks for another and may not", { userId: "researcher", behalf: "writer" }, /may not call on behalf of others/],
  [
    "it speaks for another and nobody knows who it is",
    { source: "gateway", behalf: "writer" },
    /no sender that the bus has verified/,
  ],
  ["it speaks for what is no name", { userId: "gateway", behalf: "a.b" }, /is not valid/],
])("where senders are verified a request is refused if %s", async (_, fields, why) => {
  expect(outcomeOf((await identityOn(true)).senderOf(message(fields)))).toMatch(why);
});

test("where nobody is verified the sender is whom the message names, and speaks for others if that is a delegate", async () => {
  const identity = await identityOn(false);
  expect(
    ["researcher", "writer", "newcomer"].map((source) => outcomeOf(identity.senderOf(message({ source })))),
  ).toEqual(["researcher", "writer", "newcomer"]);
  expect(outcomeOf(identity.senderOf(message({ source: "gateway", behalf: "writer" })))).toBe("writer");
  expect(outcomeOf(identity.senderOf(message({ source: "researcher", behalf: "writer" })))).toMatch(
    /may not call on behalf/,
  );
});

test.each([true, false])(
  "a delegate for some is believed for those alone, where senders are verified: %j",
  async (isVerified) => {
    const identity = await identityOn(isVerified);
    const sent = (from: string, behalf?: string) =>
      outcomeOf(
        identity.senderOf(
          message({
            ...(isVerified ? { userId: from } : { source: from }),
            ...(behalf === undefined ? {} : { behalf }),
          }),
        ),
      );
    expect(["researcher", "team-a", "team-"].map((behalf) => sent("agent", behalf))).toEqual([
      "researcher",
      "team-a",
      "team-",
    ]);
    expect(sent("agent")).toBe("agent");
    for (const behalf of ["writer", "team", "a-team-b", "agent", "operator"]) {
      expect(sent("agent", behalf)).toBe(
        `refused: Cannot take the request: "agent" may not call on behalf of "${behalf}": the policy lets it do so for others only`,
      );
    }
    expect(sent("idle", "researcher")).toMatch(/may not call on behalf of "researcher"/);
    expect(sent("gateway", "writer")).toBe("writer"); // an entry that is a name alone
  },
);

test("answers go to topics of the sender itself, not of whom it speaks for", async () => {
  const sender = (await identityOn(true)).senderOf(message({ userId: "gateway", behalf: "writer" }));
  const topics = [
    "tool.result.gateway",
    "script.result.gateway.i1",
    "mcp.manage.response.gateway",
    "tool.result.writer",
    "tool.result",
    "tool.result.gateway.i1.x",
  ];
  expect(topics.map((topic) => sender.mayHear?.(topic))).toEqual([true, true, true, false, false, false]);
});

test("a message is from a service if the bus says that its user sent it", async () => {
  const identity = await identityOn(true);
  const from = (userId: string | undefined, service: string) =>
    identity.isFrom(service, message({ source: "web", ...(userId === undefined ? {} : { userId }) }), "result");
  expect([
    from("web", "web-tools"),
    from("web-tools", "web-tools"),
    from(undefined, "web-tools"),
    from("other", "other"),
  ]).toEqual([true, false, false, false]);
  expect(identity.mayOffer("web-tools", { name: "web_browse", topic: "tool.invoke" })).toBe(true);
  expect(identity.mayOffer("web-tools", { name: "bash", topic: "tool.invoke" })).toBe(false);
  expect(identity.mayOffer("web-tools", { name: "web_browse", topic: "tool.invoke.mcp" })).toBe(false);
  expect(identity.mayAnswer("web_browse", message({ userId: "web" }))).toBe(true);
  expect(identity.mayAnswer("bash", message({ userId: "web" }))).toBe(false);
  const withoutPolicy = createIdentity(
    { traits: { isDurable: true, verifiesSender: true, user: "researcher" } },
    undefined,
  );
  expect(withoutPolicy.mayAnswer("web_browse", message({ userId: "web" }))).toBe(false); // nobody knows whose tool it is
});

test("a refusal is for the model: typed, and final", async () => {
  const stranger = (await identityOn(true)).senderOf(message({ userId: "researcher", behalf: "writer" })) as Stranger;
  expect(stranger.refusal).toBeInstanceOf(ToolError);
  expect(stranger.refusal).toMatchObject({ code: "denied", isRetryable: false });
});

test("what is held and counted of a stranger is of the user that the bus names, whatever the message says", async () => {
  const forged = {
    ...message({ userId: "researcher", source: "writer", behalf: "writer" }),
    replyTo: "tool.result.researcher",
  };
  const stranger = (await identityOn(true)).senderOf(forged);
  expect(callerOf(forged, stranger)).toBe("researcher");
  expect(addressOf(forged, stranger, toolRequestForm)).toMatchObject({
    topic: "tool.result.researcher",
    caller: "researcher",
  });
});
