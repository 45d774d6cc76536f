import { loadConfig } from "@rockbot/process/config";
import { runBusService } from "@rockbot/process/run-on-bus";
import { checkWebToolsConfig } from "./check-web-tools-config.ts";
import { configSchema } from "./generated/config.ts";
import { startWebTools } from "./web-tools.ts";

await runBusService({
  service: "web-tools",
  load: () => loadConfig(configSchema, { env: process.env, check: checkWebToolsConfig }),
  start: ({ bus, config, ...parts }) => startWebTools(bus, config, parts),
});
