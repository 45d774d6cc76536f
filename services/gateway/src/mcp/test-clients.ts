import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";

export interface TestCall {
  readonly name: string;
  readonly arguments?: Record<string, unknown>;
  readonly _meta?: Record<string, unknown>;
}

interface TestCallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (update: object) => void;
}

export interface TestResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The methods that the tests need of a client, whichever SDK it is of. */
export interface TestClient extends AsyncDisposable {
  readonly version: string | undefined;
  listTools(): Promise<readonly { readonly name: string; readonly [key: string]: unknown }[]>;
  call(call: TestCall, options?: TestCallOptions): Promise<TestResult>;
  listPrompts(): Promise<readonly { readonly name: string }[]>;
  getPrompt(name: string): Promise<unknown>;
  listResources(): Promise<readonly { readonly uri: string }[]>;
  readResource(uri: string): Promise<unknown>;
}

export interface TestClientOptions {
  readonly url: string;
  readonly token?: string | undefined;
  /** Called when the server says that its tools have changed. */
  readonly onToolsChanged?: () => void;
}

const INFO = { name: "test", version: "1.0.0" };
const init = ({ token }: TestClientOptions) =>
  token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } };

/** The clients of both SDKs, in each protocol era that they speak, connected to `/mcp`. */
export const clients: Readonly<Record<string, (options: TestClientOptions) => Promise<TestClient>>> = {
  "the older SDK": connectOld,
  "the newer SDK in the older era": (options) => connectModern(options, "legacy"),
  "the newer SDK in the newer era": (options) => connectModern(options, "auto"),
};

async function connectOld(options: TestClientOptions): Promise<TestClient> {
  const { url, onToolsChanged } = options;
  const client = new OldClient(INFO, {
    listChanged: { tools: { autoRefresh: false, onChanged: () => onToolsChanged?.() } },
  });
  const transport = new OldTransport(new URL("/mcp", url), init(options));
  await client.connect(transport as Parameters<OldClient["connect"]>[0]);
  return {
    version: transport.protocolVersion,
    listTools: async () => (await client.listTools()).tools,
    call: async (call, callOptions) =>
      (await client.callTool({ ...call }, CallToolResultSchema, callOptions)) as unknown as TestResult,
    listPrompts: async () => (await client.listPrompts()).prompts,
    getPrompt: (name) => client.getPrompt({ name }),
    listResources: async () => (await client.listResources()).resources,
    readResource: (uri) => client.readResource({ uri }),
    async [Symbol.asyncDispose]() {
      await transport.terminateSession().catch(() => {});
      await client.close();
    },
  };
}

async function connectModern(options: TestClientOptions, mode: "legacy" | "auto"): Promise<TestClient> {
  const { url, onToolsChanged } = options;
  const client = new ModernClient(INFO, {
    versionNegotiation: { mode },
    listChanged: { tools: { autoRefresh: false, onChanged: () => onToolsChanged?.() } },
  });
  const transport = new ModernTransport(new URL("/mcp", url), init(options));
  await client.connect(transport);
  return {
    version: client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools(undefined, { cacheMode: "refresh" })).tools,
    call: async (call, callOptions) => (await client.callTool({ ...call }, callOptions)) as unknown as TestResult,
    listPrompts: async () => (await client.listPrompts()).prompts,
    getPrompt: (name) => client.getPrompt({ name }),
    listResources: async () => (await client.listResources()).resources,
    readResource: (uri) => client.readResource({ uri }),
    async [Symbol.asyncDispose]() {
      await transport.terminateSession().catch(() => {});
      await client.close();
    },
  };
}
