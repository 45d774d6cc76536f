import type { ConnectAgentRecords } from "./agent/src/records/agent-records.ts";
import { type BusService, type BusStartParts, defineServer, defineService, type Server } from "./define-service.ts";
import type { LetterAccess } from "./gateway/src/dlq/letter-desk.ts";
import type { StartGatewayOptions } from "./gateway/src/gateway.ts";
import type { GatewayConfig } from "./gateway/src/generated/config.ts";
import type { ConnectStore } from "./knowledge-tools/src/store/knowledge-store.ts";

export type { Finding } from "@rockbot/process";
export {
  type BusService,
  type BusStartParts,
  defineService,
  egresses,
  isConfigured,
  type RedisKeys,
  type RunningService,
  redisKeys,
  redisRules,
  type Server,
  settingsKey,
} from "./define-service.ts";
export { stateKinds } from "./state.ts";

const connectKnowledge: ConnectStore = async (...to) =>
  (await import("./knowledge-tools/src/store/postgres/index.ts")).connectPostgresStore(...to);

const connectAgents: ConnectAgentRecords = async (...to) =>
  (await import("./agent/src/records/postgres/index.ts")).connectPostgresAgentRecords(...to);

/** Every service, those on the bus in the order in which `rockbot up` starts them. A new one is an entry here. */
const listed = [
  defineService({
    name: "web-tools",
    summary: "Reads web pages, and searches the web.",
    topic: "tool.invoke",
    tools: ["web_*", "html_to_text"],
    state: ["audit", "blobs", "newFiles", "rates", "runs", "pages"],
    facets: ["credentials"],
    egress: ["internet", "configured"],
    deployment: {
      requests: { cpu: "100m", memory: "160Mi" },
      memoryLimit: "512Mi",
      // Bodies of pages come and go. With less room for what is new, and a place of its own for each large one, their
      // memory is given back sooner: `npm run measure -- browse` shows 205 MB at 64 pages of a megabyte, and 273 with the
      // variables of the image.
      environment: { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "131072", NODE_OPTIONS: "--max-semi-space-size=2" },
    },
    settings: () => import("./web-tools/src/settings.ts"),
    examine: async (config) => (await import("./web-tools/src/examine.ts")).examine(config),
    start: async ({ bus, config, ...parts }) =>
      (await import("./web-tools/src/web-tools.ts")).startWebTools(bus, config, parts),
  }),
  defineService({
    name: "mcp-bridge",
    summary: "Puts the tools of MCP servers on the bus.",
    topic: "tool.invoke.mcp",
    tools: ["*__*"],
    owns: ["mcp.manage", "tool.meta.mcp.refresh"],
    state: ["audit", "blobs", "newFiles", "rates", "claims", "runs", "leases", "trust"],
    egress: ["internet", "configured"],
    needs: "mcpConfig",
    deployment: { requests: { cpu: "50m", memory: "128Mi" }, memoryLimit: "512Mi" },
    settings: () => import("./mcp-bridge/src/settings.ts"),
    start: async ({ bus, config, ...parts }) =>
      (await import("./mcp-bridge/src/mcp-bridge.ts")).startMcpBridge(bus, config, parts),
  }),
  defineService({
    name: "scripts-manager",
    summary: "Runs Python scripts, each in a sandbox of its own.",
    topic: "script.invoke",
    tools: ["execute_python_script", "list_script_sessions", "end_script_session"],
    state: ["audit", "blobs", "newFiles", "rates", "claims", "runs", "journals", "replays", "leases"],
    egress: ["containers", "cluster", "configured"],
    profile: "scripts",
    deployment: { requests: { cpu: "100m", memory: "160Mi" }, memoryLimit: "512Mi" },
    settings: () => import("./scripts-manager/src/settings.ts"),
    examine: async (config, env) => (await import("./scripts-manager/src/examine.ts")).examine(config, env),
    start: async ({ bus, config, ...parts }) =>
      (await import("./scripts-manager/src/start-with-runner.ts")).startWithRunner(bus, config, parts),
  }),
  defineService({
    name: "scheduler",
    summary: "Has the agent run tasks at the times of cron expressions.",
    topic: "tool.invoke.scheduler",
    tools: ["schedule_task", "list_scheduled_tasks", "cancel_scheduled_task"],
    state: ["audit", "rates", "claims", "runs", "journals", "schedules"],
    isDelegate: true,
    egress: [],
    deployment: { requests: { cpu: "50m", memory: "96Mi" }, memoryLimit: "256Mi" },
    settings: () => import("./scheduler/src/settings.ts"),
    examine: async (config, env) => (await import("./scheduler/src/examine.ts")).examine(config, env),
    start: async ({ bus, config, ...parts }) =>
      (await import("./scheduler/src/scheduler.ts")).startScheduler(bus, config, parts),
  }),
  defineService({
    name: "knowledge-tools",
    summary: "Keeps knowledge that agents save and operators import, and finds it.",
    topic: "tool.invoke.knowledge",
    tools: ["knowledge_*", "search"],
    state: ["audit", "blobs", "rates", "claims", "runs", "data"],
    facets: ["spaces"],
    egress: ["configured"],
    deployment: { enabled: false, requests: { cpu: "100m", memory: "128Mi" }, memoryLimit: "512Mi" },
    settings: () => import("./knowledge-tools/src/generated/config.ts"),
    examine: async (config) => (await import("./knowledge-tools/src/examine.ts")).examine(config, connectKnowledge),
    start: async ({ bus, config, ...parts }) =>
      (await import("./knowledge-tools/src/knowledge-tools.ts")).startKnowledgeTools(bus, config, {
        ...parts,
        connect: connectKnowledge,
      }),
  }),
  defineService({
    name: "linkedin-tools",
    summary: "Searches public job postings of LinkedIn, and reads them.",
    topic: "tool.invoke.linkedin",
    tools: ["linkedin_*"],
    state: ["audit", "blobs", "rates", "runs"],
    egress: ["internet", "configured"],
    needs: "linkedinRobots",
    profile: "linkedin",
    deployment: { enabled: false, requests: { cpu: "50m", memory: "128Mi" }, memoryLimit: "384Mi" },
    settings: () => import("./linkedin-tools/src/generated/config.ts"),
    examine: async (config) => (await import("./linkedin-tools/src/examine.ts")).examine(config),
    start: async ({ bus, config, ...parts }) =>
      (await import("./linkedin-tools/src/linkedin-tools.ts")).startLinkedinTools(bus, config, parts),
  }),
  defineService({
    name: "page-renderer",
    summary: "Runs the scripts of web pages in a browser, for web-tools.",
    topic: "tool.invoke.renderer",
    tools: ["render_page"],
    state: ["audit", "blobs", "rates", "runs"],
    egress: ["internet"],
    needs: "browserPath",
    profile: "renderer",
    deployment: {
      enabled: false,
      requests: { cpu: "200m", memory: "512Mi" },
      memoryLimit: "2Gi",
      scratch: "256Mi",
      image: "browser",
    },
    settings: () => import("./page-renderer/src/settings.ts"),
    examine: async (config) => (await import("./page-renderer/src/examine.ts")).examine(config),
    start: async ({ bus, config, ...parts }) =>
      (await import("./page-renderer/src/page-renderer.ts")).startPageRenderer(bus, config, parts),
  }),
  defineService({
    name: "anthropic-tools",
    summary: "Reports what an organization uses of Anthropic's API.",
    topic: "tool.invoke.anthropic",
    tools: ["anthropic_*"],
    state: ["audit", "blobs", "rates", "runs"],
    egress: ["configured"],
    needs: "anthropicAdminApiKey",
    profile: "anthropic",
    deployment: {
      enabled: false,
      requests: { cpu: "25m", memory: "96Mi" },
      memoryLimit: "256Mi",
      secrets: ["ANTHROPIC_ADMIN_API_KEY"],
    },
    settings: () => import("./anthropic-tools/src/generated/config.ts"),
    examine: async (config) => (await import("./anthropic-tools/src/examine.ts")).examine(config),
    start: async ({ bus, config, ...parts }) =>
      (await import("./anthropic-tools/src/anthropic-tools.ts")).startAnthropicTools(bus, config, parts),
  }),
  defineService({
    name: "google-tools",
    summary: "Searches, reads and sends Gmail, and keeps Google Calendar.",
    topic: "tool.invoke.google",
    tools: ["gmail_*", "calendar_*"],
    state: ["audit", "blobs", "newFiles", "rates", "claims", "runs", "leases", "data"],
    facets: ["credentials"],
    egress: ["configured"],
    needs: "googleClientId",
    profile: "google",
    deployment: {
      enabled: false,
      requests: { cpu: "50m", memory: "128Mi" },
      memoryLimit: "512Mi",
      secrets: ["GOOGLE_CLIENT_SECRET", "GOOGLE_TOKEN_KEY"],
    },
    settings: () => import("./google-tools/src/generated/config.ts"),
    examine: async (config) => (await import("./google-tools/src/examine.ts")).examine(config),
    start: async ({ bus, config, ...parts }) =>
      (await import("./google-tools/src/google-tools.ts")).startGoogleTools(bus, config, parts),
  }),
  defineService({
    name: "agent",
    summary: "Answers users and callers by a model, which calls the tools of all other services.",
    topic: "tool.invoke.agent",
    tools: [
      "agent__chat",
      "agent__embed",
      "agent__events",
      "agent__family",
      "agent__cancel",
      "agent__helper",
      "robot_*",
      "save_skill",
      "list_skills",
      "get_skill",
      "delete_skill",
    ],
    owns: ["user.message", "user.feedback", "user.history.request"],
    state: ["audit", "blobs", "files", "rates", "claims", "runs", "journals", "memory", "turns", "summaries", "data"],
    facets: ["costPerDay"],
    isDelegate: true,
    egress: ["configured"],
    profile: "agent",
    deployment: { enabled: false, requests: { cpu: "100m", memory: "160Mi" }, memoryLimit: "512Mi" },
    settings: () => import("./agent/src/settings.ts"),
    examine: async (config) => (await import("./agent/src/examine.ts")).examine(config, connectAgents),
    start: async ({ bus, config, ...parts }) =>
      (await import("./agent/src/agent-service.ts")).startAgentService(bus, config, {
        ...parts,
        connectRecords: connectAgents,
      }),
  }),
  defineService({
    name: "rest-tools",
    summary: "Calls HTTP endpoints that a file or an OpenAPI document names.",
    topic: "tool.invoke.rest",
    tools: ["rest__*"],
    state: ["audit", "blobs", "newFiles", "rates", "claims", "runs", "trust"],
    facets: ["credentials"],
    egress: ["internet", "configured"],
    needs: "restConfig",
    profile: "rest",
    deployment: { enabled: false, requests: { cpu: "50m", memory: "96Mi" }, memoryLimit: "512Mi" },
    settings: () => import("./rest-tools/src/settings.ts"),
    examine: async (config, env) => (await import("./rest-tools/src/examine.ts")).examine(config, env),
    start: async ({ bus, config, ...parts }) =>
      (await import("./rest-tools/src/rest-tools.ts")).startRestTools(bus, config, parts),
  }),
  defineService({
    name: "a2a",
    summary: "Gives tasks to agents of other makers by A2A.",
    topic: "tool.invoke.a2a",
    tools: ["list_known_agents", "get_agent_details", "invoke_agent"],
    state: ["audit", "blobs", "rates", "claims", "runs", "trust", "owners"],
    egress: ["internet", "configured"],
    needs: "a2aAgentsFile",
    profile: "a2a",
    deployment: { enabled: false, requests: { cpu: "50m", memory: "96Mi" }, memoryLimit: "512Mi" },
    settings: () => import("./a2a/src/settings.ts"),
    examine: async (config, env) => (await import("./a2a/src/examine.ts")).examine(config, env),
    start: async ({ bus, config, ...parts }) => (await import("./a2a/src/a2a.ts")).startA2a(bus, config, parts),
  }),
  defineService({
    name: "workspace-tools",
    summary: "Reads and writes files of configured folders, and runs commands on them.",
    topic: "tool.invoke.workspace",
    tools: ["read_file", "write_file", "edit_file", "list_files", "search_files", "bash"],
    state: ["audit", "blobs", "newFiles", "rates", "claims", "runs"],
    facets: ["roots", "hosts"],
    egress: [],
    needs: "workspaceRoots",
    profile: "workspace",
    deployment: { enabled: false, requests: { cpu: "50m", memory: "128Mi" }, memoryLimit: "512Mi" },
    settings: () => import("./workspace-tools/src/generated/config.ts"),
    examine: async (config, env) => (await import("./workspace-tools/src/examine.ts")).examine(config, env),
    start: async ({ bus, config, ...parts }) =>
      (await import("./workspace-tools/src/workspace-tools.ts")).startWorkspaceTools(bus, config, parts),
  }),
  defineService({
    name: "gateway",
    summary: "Lets callers in by HTTP and MCP, and calls tools for them.",
    state: ["audit", "blobs", "files", "journals", "allRuns", "webhooks", "figures", "mcpSessions", "tasks"],
    isDelegate: true,
    port: 8480,
    egress: [],
    deployment: {
      requests: { cpu: "100m", memory: "128Mi" },
      memoryLimit: "512Mi",
      reachedBy: "outside",
      secrets: ["GATEWAY_TOKEN"],
    },
    settings: () => import("./gateway/src/settings.ts"),
    start: async ({
      bus,
      config,
      ...parts
    }: BusStartParts<GatewayConfig> & Pick<StartGatewayOptions, "operator" | "localOperator" | "commandKey">) =>
      (await import("./gateway/src/gateway.ts")).startGateway(bus, config, { ...parts, letters: letterAccess() }),
  }),
  defineServer({
    name: "openrouter-mcp",
    summary: "Is an MCP server that reads an OpenRouter account.",
    port: 8482,
    egress: ["configured"],
    profile: "openrouter",
    deployment: {
      enabled: false,
      requests: { cpu: "25m", memory: "64Mi" },
      memoryLimit: "128Mi",
      reachedBy: "mcp-bridge",
    },
    settings: () => import("./openrouter-mcp/src/settings.ts"),
    start: async ({ config, ...parts }) =>
      (await import("./openrouter-mcp/src/openrouter-mcp.ts")).startOpenrouterMcp(config, parts),
  }),
  defineServer({
    name: "system-info-mcp",
    summary: "Is an MCP server that says what its machine or container sees.",
    port: 8483,
    egress: [],
    deployment: { requests: { cpu: "25m", memory: "64Mi" }, memoryLimit: "128Mi", reachedBy: "mcp-bridge" },
    settings: () => import("./system-info-mcp/src/settings.ts"),
    start: async ({ config, ...parts }) =>
      (await import("./system-info-mcp/src/system-info-mcp.ts")).startSystemInfoMcp(config, {
        ...parts,
        runtime: process,
      }),
  }),
] as const;

type Listed = (typeof listed)[number];

export type ServiceName = Listed["name"];

/** The way of the gateway to the dead letters of all services here. */
const letterAccess = (): LetterAccess => ({
  services: busServices.flatMap(({ name, topic }) => (topic === undefined ? [] : [name])),
  forms: async () => [(await import("./scripts-manager/src/tool/script-request-form.ts")).scriptRequestForm],
  connect: async ({ url, ...options }) =>
    (await import("@rockbot/process/run-on-bus")).connectAs(url, { name: "gateway for operators", ...options }),
});

/** Every service. */
export const services: readonly (BusService | Server)[] = listed;

/** The services on the bus, which `rockbot up` runs in one process. */
export const busServices: readonly BusService[] = services.filter((service) => service.onBus);

/** The entry of that name, with the types of its settings and of what it starts. */
export function serviceNamed<Name extends ServiceName>(name: Name): Extract<Listed, { readonly name: Name }> {
  return listed.find((service) => service.name === name) as Extract<Listed, { readonly name: Name }>;
}
