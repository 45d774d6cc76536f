import { createHash } from "node:crypto";
import { newId } from "@rockbot/contracts";
import { createPolicy, holdPolicy, type PolicyHolder, readPolicy } from "@rockbot/policy";
import { expect, test } from "vitest";
import { startTestGateway } from "./test-gateway.ts";

const hashOf = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Two callers with a token each, one who may use nothing of the service's, and one whose token has ended. */
async function testPolicy(): Promise<PolicyHolder> {
  const yaml = `
everyone: { allow: ["*"] }
callers:
  alice: { tokens: [{ hash: "${hashOf("alice-token")}" }, { hash: "${hashOf("alice-next-token")}", expires: 2100-01-01T00:00:00Z }] }
  bob: { tokens: [{ hash: "${hashOf("bob-token")}" }], deny: ["echo"] }
  carol: { tokens: [{ hash: "${hashOf("carol-token")}" }], allow: ["web_*"], deny: ["web_browse"] }
  late: { tokens: [{ hash: "${hashOf("late-token")}", expires: 2020-01-01T00:00:00Z }] }
operators: [{ name: ops, tokens: [{ hash: "${hashOf("ops-token")}" }] }]
`;
  return holdPolicy(createPolicy(await readPolicy(yaml, "of the test")));
}

test("a token of the policy says on whose behalf a call runs", async () => {
  await using gateway = await startTestGateway({}, await testPolicy());
  const who = async (token: string) => (await gateway.invoke("who", {}, bearer(token))).json?.["content"];

  expect([await who("alice-token"), await who("alice-next-token"), await who("bob-token")]).toEqual([
    "alice",
    "alice",
    "bob",
  ]);
});

test.each([
  ["none", {}, /no bearer token came/],
  ["one of nobody", bearer("mallory-token"), /is unknown/],
  ["one that has ended", bearer("late-token"), /expired/],
  ["an operator's", bearer("ops-token"), /is unknown/],
  ["a hash in the place of a token", bearer(hashOf("alice-token")), /is unknown/],
  ["the gateway's own, since the policy has tokens", bearer("the-only-token-there-was"), /is unknown/],
])("a request with a wrong token is refused: %s", async (_, headers, why) => {
  await using gateway = await startTestGateway({ gatewayToken: "the-only-token-there-was" }, await testPolicy());
  for (const path of ["/v1/tools", "/v1/guides", "/v1/calls/any", "/openapi.json", "/nowhere"]) {
    const answer = await gateway.send({ path, headers });
    expect([path, answer.status, answer.json?.["code"]]).toEqual([path, 401, "unauthorized"]);
    expect(answer.json?.["message"]).toMatch(why);
  }
});

test("each caller is shown the tools that it may use, and called for no other", async () => {
  await using gateway = await startTestGateway({}, await testPolicy());
  const namesFor = async (token: string) =>
    (
      JSON.parse((await gateway.send({ path: "/v1/tools", headers: bearer(token) })).text) as {
        tools: { name: string }[];
      }
    ).tools.map(({ name }) => name);

  expect(await namesFor("alice-token")).toContain("echo");
  expect(await namesFor("bob-token")).not.toContain("echo");
  expect((await gateway.invoke("echo", {}, bearer("bob-token"))).json).toMatchObject({ code: "denied" });
});

test("a caller that may use no tool of a service is not shown its guides", async () => {
  await using gateway = await startTestGateway({}, await testPolicy());
  const guidesFor = async (token: string) => {
    const { json } = await gateway.send({ path: "/v1/guides", headers: bearer(token) });
    const one = await gateway.send({ path: "/v1/guides/test-tools", headers: bearer(token) });
    const byTool = (await gateway.invoke("list_tool_guides", {}, bearer(token))).json?.["structured"];
    return { listed: json?.["guides"], read: one.status, byTool };
  };

  const guide = { name: "test-tools", summary: "How to test." };
  expect(await guidesFor("bob-token")).toEqual({ listed: [guide], read: 200, byTool: { guides: [guide] } });
  expect(await guidesFor("carol-token")).toEqual({ listed: [], read: 404, byTool: { guides: [] } });
});

test("T05: the same Idempotency-Key of two callers is two calls, and nobody sees another's in 1000 tries", {
  timeout: 60_000,
}, async () => {
  await using gateway = await startTestGateway({}, await testPolicy());
  const keyed = (token: string, key: string) => gateway.invoke("who", {}, { ...bearer(token), "idempotency-key": key });
  const key = newId(); // has the form of a toolCallId, which it must not become
  const mine = await keyed("alice-token", key);
  const theirs = await keyed("bob-token", key);
  expect([mine.json?.["content"], theirs.json?.["content"]]).toEqual(["alice", "bob"]);
  expect(mine.json?.["toolCallId"]).not.toBe(theirs.json?.["toolCallId"]);
  const unkept = await gateway.invoke("who", {}, bearer("alice-token"));

  const find = (token: string, id: unknown) =>
    gateway.send({ path: `/v1/calls/${String(id)}`, headers: bearer(token) });
  for (const id of [key, mine.json?.["toolCallId"], unkept.json?.["toolCallId"]])
    expect((await find("alice-token", id)).status).toBe(200);
  expect((await find("alice-token", key)).json).toMatchObject({ result: { content: "alice" } });
  expect((await find("bob-token", key)).json).toMatchObject({ result: { content: "bob" } });

  const secretKeys = Array.from({ length: 20 }, () => newId());
  const secrets = [
    ...secretKeys,
    ...(await Promise.all(secretKeys.map(async (secret) => (await keyed("alice-token", secret)).json?.["toolCallId"]))),
  ];
  let reads = 0;
  for (let tries = 0; tries < 1_000; tries += secrets.length) {
    const answers = await Promise.all(secrets.map((id) => find("bob-token", id)));
    reads += answers.filter(({ status, text }) => status !== 404 || text.includes("alice")).length;
  }
  expect(reads).toBe(0);
});
