import { createHash, generateKeyPairSync } from "node:crypto";
import type { PolicyInForce } from "@rockbot/console/api";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { loose, serveOne, startTestGateway } from "../test-gateway.ts";
import { createLocalOperator } from "./local-operator.ts";

const hash = (token: string): string => `"sha256:${createHash("sha256").update(token).digest("hex")}"`;
const POLICY = `
callers:
  gateway: { allow: [echo, wait, who] }
  researcher: { allow: [echo, fail, wait], tokens: [{ hash: ${hash("of-researcher")} }] }
operators: [{ name: ops, tokens: [{ hash: ${hash("of-ops")} }] }]
`;
const by = (token: string) => ({ authorization: `Bearer ${token}` });
const RESEARCHER = by("of-researcher");

async function startOperated() {
  const localOperator = createLocalOperator();
  const policy = holdPolicy(createPolicy(await readPolicy(POLICY, "policy.yaml")));
  const gateway = await startTestGateway({}, policy, undefined, { localOperator });
  const get = async <T>(path: string) => (await gateway.send({ path, headers: by("of-ops") })).json as T;
  return Object.assign(gateway, { get, local: by(localOperator.token) });
}

interface Overview {
  readonly problems: readonly { readonly level: string; readonly what: string; readonly next: string }[];
  readonly services: readonly { readonly name: string; readonly state: string; readonly tools: number }[];
  readonly minutes: readonly { readonly ended: number | null; readonly p50: number | null }[];
  readonly calls: { readonly ended: number; readonly failed: number; readonly codes: object } | null;
}

test("the overview has the services, the calls of the last hour, and what is wrong, with the next step", async () => {
  await using gateway = await startOperated();
  for (let i = 0; i < 3; i++) await gateway.invoke("echo", { i }, RESEARCHER);
  await gateway.invoke("fail", { code: "execution_failed" }, RESEARCHER);
  await expect
    .poll(() => gateway.get<Overview>("/operator/overview"), { timeout: 30_000 })
    .toMatchObject({ calls: { ended: 4, failed: 1, codes: { execution_failed: 1 } } });
  const overview = await gateway.get<Overview>("/operator/overview");

  expect(overview).toMatchObject({ bus: { isReady: true }, policy: { revision: expect.any(String) } });
  expect(overview.services).toEqual([
    expect.objectContaining({ name: "test-tools", state: "ready", instances: 1, versions: [expect.any(String)] }),
  ]);
  expect([overview.minutes.length, overview.minutes[0]]).toEqual([60, expect.objectContaining({ ended: null })]);
  const { ended } = await gateway.get<{ readonly ended: readonly (number | null)[] }>(
    "/operator/history?service=test-tools",
  );
  expect([ended.length, ended.reduce((sum: number, count) => sum + (count ?? 0), 0)]).toEqual([1_440, 4]);

  const problem = (level: string, what: string) => ({
    level,
    what: expect.stringContaining(what),
    next: expect.any(String),
  });
  const now = () => gateway.get<Overview>("/operator/overview");
  {
    await using _passing = await serveOne(
      gateway.bus,
      defineTool(loose("passing"), async () => "here"),
    );
    await expect
      .poll(async () => (await now()).services, { timeout: 30_000 })
      .toContainEqual(expect.objectContaining({ name: "passing", state: "ready", tools: 1 }));
  }
  await expect
    .poll(async () => (await now()).problems, { timeout: 30_000 })
    .toEqual([
      problem("error", '"passing" is gone'),
      problem("warning", '"test-tools" goes by the policy of revision default'),
    ]);
  expect((await now()).services).toContainEqual(expect.objectContaining({ name: "passing", state: "gone", tools: 0 }));
});

test("calls are found by what they were, and all that is wrong with a question is said", async () => {
  await using gateway = await startOperated();
  await gateway.invoke("echo", {}, RESEARCHER);
  await gateway.invoke("fail", { code: "rate_limited" }, RESEARCHER);
  type Calls = {
    readonly calls: readonly { readonly toolName: string; readonly toolCallId: string }[];
    readonly more: boolean;
  };
  const found = async (query: string) => {
    const { calls, more } = await gateway.get<Calls>(`/operator/calls?${query}`);
    return [...calls.map(({ toolName }) => toolName), more];
  };
  const [{ toolCallId } = { toolCallId: "" }] = (await gateway.get<Calls>("/operator/calls?tool=echo")).calls;

  expect(await found("")).toEqual(["fail", "echo", false]);
  expect(await found("limit=1")).toEqual(["fail", true]);
  expect(await found("tool=ECH&caller=research")).toEqual(["echo", false]);
  expect(await found("code=rate_limited&limit=1")).toEqual(["fail", false]);
  expect(await found(`state=answered&id=${toolCallId.slice(0, 8)}`)).toEqual(["echo", false]);
  expect(await found("after=9999999999999")).toEqual([false]);
  expect(await found("before=9999999999999&after=0")).toEqual(["fail", "echo", false]);
  const wrong = await gateway.get<{ message: string }>("/operator/calls?limit=0&state=x&before=now&color=red");
  for (const part of ["limit is", "state is one of", "before is", '"color" is none of'])
    expect(wrong.message).toContain(part);
});

test("what the policy says is told by caller and by tool, also of dangerous tools that the gateway's own agent may not use", async () => {
  await using gateway = await startOperated();
  const wipe = defineTool({ ...loose("wipe"), readOnly: false, dangerous: true }, async () => "wiped");
  await using _ = await serveOne(gateway.bus, wipe);
  const said = (query: string) => gateway.get<PolicyInForce>(`/operator/policy?${query}`);
  await expect.poll(async () => (await said("caller=researcher")).uses?.map(({ tool }) => tool)).toContain("wipe");
  const ofCaller = await said("caller=researcher");
  expect(ofCaller.callers).toContain("researcher");
  expect(ofCaller.uses).toContainEqual({
    caller: "researcher",
    tool: "echo",
    isAllowed: true,
    because: expect.stringContaining("researcher.allow"),
    isDangerous: false,
    bounds: expect.arrayContaining([expect.stringContaining("calls at once of all tools")]),
  });
  const ofTool = await said("tool=wipe");
  expect(ofTool.uses?.map(({ caller }) => caller)).toEqual([...ofCaller.callers].sort().concat(""));
  const denied = { isAllowed: false, isDangerous: true, because: expect.stringContaining("the tool is dangerous") };
  expect(ofTool.uses?.at(-1)).toMatchObject(denied);
  expect((await said("caller=nobody&tool=wipe")).uses).toEqual([expect.objectContaining(denied)]);
});

test("an operator sees every tool with its guides, also those that the gateway's own agent may not use", async () => {
  await using gateway = await startOperated();
  expect(await gateway.get("/operator/tools/sad/guides")).toEqual({
    guides: [
      {
        name: "test-tools",
        summary: "How to test.",
        document: expect.stringContaining("# Test tools"),
        trust: "system",
      },
    ],
  });
  expect(await gateway.get("/operator/tools/no_such_tool/guides")).toEqual({ guides: [] });
  const { tools } = await gateway.get<{ readonly tools: readonly { readonly name: string }[] }>("/operator/tools");
  expect(tools.find(({ name }) => name === "sad")).toEqual({
    name: "sad",
    description: expect.any(String),
    inputSchema: { type: "object" },
    service: "test-tools",
    readOnly: true,
    idempotent: true,
    dangerous: false,
    trust: "system",
  });
});

test("only an operator with the right calls tools and cancels calls; the calls are of the gateway's own agent", async () => {
  await using gateway = await startOperated();
  const post = (path: string, headers: Record<string, string>, body = "{}") =>
    gateway.send({ path, method: "POST", headers: { "content-type": "application/json", ...headers } }, body);
  const invoke = "/operator/tools/who/invoke";

  expect((await post(invoke, by("of-ops"))).json).toMatchObject({ code: "denied" });
  expect((await post(invoke, RESEARCHER)).status).toBe(401);
  expect((await post(invoke, gateway.local)).json).toMatchObject({ content: "gateway" });
  expect((await post("/operator/tools/sad/invoke", gateway.local)).status).toBe(403); // the policy holds

  const key = { "idempotency-key": "k" };
  const waits = gateway.invoke("wait", { id: "a" }, { ...RESEARCHER, ...key });
  await expect.poll(() => gateway.waiting, { timeout: 20_000 }).toEqual(["a"]);
  const { toolCallId } = (await gateway.send({ path: "/v1/calls/k", headers: RESEARCHER })).json ?? {};
  const cancel = `/operator/calls/${toolCallId}/cancel`;
  expect((await post(cancel, by("of-ops"))).status).toBe(403);
  expect((await post(cancel, gateway.local)).status).toBe(204);
  expect((await waits).json).toMatchObject({
    code: "cancelled",
    message: expect.stringContaining('the operator "local"'),
  });
  expect((await post(cancel, gateway.local)).json).toMatchObject({ code: "not_found" });
});

test("the document of the API names every path that is there", async () => {
  await using gateway = await startOperated();
  const { paths } = await gateway.get<{ readonly paths: Record<string, object> }>("/operator/openapi.json");
  for (const path of Object.keys(paths)) {
    if (/\/mcp\//.test(path)) continue; // of "rockbot up" only
    if (path === "/operator/stream") continue; // it does not end: operator-stream.test.ts follows it
    const real = path.replace("{toolCallId}", "0").replace("{name}", "who");
    const method = "post" in (paths[path] ?? {}) ? "POST" : "GET";
    const { status, text } = await gateway.send({ path: real, method, headers: gateway.local });
    expect([path, status, text]).not.toEqual([path, 404, expect.stringContaining("no such path")]);
  }
});

test("an operator cancels a call that another process made, by a command to the service that runs it", async () => {
  const { privateKey: commandKey, publicKey: operatorKey } = generateKeyPairSync("ed25519");
  const localOperator = createLocalOperator();
  const policy = holdPolicy(createPolicy(await readPolicy(POLICY, "policy.yaml")));
  await using gateway = await startTestGateway({}, policy, undefined, { localOperator, commandKey });
  const started = Promise.withResolvers<void>();
  const hangs = defineTool(loose("hangs"), async (_, { signal }) => {
    started.resolve();
    return await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  await using _service = await serveTools(gateway.bus, { tools: [hangs] }, { service: "hangs", operatorKey });
  await using agent = await createToolCaller(gateway.bus, { agent: "agent" });
  await agent.discovered();
  const toolCallId = "a".repeat(32);
  const call = agent.call("hangs", {}, { toolCallId });
  call.catch(() => {}); // it is awaited below
  const cancel = (id: string) =>
    gateway.send({ path: `/operator/calls/${id}/cancel`, method: "POST", headers: by(localOperator.token) });
  await started.promise;
  expect((await cancel("b".repeat(32))).status).toBe(404);
  expect((await cancel(toolCallId)).status).toBe(204);
  await expect(call).rejects.toMatchObject({ code: "cancelled", message: expect.stringContaining('operator "local"') });
});
