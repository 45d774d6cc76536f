/**
 * A service with a tool that has effects, built as CONTRIBUTING says: `node recipe-service.ts NAME`, configured by BUS_URL and REDIS_URL. Each line of
 * its stdout that is no log is one effect of its tool `{NAME}`.
 */
import type { ToolDefinition, Validator } from "@rockbot/contracts";
import { runBusService } from "@rockbot/process/run-on-bus";
import { defineTool, serveTools } from "@rockbot/tools";

const name = process.argv[2] ?? "";
const definition: ToolDefinition<{ readonly id: string }> = {
  name,
  description: "Notes that it has run.",
  inputSchema: { type: "object" },
  readOnly: false,
  idempotent: false,
  validateInput: ((value: unknown) => typeof (value as { id?: unknown }).id === "string") as Validator<{ readonly id: string }>,
};
const tool = defineTool(definition, async ({ id }) => {
  process.stdout.write(`effect ${id}\n`);
  return id;
});
const { BUS_URL: busUrl = "", REDIS_URL: redisUrl } = process.env;

await runBusService({
  service: name,
  load: () => ({ busUrl, redisUrl, busHeartbeatSeconds: 10, busSilenceMs: 2_000, shutdownGraceMs: 5_000, logLevel: "info" as const, healthHost: "127.0.0.1" }),
  start: ({ bus, config: _, ...parts }) =>
    serveTools(bus, { tools: [tool], guides: [{ name, summary: "Acts.", document: "# Act" }] }, { service: name, ...parts }),
});
