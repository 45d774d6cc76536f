import { loadConfig } from "@rockbot/process/config";
import { runBusService } from "@rockbot/process/run-on-bus";
import { checkScriptsManagerConfig } from "./check-scripts-manager-config.ts";
import { createRunner, createRunnerPackages } from "./create-runner.ts";
import { configSchema } from "./generated/config.ts";
import { SCRIPTS_MANAGER, startScriptsManager } from "./scripts-manager.ts";

const { env } = process;

await runBusService({
  service: SCRIPTS_MANAGER,
  load: () => loadConfig(configSchema, { env, check: checkScriptsManagerConfig }),
  async start({ bus, config, ...parts }) {
    await using started = new AsyncDisposableStack();
    const packages = started.use(await createRunnerPackages(config, { ...parts, env }));
    const { runner, mustNotReach } = started.use(await createRunner(config, { ...parts, env }));
    started.use(await startScriptsManager(bus, config, { ...parts, runner, packages, mustNotReach }));
    return started.move();
  },
});
