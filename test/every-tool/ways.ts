import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { run } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { connectRuled } from "../../packages/cli/src/connect-broker.ts";

/** How a tool is called: over RabbitMQ, by an MCP client of the gateway, and by the program curl. */
export const ways = ["amqp", "mcp", "curl"] as const;
export type Way = (typeof ways)[number];

/** What a call gave, whichever way it was made. */
export interface Answer {
  readonly content: string;
  readonly structured: unknown;
}

/** Rejects if the call or the tool failed. */
export type Call = (tool: string, args: object) => Promise<Answer>;

export type OpenWays = Readonly<Record<Way, Call>> & AsyncDisposable;

export interface OpenWaysOptions {
  readonly busUrl: string;
  /** The policy's file, by which a caller on the bus knows what it may use. */
  readonly policyFile: string;
  /** The address of the gateway, and its bearer token. */
  readonly url: string;
  readonly token: string;
}

const CALL_MS = 120_000;

/** Connects by each way. */
export async function openWays({ busUrl, policyFile, url, token }: OpenWaysOptions): Promise<OpenWays> {
  await using opened = new AsyncDisposableStack();
  const { bus, agent, policy } = opened.use(await connectRuled(busUrl, "test", policyFile));
  const caller = opened.use(await createToolCaller(bus, { agent, results: "copy", policy }));
  await caller.discovered();
  const authorization = `Bearer ${token}`;
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers: { authorization } } }),
  );
  opened.defer(() => client.close());
  const parts = opened.move();
  return {
    amqp: async (tool, args) => answerOf(await caller.call(tool, args, { timeoutMs: CALL_MS })),
    async mcp(tool, args) {
      const {
        content,
        structuredContent: structured,
        isError,
      } = await client.callTool({ name: tool, arguments: { ...args } });
      return answerOf({
        content: content.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n"),
        structured,
        isError,
      });
    },
    async curl(tool, args) {
      const headers = ["-H", `authorization: ${authorization}`, "-H", "content-type: application/json"];
      const said = await run(
        "curl",
        ["-sS", `${url}/v1/tools/${tool}/invoke`, ...headers, "-d", JSON.stringify(args)],
        { timeoutMs: CALL_MS },
      );
      return answerOf(JSON.parse(said) as Partial<Answer>);
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

function answerOf(said: {
  readonly content?: string | null;
  readonly structured?: unknown;
  readonly isError?: boolean | undefined;
}): Answer {
  const { content, structured, isError = false } = said;
  if (isError || typeof content !== "string") throw new Error(`The call failed: ${JSON.stringify(said)}`);
  return { content, structured };
}
