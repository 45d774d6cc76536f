/**
 * An MCP server on port 8491 of its container, whose tool has an effect: a line `effect ID` on stdout for each run. It
 * outlives what calls it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { serveMcpHttp } from "@rockbot/mcp/standalone";

const RUN_MS = 50;

await serveMcpHttp(
  {
    name: "ledger",
    version: "1.0.0",
    tools: [
      {
        name: "note",
        description: "Notes an id.",
        inputSchema: {
          type: "object",
          required: ["id"],
          additionalProperties: false,
          properties: { id: { type: "string" } },
        },
        isReadOnly: false,
        async run({ id }) {
          process.stdout.write(`effect ${id}\n`);
          await sleep(RUN_MS);
          return String(id);
        },
      },
    ],
  },
  {
    host: "0.0.0.0",
    port: 8491,
    allowedHosts: ["ledger"],
    allowedOrigins: [],
    token: () => process.env["LEDGER_TOKEN"] ?? "token-of-the-ledger",
    maxConcurrent: 1_000,
    drainMs: 1_000,
  },
);
