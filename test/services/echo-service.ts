/**
 * A tool service as a process of its own: `node echo-service.ts AMQP_URL`. Each line on stdout is one effect of `echo`,
 * and its first line says that it is ready.
 */
import { connectBus } from "@rockbot/bus-rabbitmq";
import type { ToolDefinition, Validator } from "@rockbot/contracts";
import { defineTool, serveTools } from "@rockbot/tools";

const definition: ToolDefinition<{ readonly id: string }> = {
  name: "echo",
  description: "Gives back its argument.",
  inputSchema: { type: "object" },
  readOnly: false,
  idempotent: true,
  validateInput: ((value: unknown) => typeof (value as { id?: unknown }).id === "string") as Validator<{
    readonly id: string;
  }>,
};
const echo = defineTool(definition, async ({ id }) => {
  process.stdout.write(`${id}\n`);
  return id;
});

// How much memory is really in use, when asked: needs --expose-gc.
process.on("SIGUSR2", () => {
  globalThis.gc?.();
  process.stderr.write(`heap ${Math.round(process.memoryUsage().heapUsed / 1024)}\n`);
});

await using bus = await connectBus(process.argv[2] ?? "", { name: "echo-service" });
await using _tools = await serveTools(
  bus,
  { tools: [echo], guides: [{ name: "echo", summary: "Echoes.", document: "# Echo" }] },
  { service: "echo" },
);
process.stdout.write("ready\n");
await new Promise((resolve) => process.once("SIGTERM", resolve));
