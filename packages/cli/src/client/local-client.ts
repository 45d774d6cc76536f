import { createMemoryBus } from "@rockbot/bus";
import { loadConfig } from "@rockbot/config";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { openPolicy } from "@rockbot/policy";
import { createToolCaller } from "@rockbot/tools";
import { checkWebToolsConfig, configSchema, startWebTools, webToolsOff } from "@rockbot/web-tools";
import { MEMORY_BUS } from "../bus-url.ts";
import { callerClient } from "./caller-client.ts";
import type { ToolClient } from "./tool-client.ts";

export interface LocalClientOptions {
  readonly allowAddress: readonly string[];
  readonly policyFile: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Starts the tools' owner in this process, over a bus of its own. */
export async function openLocalClient({ allowAddress, policyFile, env }: LocalClientOptions): Promise<ToolClient> {
  const overrides = { busUrl: MEMORY_BUS, ...(allowAddress.length > 0 ? { allowAddresses: allowAddress } : {}) };
  const config = loadConfig(configSchema, { env, overrides, check: checkWebToolsConfig });
  await using started = new AsyncDisposableStack();
  const bus = started.use(createMemoryBus());
  const policy = started.use(await openPolicy(policyFile));
  started.use(await startWebTools(bus, config, { policy }));
  const caller = started.use(await createToolCaller(bus, { agent: "cli", results: "copy", policy }));
  const client = callerClient("this process", caller, started.move());
  return {
    ...client,
    async call(name, args, options) {
      const off = webToolsOff(config).find(({ tool }) => tool === name);
      if (off !== undefined) throw new ToolError(ToolErrorCode.Unavailable, `Cannot call "${name}": it is off. ${off.reason}`, { isRetryable: false });
      return await client.call(name, args, options);
    },
  };
}
