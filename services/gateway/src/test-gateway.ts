import { createPublicKey } from "node:crypto";
import { request as httpRequest, type RequestOptions } from "node:http";
import { connect } from "node:net";
import { type Bus, createMemoryBus } from "@rockbot/bus";
import { type ToolDefinition, ToolError, tools, type Validator } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import type { AuditLog } from "@rockbot/records/audit";
import { defineTool, serveTools, type Tool } from "@rockbot/tools";
import { type StartGatewayOptions, startGateway } from "./gateway.ts";
import type { GatewayConfig } from "./generated/config.ts";
import { check, configSchema } from "./settings.ts";

/** A definition that takes any arguments. */
export function loose(
  name: string,
  inputSchema: object = { type: "object" },
): ToolDefinition<Record<string, unknown>, never> {
  const validateInput = Object.assign((_: unknown): boolean => true, { errors: null }) as unknown as Validator<
    Record<string, unknown>
  >;
  return {
    name,
    description: `The tool ${name}. For tests.`,
    inputSchema,
    readOnly: true,
    idempotent: true,
    validateInput,
  };
}

/** A further service, with one tool, of whose name it is. */
export function serveOne(bus: Bus, tool: Tool): Promise<AsyncDisposable> {
  const { name } = tool.definition;
  return serveTools(
    bus,
    { tools: [tool], guides: [{ name, summary: `Of ${name}.`, document: `# ${name}` }] },
    { service: name },
  );
}

/** A gateway on a free port, in front of a real tool service on an in-memory bus. */
// Long because: the tools that it serves are listed side by side
export async function startTestGateway(
  overrides: Partial<GatewayConfig> = {},
  policy?: PolicyHolder,
  audit?: AuditLog,
  options: Pick<StartGatewayOptions, "localOperator" | "commandKey" | "consoleFiles" | "files" | "log" | "runs"> = {},
) {
  await using started = new AsyncDisposableStack();
  const bus = started.use(createMemoryBus());
  const aborted: string[] = [];
  const waiting: string[] = [];
  const guides = [{ name: "test-tools", summary: "How to test.", document: "# Test tools\n\nCall them." }];
  const set = {
    guides,
    tools: [
      defineTool(loose("echo"), async (input) => JSON.stringify(input)),
      defineTool(loose("who"), async (_, { caller }) => caller),
      defineTool(loose("fail"), async ({ code, retryAfterMs }) => {
        throw new ToolError(String(code), "Cannot do it: this tool always fails", {
          retryAfterMs: typeof retryAfterMs === "number" ? retryAfterMs : undefined,
        });
      }),
      defineTool(loose("crash"), async () => {
        throw new Error("canary-secret in a stack");
      }),
      defineTool(loose("sad"), async () => ({ content: "It did not work out.", isError: true })),
      defineTool(loose("steps"), async (_, { progress }) => {
        progress({ progress: 1, total: 2, message: "half" });
        return "done";
      }),
      defineTool(loose("wait"), async ({ id }, { signal }) => {
        waiting.push(String(id));
        const { promise, reject } = Promise.withResolvers<string>();
        signal.addEventListener("abort", () => {
          aborted.push(String(id));
          reject(signal.reason);
        });
        return await promise;
      }),
      defineTool(loose("soon"), async ({ ms }) => {
        waiting.push("soon");
        await new Promise((resolve) => setTimeout(resolve, Number(ms)));
        return "done";
      }),
      defineTool(loose("large"), async () => "x".repeat(4 * 1024 * 1024)),
      defineTool(tools.webBrowse, async ({ url }) => ({
        content: "# Page",
        structured: { url, title: "Page", contentType: "text/html", truncated: false, needsBrowser: false },
      })),
    ],
  };
  const operatorKey = options.commandKey === undefined ? undefined : createPublicKey(options.commandKey);
  started.use(await serveTools(bus, set, { service: "test-tools", audit, operatorKey }));
  const config = loadConfig(configSchema, { env: {}, overrides: { port: 0, ...overrides }, check });
  const gateway = started.use(await startGateway(bus, config, { ...options, policy, audit }));
  const port = Number(new URL(gateway.url).port);
  const parts = started.move();

  return {
    bus,
    url: gateway.url,
    port,
    gateway,
    /** The calls that the tools `wait` and `soon` got, and those of them that were aborted. */
    waiting,
    aborted,
    /** One request by Node's own client, which sets any header, and leaves paths as they are. */
    send: (options: RequestOptions, body?: string | Buffer) => send({ port, ...options }, body),
    invoke: (tool: string, args: object, headers: Record<string, string> = {}) =>
      send(
        {
          port,
          path: `/v1/tools/${tool}/invoke`,
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
        },
        JSON.stringify(args),
      ),
    /** Bytes as they are, and all that comes back until the connection ends. */
    raw: (text: string) => raw(port, text),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
  /** The body as JSON; undefined if it is not. */
  readonly json: Record<string, unknown> | undefined;
}

async function send(options: RequestOptions, body?: string | Buffer): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const request = httpRequest({ host: "127.0.0.1", agent: false, ...options }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) });
    });
  });
  request.on("error", reject);
  request.end(body);
  return await promise;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

async function raw(port: number, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(port, "127.0.0.1", () => socket.write(text));
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("error", reject);
  socket.on("close", () => resolve(Buffer.concat(chunks).toString("utf8")));
  return await promise;
}
