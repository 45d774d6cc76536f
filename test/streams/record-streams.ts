import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { ToolEndpoint } from "@rockbot/mcp/serve";
import { loadConfig } from "@rockbot/process/config";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { expect, vi } from "vitest";
import { serveA2a } from "../../services/gateway/src/a2a/serve-a2a.ts";
import { RunningKeys } from "../../services/gateway/src/calls/running-keys.ts";
import { serveTestAgent } from "../../services/gateway/src/chat/test-agent.ts";
import { createGatewayApp } from "../../services/gateway/src/gateway-app.ts";
import { serveHttp } from "../../services/gateway/src/http/http-server.ts";
import { gatewayToolSource } from "../../services/gateway/src/mcp/gateway-tool-source.ts";
import {
  initialize,
  listen,
  mcpHeaders,
  message,
  modernHeaders,
} from "../../services/gateway/src/mcp/test-messages.ts";
import { SessionHub } from "../../services/gateway/src/sessions/session-hub.ts";
import { type OpenStreamOptions, openStream } from "../../services/gateway/src/sessions/test-stream.ts";
import { check, configSchema } from "../../services/gateway/src/settings.ts";
import { loose } from "../../services/gateway/src/test-gateway.ts";

const KEEP_ALIVE_MS = 20;
export const ANSWER = "Let me look. It is so.";

/** Each kind of stream of a gateway as it came over the wire, with comments between its events, and behind them. */
export async function recordStreams(): Promise<Record<string, string>> {
  const goOn = Promise.withResolvers<void>();
  await using bus = createMemoryBus();
  await using _agent = await serveTestAgent(bus, async ({ tell }) => {
    await tell({ kind: "text", text: "Let me look. " });
    await tell({ kind: "tool_started", toolCallId: "t1", toolName: "web_browse", arguments: "{}" });
    await goOn.promise;
    await tell({ kind: "text", text: "It is so." });
    return { text: "It is so." };
  });
  const steps = defineTool(loose("steps"), async (_, { progress }) => {
    progress({ progress: 1, total: 2, message: "half" });
    await goOn.promise;
    return "done";
  });
  const guides = [{ name: "steps", summary: "Of steps.", document: "# Steps" }];
  await using _tools = await serveTools(bus, { tools: [steps], guides }, { service: "steps" });
  await using gateway = await startApp(bus);
  using streams = new DisposableStack();
  const open = async (options: Omit<OpenStreamOptions, "port">) =>
    streams.use(await openStream({ port: gateway.port, ...options }));

  const opened = {
    chat: await open({
      path: "/v1/chat/completions",
      headers: { "rockbot-session": "s" },
      body: { messages: [{ role: "user", content: "?" }], stream: true },
    }),
    session: await open({ path: "/v1/sessions/s/events" }),
    call: await open({ path: "/v1/tools/steps/invoke", headers: { accept: "text/event-stream" }, body: {} }),
    mcpChanges: await open({ path: "/mcp", headers: mcpHeaders({ session: gateway.mcpSession }) }),
    mcpListen: await open({ path: "/mcp", headers: modernHeaders("subscriptions/listen"), body: listen(2) }),
    mcpCall: await open({
      path: "/mcp",
      headers: mcpHeaders(),
      body: message(3, "tools/call", { name: "steps", arguments: {}, _meta: { progressToken: 1 } }),
    }),
    a2a: await open({
      path: "/a2a/agent/rpc",
      headers: { "a2a-version": "1.0" },
      body: message(4, "SendStreamingMessage", asking),
    }),
  };
  const { chat, session, call, mcpChanges, mcpListen, mcpCall, a2a } = opened;
  expect(Object.values(opened).map(({ status }) => status)).toEqual(Array(7).fill(200));
  await until(() => [chat, session].every(({ text }) => /web_browse.*\n\n(:.*\n\n?){2}/.test(text())));
  await until(() => [call, mcpChanges, mcpListen].every(({ text }) => /^:/m.test(text())));
  goOn.resolve();
  await using _further = await serveTools(
    bus,
    { tools: [defineTool(loose("further"), async () => "")], guides: [] },
    { service: "further" },
  );
  await until(() => [mcpChanges, mcpListen].every(({ text }) => text().includes("list_changed")));
  await until(() => /turn_finished.*\n\n:/.test(session.text()));
  await until(() => [chat, call, mcpCall, a2a].every(({ isEnded }) => isEnded()));
  return Object.fromEntries(Object.entries(opened).map(([name, stream]) => [name, stream.text()]));
}

const until = (isSo: () => boolean): Promise<boolean> => vi.waitUntil(isSo, { timeout: 60_000 });

const asking = { message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "Hello?" }] } };

/** All doors of a gateway, whose silent streams have a comment often. */
async function startApp(bus: ReturnType<typeof createMemoryBus>) {
  await using started = new AsyncDisposableStack();
  const caller = started.use(await createToolCaller(bus, { agent: "gateway" }));
  const sessions = started.use(new SessionHub(bus, caller));
  const ending = new AbortController();
  const keepAliveMs = KEEP_ALIVE_MS;
  const calls = {
    timeoutMs: 60_000,
    maxTimeoutMs: 60_000,
    keys: new RunningKeys(),
    refusals: undefined,
    signal: ending.signal,
    log: silentLogger,
  };
  const mcp = started.use(
    new ToolEndpoint({
      sourceOf: (by) => gatewayToolSource(caller, by, calls),
      version: "1",
      log: silentLogger,
      keepAliveMs,
    }),
  );
  started.defer(caller.tools.onChange(() => mcp.tell()));
  const config = { ...loadConfig(configSchema, { env: {}, check }), a2aUrl: "http://127.0.0.1:1" };
  const agents = started.use(
    serveA2a(caller, config, {
      tasks: undefined,
      sessions,
      needsToken: () => false,
      ending: ending.signal,
      log: silentLogger,
    }),
  );
  const app = createGatewayApp(caller, {
    ...calls,
    sessions,
    mcp: async () => mcp,
    a2a: agents.door,
    ending: ending.signal,
    keepAliveMs,
  });
  const { port } = started.use(await serveHttp(app, { host: "127.0.0.1", port: 0 }));
  started.defer(() => mcp.stopListening());
  started.defer(() => ending.abort());
  const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: mcpHeaders(),
    body: JSON.stringify(initialize),
  });
  await answer.text();
  const parts = started.move();
  return {
    port,
    mcpSession: String(answer.headers.get("mcp-session-id")),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
