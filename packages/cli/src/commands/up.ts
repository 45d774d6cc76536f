import { version } from "@rockbot/base/version";
import { createMemoryBus, type Logger } from "@rockbot/bus";
import { type Gateway, type OperatorParts, startGateway } from "@rockbot/gateway";
import { offerMcpTools } from "@rockbot/mcp/for-agents";
import { type BridgeApprovals, startMcpBridge } from "@rockbot/mcp-bridge";
import { openPolicy, type Policy, policyNotes } from "@rockbot/policy";
import { exitOnCrash, onShutdown } from "@rockbot/process";
import { startTelemetry } from "@rockbot/process/telemetry";
import { AuditFileError, type OpenAuditLogOptions, openAuditLog } from "@rockbot/records/audit";
import { SharedRecords } from "@rockbot/records/shared";
import { createToolCaller } from "@rockbot/tools";
import { startWebTools, webToolsOff } from "@rockbot/web-tools";
import { displayBusUrl, MEMORY_BUS } from "../bus-url.ts";
import { type LocalScripts, startScripts } from "../client/start-scripts.ts";
import { CommandError } from "../command-error.ts";
import { operatorApp } from "../runtime/operator-app.ts";
import { ownSocket } from "../runtime/own-socket.ts";
import { refuseSecondUp, serveSocket } from "../runtime/serve-socket.ts";
import { readUpConfig, type UpConfig, type UpOptions } from "./up-config.ts";

export type { UpOptions } from "./up-config.ts";

/** `rockbot up`: the services in one process, until a signal. The one place that composes services. */
export async function up(options: UpOptions): Promise<void> {
  const config = readUpConfig(options, process.env);
  const { busUrl, policyFile, auditFile, auditKey, webTools, mcpBridge, scriptsManager, gateway } = config;
  const isMemory = busUrl === MEMORY_BUS;
  const graceMs = Math.max(...[webTools, mcpBridge, scriptsManager, gateway].map((service) => service?.shutdownGraceMs ?? 0));

  using shutdown = onShutdown({ graceMs });
  const { logLevel, logFormat } = gateway ?? webTools ?? mcpBridge ?? scriptsManager ?? {};
  await using telemetry = await startTelemetry({ service: "rockbot", version, logLevel, logFormat, logTo: "stderr" });
  const { log } = telemetry;
  exitOnCrash(log);
  const socket = isMemory ? ownSocket(process.env) : undefined;
  socket?.makeFolder();
  if (socket !== undefined) await refuseSecondUp(socket);

  await using policy = await openPolicy(policyFile, { log });
  const { identity } = policy.current().document;
  if (isMemory && identity === "verified") log.warn({}, "the policy asks for verified senders, and the in-memory bus verifies none");
  await using audit = auditFile === undefined ? undefined : await openAudit(auditFile, { key: auditKey, log });
  await using bus = isMemory ? createMemoryBus({ log }) : await (await import("../connect-broker.ts")).connectBroker(busUrl, "rockbot up", { identity, log });
  const [webRedis, mcpRedis, scriptsRedis] = [webTools?.redisUrl, mcpBridge?.redisUrl, scriptsManager?.redisUrl];
  const claimsRedis = mcpRedis ?? scriptsRedis;
  const keepsAll = (mcpRedis === undefined ? scriptsManager : mcpBridge)?.redisKeepsAll;
  await using records = new SharedRecords({ redisUrl: webRedis ?? claimsRedis, keepsAll, log }); // the sections of tool services name one Redis at most
  const rates = await records.rates();
  const claims = claimsRedis === undefined ? undefined : await records.claims();
  const leases = mcpRedis === undefined ? undefined : await records.leases();
  const trustStore =
    mcpRedis === undefined ? undefined : await records.open("trust", async (...at) => (await import("@rockbot/mcp/trust/redis")).connectRedisTrustStore(...at));
  const common = { audit, log, policy, rates, signal: shutdown.signal };
  await using _webTools = webTools === undefined ? undefined : await startWebTools(bus, webTools, common);
  await using bridge = mcpBridge === undefined ? undefined : await startMcpBridge(bus, mcpBridge, { ...common, env: process.env, claims, leases, trustStore });
  await using scripts = scriptsManager === undefined ? undefined : await startScripts(bus, scriptsManager, { ...common, claims, env: process.env });
  await using gatewayRecords = new SharedRecords({ redisUrl: gateway?.redisUrl, log });
  const journals = await gatewayRecords.journals();
  await using runningGateway =
    gateway === undefined
      ? undefined
      : await startGateway(bus, gateway, { audit, log, journals, policy, operator: operatorOf(bridge?.approvals, log), signal: shutdown.signal });
  // Other commands of this user come by the socket; over a broker they come by the broker.
  await using caller = socket === undefined ? undefined : await createToolCaller(bus, { agent: "cli", results: "copy", policy, log });
  await using _mcpTools = caller === undefined || bridge === undefined ? undefined : await offerMcpTools(bus, caller, { agent: "cli", policy, log });
  await using _socket =
    socket === undefined || caller === undefined
      ? undefined
      : await serveSocket(
          socket,
          {
            bus,
            caller,
            mcpServers: () => bridge?.servers,
            approvals: bridge?.approvals,
            journals: [caller.journal, ...(runningGateway === undefined ? [] : [runningGateway.journal])],
            policy,
            audit,
          },
          { drainMs: graceMs, signal: shutdown.signal, log },
        );

  console.error(
    describe(config, {
      running: runningGateway,
      scripts,
      socket: socket?.path,
      policy: policy.current(),
      verifiesSender: bus.traits.verifiesSender,
    }),
  );
  console.error(`ready in ${Math.round(performance.now())} ms`);
  await shutdown.requested; // Then running calls drain, the bus closes, spans are flushed.
}

/** @throws {CommandError} in words for the user */
async function openAudit(file: string, options: OpenAuditLogOptions) {
  try {
    return await openAuditLog(file, options);
  } catch (error) {
    if (error instanceof AuditFileError) throw new CommandError(error.message);
    throw error;
  }
}

/** What operators reach by their tokens: the same as by the socket, but the calls of other callers in this process. */
const operatorOf =
  (approvals: BridgeApprovals | undefined, log: Logger) =>
  ({ caller, ...parts }: OperatorParts) =>
    operatorApp({ ...parts, caller, journals: [caller.journal], approvals, log });

/** What runs, where, and the one command to try. */
function describe(
  { busUrl, policyFile, webTools, mcpBridge, scriptsManager, gateway }: UpConfig,
  {
    running,
    scripts,
    socket,
    policy: { revision, document },
    verifiesSender,
  }: {
    readonly running: Gateway | undefined;
    readonly scripts: LocalScripts | undefined;
    readonly socket: string | undefined;
    readonly policy: Policy;
    readonly verifiesSender: boolean;
  },
): string {
  const names = Object.entries({ "web-tools": webTools, "mcp-bridge": mcpBridge, "scripts-manager": scriptsManager, gateway }).flatMap(([name, config]) =>
    config === undefined ? [] : [name],
  );
  const lines = [`rockbot ${version}: ${new Intl.ListFormat("en", { style: "long" }).format(names)} over ${displayBusUrl(busUrl)}`];
  if (running !== undefined) lines.push(`  gateway   ${running.url}, ${running.access}; for MCP clients ${running.url}/mcp`);
  if (socket !== undefined) lines.push(`  socket    ${socket}`);
  if (mcpBridge?.mcpConfig !== undefined) lines.push(`  mcp       the servers of ${mcpBridge.mcpConfig}: rockbot mcp ls`);
  lines.push(
    `  policy    ${policyFile === undefined ? "none: every caller may use every tool but the dangerous ones" : `${policyFile}, revision ${revision}`}`,
    ...(policyFile === undefined ? [] : policyNotes(document).map((words) => `            ${words}`)),
  );
  lines.push(`  identity  ${verifiesSender ? "verified by the broker" : "trusted: whoever is on this bus can speak for any agent"}`);
  for (const { tool, reason } of webTools === undefined ? [] : webToolsOff(webTools)) lines.push(`  off       ${tool}. ${reason}`);
  if (scripts?.off !== undefined) lines.push(`  off       ${scripts.off.tool}. ${scripts.off.reason}`);
  for (const words of scripts?.notHeld ?? []) lines.push(`  bounds    of scripts: ${words}`);
  if (scriptsManager?.unsafeLocalScripts) lines.push("  UNSAFE    scripts run without a sandbox, for callers whose policy names execute_python_script in full");
  if (running !== undefined) {
    const auth = running.access === "open to this machine" ? "" : ' -H "authorization: Bearer $TOKEN"';
    lines.push(`  try       curl -s${auth} ${running.url}/v1/tools/web_browse/invoke -H 'content-type: application/json' -d '{"url":"https://example.com/"}'`);
  }
  return lines.join("\n");
}
