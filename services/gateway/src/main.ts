import { loadConfig } from "@rockbot/config";
import { runBusService } from "@rockbot/process/run-on-bus";
import { checkGatewayConfig } from "./check-gateway-config.ts";
import { startGateway } from "./gateway.ts";
import { configSchema } from "./generated/config.ts";

await runBusService({
  service: "gateway",
  load: () => loadConfig(configSchema, { env: process.env, check: checkGatewayConfig }),
  async start({ audit, bus, config, log, policy, signal, inRedis }) {
    const journals = await inRedis(async (...at) => (await import("@rockbot/records/journal/redis")).connectRedisJournalStore(...at));
    return startGateway(bus, config, { audit, log, journals, policy, signal });
  },
});
