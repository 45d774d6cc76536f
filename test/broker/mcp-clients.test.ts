import { createHash } from "node:crypto";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { serveTools } from "@rockbot/tools";
import { expect, onTestFinished, test } from "vitest";
import { verifiedHost } from "./verified-broker.ts";
import { connect, whoTool } from "./verified-system.ts";

const root = join(import.meta.dirname, "../..");
const token = "token-of-the-writer";
const hash = `sha256:${createHash("sha256").update(token).digest("hex")}`;
const POLICY = `
identity: verified
everyone: { allow: ["*"] }
callers:
  researcher: {}
  writer: { tokens: [{ hash: "${hash}" }], deny: ["echo_secret"] }
services: { echoes: { topic: tool.invoke.echoes, tools: ["echo_*"] } }
delegates: [gateway]
`;

test("MCP clients call over a broker that verifies senders: as who their token says, or whose user they are", {
  timeout: 180_000,
}, async () => {
  await using broker = await verifiedHost(POLICY);
  using folder = temporaryFolder();
  const policyFile = folder.write("policy.yaml", POLICY);
  await using bus = await connect(broker, "echoes");
  const [who, secret] = [whoTool("echo_who"), whoTool("echo_secret")];
  await using _tools = await serveTools(
    bus,
    { tools: [...who.tools, ...secret.tools], guides: who.guides },
    { service: "echoes", policy: broker.policy },
  );

  await using gateway = startNodeProgram(join(root, "services/main.ts"), {
    args: ["gateway"],
    env: { BUS_URL_FILE: folder.write("url", broker.urlOf("gateway")), POLICY_FILE: policyFile, PORT: "0" },
  });
  await expect.poll(gateway.stdout, { timeout: 60_000 }).toContain('"msg":"ready"');
  const url = /"url":"(http[^"]+)"/.exec(gateway.stdout())?.[1];
  const remote = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await remote.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  const local = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "legacy" } });
  const args = [
    join(root, "packages/cli/src/main.ts"),
    "mcp",
    "serve",
    "--bus",
    broker.urlOf("researcher"),
    "--policy",
    policyFile,
  ];
  await local.connect(
    new StdioClientTransport({
      command: process.execPath,
      args,
      env: { PATH: process.env["PATH"] ?? "" },
      stderr: "ignore",
    }),
  );
  onTestFinished(() => Promise.all([remote.close(), local.close()]).then(() => {}));

  const namesOf = async (client: Client) =>
    (await client.listTools(undefined, { cacheMode: "refresh" })).tools.map(({ name }) => name);
  await expect.poll(() => namesOf(remote), { timeout: 30_000 }).toContain("echo_who");
  expect([(await namesOf(remote)).includes("echo_secret"), (await namesOf(local)).includes("echo_secret")]).toEqual([
    false,
    true,
  ]);
  const call = { name: "echo_who", arguments: {}, _meta: { "rockbot/idempotencyKey": "the-same-for-both" } };
  expect((await remote.callTool(call)).content).toEqual([{ type: "text", text: "writer" }]);
  expect((await local.callTool(call)).content).toEqual([{ type: "text", text: "researcher" }]);
  expect(await remote.callTool({ name: "echo_secret" })).toMatchObject({
    isError: true,
    _meta: { "rockbot/error": { code: "denied" } },
  });
});
