import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { readUpConfig } from "../../packages/cli/src/commands/up-config.ts";
import { readAgentsFile } from "../../services/agent/src/definitions/read-agents-file.ts";
import { readBehaviors } from "../../services/agent/src/model/read-behaviors.ts";
import { readServerFile } from "../../services/mcp-bridge/src/servers/read-servers.ts";
import { readRestFile } from "../../services/rest-tools/src/file/read-rest-file.ts";

/** How each kind of file is read. The reader of `rockbot up` gives the settings of each service. */
const readers = {
  mcp: (file: string) => readServerFile(file, { T: "token-0" }),
  models: readBehaviors,
  rest: (file: string) => readRestFile(file, {}),
  agents: readAgentsFile,
  up: async (file: string) =>
    Object.fromEntries(
      (await readUpConfig({ config: file }, {})).chosen.map(({ service, config }) => [service.name, config]),
    ),
};

async function read(kind: keyof typeof readers, content: object): Promise<unknown> {
  using folder = temporaryFolder();
  return await readers[kind](folder.write("settings.json", content));
}

const program = { command: "npx", args: ["-y", "@mcp/github"] };
const github = (entry: object) => ({ github: { ...program, ...entry } });
const server = (options: object) => ({ servers: [expect.objectContaining({ name: "github", ...options })] });
const models = (name: string, of: object = { ToolResultChunkingThreshold: 32_000 }) => ({
  ModelBehaviors: { Models: { [name]: of } },
});
const weather = {
  method: "GET",
  url: `https://api.weather.com/v1/$\{parameters.city}`,
  parametersSchema: { type: "object" },
};
const endpoint = {
  Name: "get_weather",
  Description: "Weather",
  UrlTemplate: "https://api.weather.com/v1/current?city={city}",
  Method: "GET",
};
const web = { chunkingThreshold: 9_000, chunkMaxLength: 3_000, chunkTtlMinutes: 5, maxSearchResults: 7 };

test.each<[kind: keyof typeof readers, content: object, taken: object]>([
  [
    "mcp",
    { Mcp: { Servers: [{ Name: "github", Command: "npx", Arguments: ["-y"], EnvironmentVariables: { A: "1" } }] } },
    server({}),
  ],
  ["mcp", { McpServers: github({ transport: "stdio" }) }, server({})],
  [
    "mcp",
    { McpServers: { github: { transport: "http", url: "https://a.example" } } },
    server({ address: expect.objectContaining({ type: "http" }) }),
  ],
  ["mcp", { mcpServers: github({ type: "stdio", env: { T: `$\{T}` } }) }, server({ secrets: ["token-0"] })],
  [
    "mcp",
    { mcpServers: github({ toolsAllowed: ["a"], toolsDenied: ["b"], cache: 9 }) },
    server({ allowed: ["a"], denied: ["b"], cacheMs: 9 }),
  ],
  [
    "mcp",
    { mcpServers: github({ queue: "q" }), queues: { q: { concurrent: 3 } } },
    server({ queue: { concurrency: 3 } }),
  ],
  ["mcp", { mcpServers: github({ enabled: false }) }, { servers: [] }],
  [
    "mcp",
    { mcpServers: github({}), defaults: { toolTimeout: 9, toolResponseMaxBytes: 900 } },
    server({ requestTimeoutMs: 9, maxResultChars: 900 }),
  ],
  [
    "mcp",
    { mcpServers: {}, defaults: { mcpInitConcurrency: 2 } },
    { warnings: [expect.stringMatching(/mcpInitConcurrency .*INIT_CONCURRENCY/)] },
  ],
  [
    "mcp",
    { mcpServers: github({ requestTimeoutMs: 7 }), toolTimeout: 9, traceMCP: true },
    { tracesAll: true, ...server({ requestTimeoutMs: 7 }) },
  ],
  ["mcp", { mcpServers: github({ traceMCP: true }) }, { tracesAll: false, ...server({ isTraced: true }) }],
  ["models", models("openai/gpt"), { "openai/gpt": { chunkingThreshold: 32_000 } }],
  ["models", models("openrouter/deepseek"), { deepseek: { chunkingThreshold: 32_000 } }],
  ["rest", { RestTools: { Endpoints: [endpoint] } }, { operations: [{ toolName: "rest__get_weather" }] }],
  ["rest", { tools: { weather } }, { operations: [{ toolName: "rest__weather" }] }],
  ["up", { webTools: web }, { "web-tools": web }],
])(
  "of an original's settings, those in the file of %s, %j, are taken, or named in a warning",
  async (kind, content, taken) => {
    expect(await read(kind, content)).toMatchObject(taken);
  },
);

const [ofServers, ofModels] = ["mcpConfig", "modelBehaviors"];

test.each<[kind: keyof typeof readers, content: object, places: Readonly<Record<string, string>>]>([
  [
    "up",
    { Mcp: {}, mcpServers: {}, queues: {}, defaults: {} },
    { Mcp: ofServers, mcpServers: ofServers, queues: ofServers, defaults: ofServers },
  ],
  [
    "up",
    { McpServers: {}, toolTimeout: 1, toolResponseMaxBytes: 1 },
    { McpServers: ofServers, toolTimeout: ofServers, toolResponseMaxBytes: ofServers },
  ],
  [
    "up",
    { mcpBridge: { traceMCP: true, mcpInitConcurrency: 1 } },
    { traceMCP: ofServers, mcpInitConcurrency: "initConcurrency" },
  ],
  [
    "up",
    { ModelBehaviors: {}, agent: { toolResultChunkingThreshold: 1 } },
    { ModelBehaviors: ofModels, toolResultChunkingThreshold: ofModels },
  ],
  [
    "up",
    { RestTools: {}, restTools: { Endpoints: [] } },
    { RestTools: 'did you mean "restTools"', Endpoints: "restConfig" },
  ],
  [
    "up",
    { WebTools: {}, webTools: { ApiKey: 1, ApiKeyEnvVar: 1 } },
    { WebTools: '"webTools"', ApiKey: "braveApiKey", ApiKeyEnvVar: "BRAVE_API_KEY" },
  ],
  ["up", { router: { destinations: [] } }, { router: "destinations .* agentsFile" }],
  ["agents", { a: { playbook: "x", router: {} } }, { router: "destinations" }],
  [
    "mcp",
    { Mcp: { Servers: [{ Name: "a", Command: "x", WorkingDirectory: "/" }] } },
    { WorkingDirectory: "known: Name, Command" },
  ],
  ["models", models("a", { ToolBudget: 5 }), { ToolBudget: "known: ToolResultChunkingThreshold" }],
  ["rest", { RestTools: { Endpoints: [{ ...endpoint, Retries: 2 }] } }, { retries: "known: name" }],
])(
  "of an original's settings, those in the file of %s, %j, are refused in words that name each and its place now",
  async (kind, content, places) => {
    const words = Object.entries(places).map(([key, place]) =>
      expect.stringMatching(new RegExp(`unknown (property|section) "${key}": .*${place}`)),
    );
    await expect(read(kind, content)).rejects.toMatchObject({ faults: expect.arrayContaining(words) });
  },
);
