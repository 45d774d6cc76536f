import { loadConfig } from "@rockbot/config";
import { runBusService } from "@rockbot/service/run-on-bus";
import { checkWebToolsConfig } from "./check-web-tools-config.ts";
import { configSchema } from "./generated/config.ts";
import { startWebTools } from "./web-tools.ts";

await runBusService({
  service: "web-tools",
  load: () => loadConfig(configSchema, { env: process.env, check: checkWebToolsConfig }),
  async start({ bus, config, inRedis, ...parts }) {
    const rates = await inRedis(async (...at) => (await import("@rockbot/rates/redis")).connectRedisRateStore(...at));
    return startWebTools(bus, config, { ...parts, rates });
  },
});
