import type { KeyObject } from "node:crypto";
import { createRequire } from "node:module";
import { type Bus, createMemoryBus, createRequester, type Logger } from "@rockbot/bus";
import { createEnvelope, encodeMessage, messages, newId } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import type { AuditLog } from "@rockbot/records/audit";
import type { FileStore } from "@rockbot/records/files";
import type { LeaseStore } from "@rockbot/records/leases";
import type { RunStore } from "@rockbot/runs";
import { type FaultServerBehaviour, faultServer, type TemporaryFolder, temporaryFolder } from "@rockbot/testing";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import type { TrustStore } from "@rockbot/trust";
import { configSchema, type McpBridgeConfig } from "./generated/config.ts";
import { type McpBridge, startMcpBridge } from "./mcp-bridge.ts";

const { resolve } = createRequire(import.meta.url);

/** Servers from npm that nobody here wrote, as entries of a file. */
export const realServers = {
  everything: { command: process.execPath, args: [resolve("@modelcontextprotocol/server-everything/dist/index.js")] },
  memory: (file: string) => ({
    command: process.execPath,
    args: [resolve("@modelcontextprotocol/server-memory/dist/index.js")],
    env: { MEMORY_FILE_PATH: file },
  }),
  filesystem: (folder: string) => ({
    command: process.execPath,
    args: [resolve("@modelcontextprotocol/server-filesystem/dist/index.js"), folder],
  }),
  thinking: {
    command: process.execPath,
    args: [resolve("@modelcontextprotocol/server-sequential-thinking/dist/index.js")],
  },
} as const;

export const faulty = (...behaviours: readonly FaultServerBehaviour[]) => faultServer(...behaviours);

/** A reference to a variable of the environment, as it stands in the file. */
export const variable = (name: string): string => `$\{${name}}`;

export interface TestBridge extends AsyncDisposable {
  readonly bus: Bus;
  readonly bridge: McpBridge;
  readonly caller: ToolCaller;
  readonly folder: TemporaryFolder;
}

// Many because: each is a part of the process that a test may give
export interface TestBridgeOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly bus?: Bus;
  readonly policy?: PolicyHolder;
  readonly audit?: AuditLog;
  readonly config?: Partial<McpBridgeConfig>;
  readonly trustStore?: TrustStore;
  readonly leases?: LeaseStore;
  /** How long servers are waited for, in milliseconds. @default 20_000 */
  readonly settleMs?: number;
  /** The other parts of the file beside the servers. */
  readonly beside?: object;
  readonly log?: Logger;
  readonly runs?: RunStore;
  readonly operatorKey?: KeyObject;
  readonly files?: FileStore;
}

/**
 * A bridge with these servers on a bus of its own, and somebody who calls. Resolves once each server is connected or
 * has failed, or after `settleMs`.
 */
export async function startTestBridge(
  servers: (folder: string) => object,
  {
    env = {},
    bus: given,
    policy,
    audit,
    config: settings = {},
    trustStore,
    leases,
    settleMs = 20_000,
    beside = {},
    log,
    runs,
    operatorKey,
    files,
  }: TestBridgeOptions = {},
): Promise<TestBridge> {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const bus = given ?? started.use(createMemoryBus());
  const file = folder.write("mcp.json", { ...beside, mcpServers: servers(folder.path) });
  const config = loadConfig(configSchema, {
    env: {},
    overrides: { mcpConfig: file, shutdownGraceMs: 5_000, ...settings },
  });
  const bridge = started.use(
    await startMcpBridge(bus, config, {
      env: { PATH: process.env["PATH"], ...env },
      policy,
      audit,
      trustStore,
      leases,
      log,
      runs,
      operatorKey,
      files,
    }),
  );
  const caller = started.use(await createToolCaller(bus, { agent: "tester", files }));
  await bridge.settled(settleMs);
  await caller.discovered();
  const running = started.move();
  return { bus, bridge, caller, folder, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** The names of the tools that the bridge has announced. */
export const announcedTools = (caller: ToolCaller): string[] =>
  caller.tools.getTools().flatMap(({ name, source }) => (source === "mcp-bridge" ? [name] : []));

/** Calls without knowing what is announced, and resolves with the answer as it is. */
export function rawCaller(bus: Bus, agent = "RockBot") {
  const requester = createRequester(bus, {
    replyTo: `tool.result.${agent}`,
    subscription: { name: "raw", kind: "copy" },
  });
  return async (toolName: string, headers: Record<string, string>): Promise<unknown> => {
    const body = encodeMessage("ToolInvokeRequest", {
      toolCallId: newId(),
      toolName,
      arguments: null,
      sessionId: null,
    });
    const type = messages.ToolInvokeRequest.type;
    const reply = await requester.request(
      createEnvelope({ topic: "tool.invoke.mcp", type, source: agent, correlationId: newId(), body, headers }),
      {
        timeoutMs: 10_000,
      },
    );
    return JSON.parse(Buffer.from(reply.body).toString());
  };
}
