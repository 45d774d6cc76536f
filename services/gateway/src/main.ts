import { loadConfig } from "@rockbot/process/config";
import { runBusService } from "@rockbot/process/run-on-bus";
import { checkGatewayConfig } from "./check-gateway-config.ts";
import { startGateway } from "./gateway.ts";
import { configSchema } from "./generated/config.ts";

await runBusService({
  service: "gateway",
  load: () => loadConfig(configSchema, { env: process.env, check: checkGatewayConfig }),
  start: async ({ audit, bus, config, log, policy, signal, records }) =>
    startGateway(bus, config, { audit, log, journals: await records.journals(), policy, signal }),
});
