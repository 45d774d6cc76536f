import { createHash, generateKeyPairSync } from "node:crypto";
import { type GatewayConfig, configSchema as gatewaySchema, startGateway } from "@rockbot/gateway";
import { loadConfig } from "@rockbot/process/config";
import { type AuditRecord, openAuditLog } from "@rockbot/records/audit";
import { temporaryFolder } from "@rockbot/testing";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { createCommander } from "@rockbot/tools/commands";
import { expect, test } from "vitest";
import type { AuditLines, AuditLogs } from "../../packages/console/src/api/types.ts";
import { verifiedHost } from "./verified-broker.ts";
import { connect, POLICY, whoTool } from "./verified-system.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const token = `sha256:${createHash("sha256").update("of-ada").digest("hex")}`;
const AUDITED = POLICY.replace("name: ops, tokens: []", `name: ada, tokens: [{ hash: "${token}" }], may: [read]`);
const REPLICAS = 2;
const OLD = 300;
/** A line as long as a line of a call gets. */
const old = (index: number): AuditRecord => ({
  service: "echoes",
  caller: "old".padEnd(256, "x"),
  tool: "echo_old".padEnd(256, "x"),
  toolCallId: String(index).padEnd(256, "x"),
  arguments: "{}",
  decision: "allowed",
  policy: "p".repeat(256),
  outcome: "ok",
  durationMs: 1,
});

/** Two replicas of a service, each with a log of its own, and a gateway, on a broker that verifies senders. */
async function startAudited() {
  await using started = new AsyncDisposableStack();
  const broker = started.use(await verifiedHost(AUDITED));
  const { policy } = broker;
  const folder = started.use(temporaryFolder());
  for (let replica = 0; replica < REPLICAS; replica++) {
    const audit = started.use(await openAuditLog(`${folder.path}/${replica}.jsonl`));
    await Promise.all(Array.from({ length: OLD }, (_, index) => audit.write(old(index))));
    const bus = started.use(await connect(broker, "echoes"));
    const options = { service: "echoes", policy, operatorKey: publicKey, audit };
    started.use(await serveTools(bus, whoTool("echo_who", { readOnly: true }), options));
  }
  const overrides = { port: 0, agentName: "gateway" };
  const config = loadConfig<GatewayConfig>(gatewaySchema, { env: {}, overrides });
  const bus = started.use(await connect(broker, "gateway"));
  const gateway = started.use(await startGateway(bus, config, { policy, commandKey: privateKey }));
  const researcher = started.use(await connect(broker, "researcher"));
  const caller = started.use(await createToolCaller(researcher, { agent: "researcher", policy }));
  await caller.discovered();
  const parts = started.move();
  return {
    broker,
    caller,
    async get<T>(path: string): Promise<T> {
      const answer = await fetch(`${gateway.url}${path}`, { headers: { authorization: "Bearer of-ada" } });
      return (await answer.json()) as T;
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test("an operator searches the logs of all replicas over the broker, page by page, while calls go on", {
  timeout: 120_000,
}, async () => {
  await using system = await startAudited();
  const { caller, get } = system;
  const stateOf = async () => await get<AuditLogs>("/operator/audit/state");
  await expect // on a busy machine a replica's answer may come too late for the first page
    .poll(
      async () =>
        (await stateOf()).logs.map(({ services, first, last, faults }) => [services, first?.seq, last?.seq, faults]),
      {
        timeout: 30_000,
      },
    )
    .toEqual(Array.from({ length: REPLICAS }, () => [["echoes"], 1, OLD, []]));
  expect((await stateOf()).problems).toEqual(['No audit log is kept by "gateway". Set AUDIT_FILE there']);

  const seen = new Map<string, number[]>();
  for (let cursor = "", page = 0; page < 20; page++) {
    const searching = get<AuditLines>(`/operator/audit?caller=OLD&limit=200${cursor}`);
    await caller.call("echo_who", {});
    const found = await searching;
    for (const { log, seq } of found.lines) seen.set(log, [...(seen.get(log) ?? []), seq]);
    if (!found.more) break;
    cursor = `&cursor=${found.cursor}`;
  }
  const all = Array.from({ length: OLD }, (_, index) => OLD - index);
  expect([...seen.values()]).toEqual(Array.from({ length: REPLICAS }, () => all));

  const { lines, hasHashes } = await get<AuditLines>("/operator/audit?caller=researcher");
  expect(lines.map(({ fields }) => fields["tool"])).toContain("echo_who");
  expect([hasHashes, lines.some(({ fields }) => "arguments" in fields)]).toEqual([false, false]);
  const deeds = (await get<AuditLines>("/operator/audit?operator=ada")).lines;
  expect(deeds.map(({ fields }) => fields["of"])).toContain("caller=OLD");
});

test("a command to read the log that the gateway's key has not signed reads nothing", {
  timeout: 120_000,
}, async () => {
  await using system = await startAudited();
  await using bus = await connect(system.broker, "gateway");
  const key = generateKeyPairSync("ed25519").privateKey;
  await using stranger = createCommander(bus, { key, source: "gateway", policy: system.broker.policy });
  for (const kind of ["audit.search", "audit.state"]) {
    const command = { kind, service: "echoes", operator: "ada", body: {} };
    const answers = await stranger.send(command, { instances: REPLICAS, timeoutMs: 10_000 });
    const denied = expect.objectContaining({ code: "denied", message: expect.stringContaining("signature") });
    expect(answers).toEqual([denied, denied]);
  }
});
