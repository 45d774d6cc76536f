import { createHash, generateKeyPairSync } from "node:crypto";
import type { AuditLines, AuditLogs } from "@rockbot/console/api";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { type AuditLog, openAuditLog } from "@rockbot/records/audit";
import { temporaryFolder } from "@rockbot/testing";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { loose, startTestGateway } from "../test-gateway.ts";

const hash = (token: string): string => `"sha256:${createHash("sha256").update(token).digest("hex")}"`;
const POLICY = `
everyone: { allow: ["*"] }
operators:
  - { name: ada, tokens: [{ hash: ${hash("of-ada")} }], may: [read], sees: [arguments] }
  - { name: eve, tokens: [{ hash: ${hash("of-eve")} }], may: [read] }
  - { name: ops, tokens: [{ hash: ${hash("of-ops")} }], may: [letters] }
`;
const { privateKey, publicKey } = generateKeyPairSync("ed25519");

/** A gateway with a log, a service with another one, one without, and calls of both. */
async function startAudited({ hasKey = true } = {}) {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const open = async (name: string): Promise<AuditLog> => started.use(await openAuditLog(`${folder.path}/${name}`));
  const own = await open("gateway.jsonl");
  const policy = holdPolicy(createPolicy(await readPolicy(POLICY, "policy.yaml")));
  const gateway = started.use(await startTestGateway({}, policy, own, hasKey ? { commandKey: privateKey } : {}));
  const options = { operatorKey: publicKey, policy };
  const tool = (name: string) => ({ tools: [defineTool(loose(name), async () => "done")] });
  const far = await open("far.jsonl");
  started.use(await serveTools(gateway.bus, tool("far"), { ...options, service: "far", audit: far }));
  started.use(await serveTools(gateway.bus, tool("plain"), { ...options, service: "plain" }));
  const deaf = started.use(await serveTools(gateway.bus, tool("deaf"), { service: "deaf", policy, audit: far }));
  const caller = started.use(await createToolCaller(gateway.bus, { agent: "researcher", policy }));
  await caller.discovered();
  for (let index = 0; index < 3; index++) {
    await caller.call("far", { index });
    await caller.call("echo", { index });
  }
  const parts = started.move();
  return {
    deaf,
    folder: folder.path,
    async get<T>(path: string, token = "of-ada") {
      const answer = await gateway.send({ path, headers: { authorization: `Bearer ${token}` } });
      return { ...(answer.json as T), status: answer.status };
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const toolsIn = ({ lines }: Pick<AuditLines, "lines">) => lines.map(({ service, fields }) => [service, fields["tool"]]);

test("lines of all services are found, the newest first and page by page, and each search leaves a line", async () => {
  await using system = await startAudited();
  const search = (query: string, token?: string) => system.get<AuditLines>(`/operator/audit?${query}`, token);
  const all = await search("caller=RESEARCH");
  expect(toolsIn(all).map(String).sort()).toEqual(["far,far", "gateway,echo"].flatMap((one) => [one, one, one]));
  const times = all.lines.map(({ time }) => time);
  expect(times).toEqual([...times].sort().reverse());
  expect(all).toMatchObject({ more: false, hasHashes: true });
  expect(all.problems).toEqual([
    'No audit log is kept by "plain". Set AUDIT_FILE there',
    expect.stringContaining('"deaf" knows no key of operators. Set OPERATOR_PUBLIC_KEY'),
  ]);
  const paged: AuditLines["lines"][number][] = [];
  for (let cursor = "", page = 0; page < 10; page++) {
    const found = await search(`caller=researcher&limit=2${cursor}`);
    paged.push(...found.lines);
    if (!found.more) break;
    cursor = `&cursor=${found.cursor}`;
  }
  expect(paged).toEqual(all.lines);
  expect(toolsIn(await search("tool=far&before=9999999999999"))).toHaveLength(3);
  expect(toolsIn(await search("after=9999999999999"))).toEqual([]);

  const deeds = await search("operator=ada");
  for (const service of ["gateway", "far"])
    expect(deeds.lines.filter((line) => line.service === service).map(({ fields }) => fields)).toContainEqual(
      expect.objectContaining({ action: "audit.search", operator: "ada", of: "caller=RESEARCH", outcome: "ok" }),
    );
  const wrong = await system.get<{ message: string }>("/operator/audit?limit=201&state=x&cursor=bm9uZQ");
  for (const part of ["limit is", '"state" is none of', "cursor is"]) expect(wrong.message).toContain(part);
  expect((await search("", "of-ops")).status).toBe(403);
});

test("hashes of arguments are for operators who see arguments, with a line for the reading", async () => {
  await using system = await startAudited();
  const search = (query: string, token: string) => system.get<AuditLines>(`/operator/audit?${query}`, token);
  const without = await search("tool=far", "of-eve");
  expect([without.hasHashes, without.lines.some(({ fields }) => "arguments" in fields)]).toEqual([false, false]);
  const [line] = (await search("tool=far", "of-ada")).lines;
  expect(line?.fields["arguments"]).toMatch(/^hmac-sha256:/);
  const read = (await search("operator=", "of-ada")).lines.flatMap(({ fields: { action, operator } }) =>
    action === "read arguments" ? [operator] : [],
  );
  expect(read).toEqual(["ada"]);
});

test("the state names each log with its ends and whether the chain holds, and what is missing", async () => {
  await using system = await startAudited();
  await system.deaf[Symbol.asyncDispose]();
  const state = () => system.get<AuditLogs>("/operator/audit/state");
  await expect
    .poll(async () => (await state()).problems, { timeout: 20_000 })
    .toContain('"deaf" does not run, so its audit log is not asked');
  const { logs } = await state();
  expect(logs.map(({ services, file, faults }) => [services, file, faults])).toEqual([
    [["gateway", "test-tools"], `${system.folder}/gateway.jsonl`, []],
    [["far"], `${system.folder}/far.jsonl`, []],
  ]);
  for (const { first, last, checked } of logs) expect([first?.seq, last?.seq]).toEqual([checked?.from, checked?.to]);
});

test("without the gateway's key there are its own lines, and words on what to set", async () => {
  await using system = await startAudited({ hasKey: false });
  const { lines, problems } = await system.get<AuditLines>("/operator/audit?caller=researcher");
  expect(new Set(lines.map(({ service }) => service))).toEqual(new Set(["gateway"]));
  expect(problems).toEqual([expect.stringContaining("Set OPERATOR_KEY of the gateway")]);
});
