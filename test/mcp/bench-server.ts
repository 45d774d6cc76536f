/**
 * MCP servers that do nothing, for measurements. `bench-server.ts --stdio TOOLS` is one over stdio; `bench-server.ts
 * SERVERS TOOLS TOKEN` is so many over HTTP, each on a port of its own; their addresses come on stdout, one a line.
 */
import { type ServedTools, serveMcpHttp, serveMcpStdio } from "@rockbot/mcp/standalone";

const [first = "1", tools = "1", token = ""] = process.argv.slice(2);

const served = (count: number): ServedTools => ({
  name: "bench",
  version: "1.0.0",
  tools: Array.from({ length: count }, (_, i) => ({
    name: `echo_${i}`,
    description: `Gives back the text that it is given. It is the tool number ${i} of those that are here to be listed.`,
    inputSchema: {
      type: "object",
      required: ["text"],
      properties: { text: { type: "string", description: "What to give back." } },
    },
    isReadOnly: true,
    run: async ({ text }) => String(text),
  })),
});

if (first === "--stdio") {
  await using server = serveMcpStdio(served(Number(tools)), { input: process.stdin, output: process.stdout });
  await server.ended;
} else {
  const options = {
    host: "127.0.0.1",
    port: 0,
    token: () => token,
    allowedHosts: [],
    allowedOrigins: [],
    maxConcurrent: 256,
    drainMs: 1_000,
  };
  for (let i = 0; i < Number(first); i++)
    process.stdout.write(`${(await serveMcpHttp(served(Number(tools)), options)).url}\n`);
}
