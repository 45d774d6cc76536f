import { loadConfig } from "@rockbot/process/config";
import { runService } from "@rockbot/process/run";
import { checkOpenrouterMcpConfig } from "./check-openrouter-mcp-config.ts";
import { configSchema } from "./generated/config.ts";
import { startOpenrouterMcp } from "./openrouter-mcp.ts";

await runService({
  service: "openrouter-mcp",
  load: () => loadConfig(configSchema, { env: process.env, check: checkOpenrouterMcpConfig }),
  start: ({ config, log, signal }) => startOpenrouterMcp(config, { log, signal }),
});
