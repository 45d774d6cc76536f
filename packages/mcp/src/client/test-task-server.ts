import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { modernServer } from "./test-modern-server.ts";

type Json = Record<string, unknown>;

/** A server that makes a task of each call of its tool `build`. A test changes its tasks. */
export interface TaskServer extends AsyncDisposable {
  readonly url: string;
  /** By id: the state of each, and what goes with it. */
  readonly tasks: Map<string, Json>;
  /** What it was asked: `tools/call`, and each request about a task. */
  readonly asked: { readonly method: string; readonly params: Json }[];
  /** Changes the state of its only task. */
  becomes(state: Json): void;
}

/** The SDK's server, which knows no tasks, behind one that does. */
export async function startTaskServer(): Promise<TaskServer> {
  const tasks: TaskServer["tasks"] = new Map();
  const asked: TaskServer["asked"] = [];
  const handler = createMcpHandler(() => modernServer(["build"]));
  const about = (method: string, params: Json): Json => {
    const id = method === "tools/call" ? randomUUID() : String(params["taskId"]);
    if (method === "tools/call") tasks.set(id, { status: "working" });
    const task = tasks.get(id);
    if (method === "tasks/cancel" && task !== undefined) tasks.set(id, { status: "cancelled" });
    if (method === "tasks/update") tasks.set(id, { status: "working", statusMessage: "told" });
    if (task === undefined) return { error: { code: -32_602, message: `Task ${id} not found` } };
    const resultType = method === "tools/call" ? "task" : "complete";
    return { result: { resultType, taskId: id, ttlMs: null, pollIntervalMs: 1, ...task } };
  };
  const server = createServer(
    getRequestListener(async (request) => {
      const {
        id,
        method,
        params = {},
      } = (await request
        .clone()
        .json()
        .catch(() => ({}))) as Json & { method: string; params?: Json };
      const isOurs = method?.startsWith("tasks/") || (method === "tools/call" && params["name"] === "build");
      if (!isOurs) return handler.fetch(request);
      asked.push({ method, params });
      return Response.json({ jsonrpc: "2.0", id, ...about(method, params) });
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    tasks,
    asked,
    becomes: (state) => tasks.set([...tasks.keys()][0] ?? "", state),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
