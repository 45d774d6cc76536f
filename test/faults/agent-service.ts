/**
 * An agent as a process of its own: `node agent-service.ts JSON`. Makes `calls` calls at once, says "asked" on stdout, and
 * when all have ended one line of JSON: its SettledCalls.
 */
import { connectBus } from "@rockbot/bus-rabbitmq";
import { createToolCaller } from "@rockbot/tools";
import { settleCall } from "./settle-calls.ts";

export interface AgentOptions {
  readonly busUrl: string;
  readonly agent: string;
  readonly tool: string;
  /** Begins the ids of its calls. */
  readonly prefix: string;
  readonly calls: number;
  readonly holdMs: number;
}

const { busUrl, agent, tool, prefix, calls, holdMs } = JSON.parse(process.argv[2] ?? "{}") as AgentOptions;
await using bus = await connectBus(busUrl, { name: agent });
await using caller = await createToolCaller(bus, { agent });
await caller.discovered();
const settled = Array.from({ length: calls }, (_, index) => settleCall(caller, tool, { id: `${prefix}-${index}`, holdMs }, { timeoutMs: 20_000 }));
process.stdout.write("asked\n");
process.stdout.write(`${JSON.stringify(await Promise.all(settled))}\n`);
