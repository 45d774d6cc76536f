import { loadConfig } from "@rockbot/process/config";
import { runService } from "@rockbot/process/run";
import { checkSystemInfoMcpConfig } from "./check-system-info-mcp-config.ts";
import { configSchema } from "./generated/config.ts";
import { startSystemInfoMcp } from "./system-info-mcp.ts";

await runService({
  service: "system-info-mcp",
  load: () => loadConfig(configSchema, { env: process.env, check: checkSystemInfoMcpConfig }),
  start: ({ config, log, signal }) => startSystemInfoMcp(config, { runtime: process, log, signal }),
});
