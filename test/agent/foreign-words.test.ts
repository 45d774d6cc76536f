import { createAgent, mcpToolProxy, serviceSearch } from "@rockbot/agent";
import { createMemoryBus } from "@rockbot/bus";
import { newId, type ToolDefinition } from "@rockbot/contracts";
import { createModel } from "@rockbot/llm";
import { configSchema, startMcpBridge } from "@rockbot/mcp-bridge";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { startModelServer, startRawHttpServer, temporaryFolder } from "@rockbot/testing";
import { defineTool, serveTools } from "@rockbot/tools";
import { createMemoryTrustStore, type TrustStore } from "@rockbot/trust";
import { expect, test } from "vitest";

const WORDS = "Zebras, they say.";
const failing = { "no-method": -32601, "no-params": -32602, url: -32042, any: -32000 } as const;
const definition = (name: string, properties: object = {}) => ({
  name,
  description: `${WORDS} ${name}`,
  inputSchema: { type: "object", properties },
});
const answers = {
  instructions: WORDS,
  tools: [...Object.keys(failing), "read"]
    .map((name) => definition(name))
    .concat(definition("choose", { animal: { type: "string", enum: [WORDS] } })),
  calls: {
    read: { result: { content: [{ type: "text", text: WORDS }] } },
    ...Object.fromEntries(
      Object.entries(failing).map(([name, code]) => [
        name,
        { error: { code, message: WORDS, data: { elicitations: [] } } },
      ]),
    ),
  },
};

/** How others' words reach a model, by a call, and of which kind they are. */
const ways: readonly (readonly [string, "says" | "defines", string, object])[] = [
  ["a server's instructions", "defines", "get_tool_guide", { name: "mcp-tool-guide-zoo" }],
  ["a search", "defines", "search_known_services", { query: "zoo animals read" }],
  ["the details of a tool", "defines", "get_tool_details", { names: ["zoo__read"] }],
  ["the list of servers", "defines", "mcp_list_services", {}],
  ["a server's tools", "defines", "mcp_get_service_details", { server_name: "zoo" }],
  [
    "the name of the nearest tool",
    "defines",
    "mcp_invoke_tool",
    { server_name: "zoo", tool_name: "raed", arguments: {} },
  ],
  ["a fault of the arguments", "defines", "zoo__choose", { animal: "lion" }],
  ["a result", "says", "zoo__read", {}],
  [
    "a result by a call within a call",
    "says",
    "mcp_invoke_tool",
    { server_name: "zoo", tool_name: "read", arguments: {} },
  ],
  ...Object.entries(failing).map(([name, code]) => [`an error ${code}`, "says", `zoo__${name}`, {}] as const),
  ["an error by a call within a call", "says", "invoke_tool", { name: "zoo__no-params", arguments: {} }],
];

/** A turn that makes a call, then one with effects, where the policy denies these after untrusted content. */
async function turnOf(
  tool: string,
  args: object,
  { trustStore, pin }: { readonly trustStore: TrustStore; readonly pin: "first-sight" | "file" },
) {
  await using zoo = await startRawHttpServer(answers);
  using folder = temporaryFolder();
  const mcpConfig = folder.write("mcp.json", { mcpServers: { zoo: { type: "http", url: zoo.url } } });
  const policy = holdPolicy(
    createPolicy(await readPolicy("everyone: { allow: ['*'], afterUntrusted: { effects: deny } }", "test")),
  );
  await using bus = createMemoryBus();
  await using bridge = await startMcpBridge(bus, loadConfig(configSchema, { env: {}, overrides: { mcpConfig, pin } }), {
    env: {},
    trustStore,
  });
  await bridge.settled(20_000);
  const sent: unknown[] = [];
  const send: ToolDefinition<object> = {
    name: "send",
    description: "Sends.",
    inputSchema: { type: "object" },
    readOnly: false,
    idempotent: false,
    validateInput: Object.assign((value: unknown): value is object => true, { errors: null }),
  };
  await using _send = await serveTools(
    bus,
    { tools: [defineTool(send, async (input) => `sent ${sent.push(input)}`)] },
    { service: "sender", policy },
  );
  await using model = await startModelServer([
    { toolCalls: [{ name: tool, arguments: args }] },
    { toolCalls: [{ name: "send", arguments: {} }] },
    { text: "Done." },
  ]);
  const { url, apiKey, model: name } = model;
  await using agent = await createAgent({ bus, model: createModel({ url, apiKey, model: name }), policy })
    .use(mcpToolProxy())
    .use(serviceSearch({ hints: false, maxTools: 100 }))
    .start();
  await expect.poll(() => agent.caller.tools.get("mcp_list_services"), { timeout: 20_000 }).toBeDefined();
  const request = {
    caller: "agent",
    sessionId: "s",
    turnId: newId(),
    message: "Go on.",
    signal: new AbortController().signal,
  };
  const { hasReadUntrusted } = await agent.runTurn({ ...request, deadline: performance.now() + 60_000 });
  const [read = ""] =
    model.requests.at(-1)?.messages.flatMap(({ role, text }) => (role === "tool" ? [text] : [])) ?? [];
  return { read, hasReadUntrusted, sent: sent.length };
}

test.each(ways)(
  "what others say by %s is fenced (it %s); at first sight it marks the turn, and once approved a definition does not",
  async (_way, kind, tool, args) => {
    await using trustStore = createMemoryTrustStore();
    for (const pin of ["first-sight", "file"] as const) {
      const { read, ...ended } = await turnOf(tool, args, { trustStore, pin });
      const isMarked = kind === "says" || pin === "first-sight";
      expect(read).toMatch(/<untrusted-([0-9a-f]{16}) origin="mcp:zoo">\n[\s\S]*<\/untrusted-\1>/);
      expect([pin, ended]).toEqual([pin, { hasReadUntrusted: isMarked, sent: isMarked ? 0 : 1 }]);
    }
  },
);
