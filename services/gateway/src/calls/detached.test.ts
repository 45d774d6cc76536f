import { generateKeyPairSync } from "node:crypto";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { openSqliteRunStore } from "@rockbot/runs";
import { defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startGateway } from "../gateway.ts";
import { check, configSchema } from "../settings.ts";
import { loose, startTestGateway } from "../test-gateway.ts";

test("a call that its client does not wait for has an address, where its end is found later, whoever asks and however often", async () => {
  await using runs = await openSqliteRunStore(undefined);
  await using gateway = await startTestGateway({}, undefined, undefined, { runs });
  const end = Promise.withResolvers<string>();
  const slow = defineTool({ ...loose("slow"), readOnly: false, idempotent: false }, (_, { progress }) => {
    progress({ progress: 1, total: 2, message: "half" });
    return end.promise;
  });
  const set = { tools: [slow], guides: [{ name: "slow", summary: "Of slow.", document: "# Slow" }] };
  await using _ = await serveTools(gateway.bus, set, { service: "slow", runs });
  await expect.poll(async () => (await gateway.send({ path: "/v1/tools" })).text).toContain('"slow"');

  const asked = await gateway.invoke("slow", {}, { prefer: "respond-async" });
  const { code, toolCallId } = JSON.parse(asked.text) as { code: string; toolCallId: string };
  expect([asked.status, code]).toEqual([202, "pending"]);
  expect(asked.headers["location"]).toBe(`/v1/calls/${toolCallId}`);

  const look = async () => JSON.parse((await gateway.send({ path: `/v1/calls/${toolCallId}` })).text) as object;
  await expect.poll(look).toMatchObject({ state: "running", toolName: "slow" });
  const progress = [{ progress: 1, total: 2, message: "half", at: expect.any(String) }];
  await expect.poll(look).toMatchObject({ state: "running", progress });
  end.resolve("at last");
  await expect.poll(look).toMatchObject({ state: "answered", result: { content: "at last" } });
  expect(await look()).toMatchObject({ result: { content: "at last" } });
});

test("a detached call that is refused is refused at once, as any other", async () => {
  await using runs = await openSqliteRunStore(undefined);
  await using gateway = await startTestGateway({}, undefined, undefined, { runs });
  expect(await gateway.invoke("nothing", {}, { prefer: "respond-async" })).toMatchObject({ status: 404 });
});

test("a detached call is cancelled at its address, also by a gateway that has not made it", async () => {
  await using runs = await openSqliteRunStore(undefined);
  await using gateway = await startTestGateway({}, undefined, undefined, { runs });
  const hung = defineTool({ ...loose("hung"), readOnly: false }, async (_, { signal }) => {
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    return "";
  });
  const set = { tools: [hung], guides: [{ name: "hung", summary: "Of hung.", document: "# Hung" }] };
  await using _ = await serveTools(gateway.bus, set, { service: "hung", runs });
  const config = loadConfig(configSchema, { env: {}, overrides: { port: 0, instance: "other" }, check });
  await using other = await startGateway(gateway.bus, config, { runs });
  await expect.poll(async () => (await fetch(`${other.url}/v1/tools`)).text()).toContain('"hung"');
  await expect.poll(async () => (await gateway.send({ path: "/v1/tools" })).text).toContain('"hung"');

  const asked = await gateway.invoke("hung", {}, { prefer: "respond-async" });
  const path = String(asked.headers["location"]);
  const look = async (url: string): Promise<unknown> => (await fetch(`${url}${path}`)).json();
  await expect.poll(() => look(gateway.url)).toMatchObject({ state: "running" });
  expect(await look(other.url)).toMatchObject({ state: "running", toolName: "hung" });
  expect((await fetch(`${other.url}${path}`, { method: "DELETE" })).status).toBe(204);
  const ended = { state: "failed", code: "cancelled", error: { code: "cancelled" } };
  await expect.poll(() => look(gateway.url)).toMatchObject(ended);
  expect(await look(other.url)).toMatchObject(ended);
  expect((await fetch(`${gateway.url}${path}`, { method: "DELETE" })).status).toBe(409);
  expect((await fetch(`${gateway.url}/v1/calls/none`, { method: "DELETE" })).status).toBe(404);
});

test("a call that its client waits for is cancelled at the address of its key", async () => {
  await using gateway = await startTestGateway();
  const waits = gateway.invoke("wait", { id: 1 }, { "idempotency-key": "k" });
  await expect.poll(() => gateway.waiting).toEqual(["1"]);
  expect((await fetch(`${gateway.url}/v1/calls/k`, { method: "DELETE" })).status).toBe(204);
  expect((await waits).status).toBe(499);
  await expect.poll(() => gateway.aborted).toEqual(["1"]);
});

test("of calls that wait for people a gateway that stops says that nothing ran, and those with a key wait on", async () => {
  await using runs = await openSqliteRunStore(undefined);
  await using gateway = await startTestGateway({ shutdownGraceMs: 100 }, undefined, undefined, { runs });
  const mail = defineTool({ ...loose("mail"), readOnly: false, idempotent: false }, async () => "sent");
  const set = { tools: [mail], guides: [{ name: "mail", summary: "Of mail.", document: "# Mail" }] };
  const asking = `
everyone: { allow: ["*"] }
operators: [{ name: ann, tokens: [], may: [decide] }]
approve: [{ tools: [mail], by: [ann] }]`;
  const policy = holdPolicy(createPolicy(await readPolicy(asking, "of the test")));
  const { publicKey: operatorKey } = generateKeyPairSync("ed25519");
  await using _ = await serveTools(gateway.bus, set, { service: "mail", runs, policy, operatorKey });
  await expect.poll(async () => (await gateway.send({ path: "/v1/tools" })).text).toContain('"mail"');
  const keyed = gateway.invoke("mail", {}, { "idempotency-key": "k" });
  const other = gateway.invoke("mail", { to: "bob" });
  await expect.poll(async () => (await runs.open("mail", 9)).length).toBe(2);

  await gateway.gateway[Symbol.asyncDispose]();
  expect(await keyed).toMatchObject({ json: { code: "pending", details: { mayHaveRun: false, isKept: true } } });
  expect(await other).toMatchObject({ json: { code: "unavailable", details: { mayHaveRun: false } } });
  expect(await runs.open("mail", 9)).toMatchObject([{ state: "parked", isKept: true }]);
});
