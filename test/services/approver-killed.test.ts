import { createHash, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { redisRules, type ServiceName, serviceNamed } from "@rockbot/services";
import {
  faultServer,
  type GatewayAnswer,
  gatewayClient,
  ownVirtualHost,
  startOwnRedis,
  temporaryFolder,
} from "@rockbot/testing";
import { expect, test } from "vitest";
import { type RunningProcess, startProgram, startService, untilReady } from "./start-service.ts";

const TOKEN = "token-of-ann-of-the-test";
const WAIT = { timeout: 60_000 };
const TOOL = "peer__note";
const POLICY = `everyone: { allow: ["*"] }
operators:
  - { name: ann, tokens: [{ hash: "sha256:${createHash("sha256").update(TOKEN).digest("hex")}" }], may: [read, decide] }
approve:
  - { tools: [${TOOL}], by: [ann] }
`;

/** A policy that asks about a tool, an MCP server with that tool, and the file where each of its runs leaves a line. */
function scene() {
  const folder = temporaryFolder();
  const peer = { ...faultServer(), toolsAllowed: ["note"] };
  const ledger = folder.write("ledger", "");
  return {
    folder: folder.path,
    policy: folder.write("policy.yaml", POLICY),
    mcp: folder.write("mcp.json", { mcpServers: { peer } }),
    runs: () => readFileSync(ledger, "utf8"),
    call: (url: string): Promise<GatewayAnswer> =>
      gatewayClient(url).call(
        TOOL,
        { file: ledger, line: "ran" },
        { "idempotency-key": "order-1", "rockbot-timeout-ms": "120000", "rockbot-on-close": "keep" },
      ),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

interface Waiting {
  readonly calls: readonly { readonly id: string; readonly shown: string }[];
}

/** Approves the call as it is shown, once it waits. @returns the answer to the decision */
async function approve(url: string): Promise<GatewayAnswer> {
  const ann = gatewayClient(url, TOKEN);
  const list = async () => (await ann.request("/operator/waiting")).body as Waiting;
  await expect.poll(async () => (await list()).calls.length, WAIT).toBe(1);
  const [{ id, shown } = { id: "" }] = (await list()).calls;
  return ann.request(`/operator/waiting/${id}`, { body: { verdict: "approve", shown } });
}

const isParked = (url: string) =>
  expect
    .poll(async () => (await gatewayClient(url, TOKEN).request("/operator/waiting")).body, WAIT)
    .toMatchObject({ calls: [{ tool: TOOL }] });

const urlOf = (program: RunningProcess): string =>
  /http:\/\/127\.0\.0\.1:\d+/.exec(program.stdout() + program.stderr())?.[0] ?? "";

const DONE = { status: 200, body: { content: "ran" } };

test("a call whose instance is killed while it waits runs once in another, and its caller gets the end", {
  timeout: 240_000,
}, async () => {
  using ours = scene();
  await using broker = await ownVirtualHost();
  await using redis = await startOwnRedis();
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  /** Starts a service as its user in Redis, with the rights that a deployment gives it. */
  const start = async (name: ServiceName, env: Readonly<Record<string, string>>) => {
    const rules = redisRules(serviceNamed(name)).split(" ");
    await redis.ctl("acl", "setuser", name, "on", ">secret", "resetchannels", "-@all", ...rules);
    const url = Object.assign(new URL(redis.url), { username: name, password: "secret" });
    return startService(name, { BUS_URL: broker.url, REDIS_URL: url.href, POLICY_FILE: ours.policy, ...env });
  };
  const startBridge = async () => {
    const OPERATOR_PUBLIC_KEY = publicKey.export({ type: "spki", format: "pem" }).toString();
    const bridge = await start("mcp-bridge", { MCP_CONFIG: ours.mcp, OPERATOR_PUBLIC_KEY });
    await expect.poll(bridge.stdout, WAIT).toContain("connected to an MCP server");
    return bridge;
  };
  await using first = await startBridge();
  const OPERATOR_KEY = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  await using gateway = await start("gateway", { PORT: "0", OPERATOR_KEY });
  const url = urlOf(gateway);
  await expect
    .poll(async () => JSON.stringify((await gatewayClient(url).request("/v1/tools")).body), WAIT)
    .toContain(TOOL);

  const call = ours.call(url);
  await isParked(url);
  await using _second = await startBridge();
  first.kill("SIGKILL");
  await first.ended;
  expect(ours.runs()).toBe("");

  expect(await approve(url)).toEqual({ status: 200, body: { state: "ready" } });
  expect(await call).toMatchObject(DONE);
  expect(await ours.call(url)).toMatchObject(DONE);
  expect(ours.runs()).toBe("ran\n");
});

test("a call that waits in rockbot up outlives a kill of it: it is approved after the next start, and runs once", {
  timeout: 240_000,
}, async () => {
  using ours = scene();
  const start = () =>
    untilReady(
      "rockbot up",
      startProgram("packages/cli/src/main.ts", {
        args: [
          "up",
          ...["--only", "mcp-bridge,gateway", "--port", "0"],
          ...["--policy", ours.policy, "--mcp-config", ours.mcp],
        ],
        env: { ROCKBOT_RUNTIME_DIR: join(ours.folder, "run"), DATA_DIRECTORY: join(ours.folder, "data") },
      }),
      "ready in",
    );
  await using first = await start();
  const lost = ours.call(urlOf(first)).catch(() => "lost");
  await isParked(urlOf(first));
  first.kill("SIGKILL");
  expect(await lost).toBe("lost");

  await using second = await start();
  expect(await approve(urlOf(second))).toEqual({ status: 200, body: { state: "ready" } });
  await expect.poll(ours.runs, WAIT).toBe("ran\n");
  expect(await ours.call(urlOf(second))).toMatchObject(DONE);
  expect(ours.runs()).toBe("ran\n");
});
