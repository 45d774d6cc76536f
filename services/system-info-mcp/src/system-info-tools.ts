import { version } from "@rockbot/base/version";
import type { ServedTool, ServedTools } from "@rockbot/mcp/standalone";
import { diskInfo } from "./tools/disk-info.ts";
import { networkInfo } from "./tools/network-info.ts";
import { type Runtime, systemInfo } from "./tools/system-info.ts";

/** The facts that this machine gives of itself. Each result is JSON, sizes are in bytes. */
export function systemInfoTools(runtime: Runtime): ServedTools {
  return {
    name: "system-info",
    version,
    instructions:
      "The machine that this server runs on: its system, processors, memory, disks and networks. Everything is read only, and given as JSON.",
    tools: [
      reading(
        "system_info",
        "The machine's operating system, processors, load, memory, time since its start, and the runtime of this server.",
        async () => systemInfo(runtime),
      ),
      reading("disk_info", "How full each fixed drive of the machine is.", diskInfo),
      reading("network_info", "The machine's network interfaces with their IP addresses.", async () => networkInfo()),
    ],
  };
}

const reading = (name: string, description: string, read: () => Promise<object>): ServedTool => ({
  name,
  description,
  inputSchema: { type: "object", additionalProperties: false, properties: {} },
  isReadOnly: true,
  run: async () => JSON.stringify(await read()),
});
