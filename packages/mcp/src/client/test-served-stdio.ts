import { serveMcpStdio } from "../serve/standalone/serve-mcp-stdio.ts";

// A server of ours as a program, which ends with its client.
await using server = serveMcpStdio(
  {
    name: "served",
    version: "1.0.0",
    tools: [
      {
        name: "echo",
        description: "Echoes.",
        inputSchema: { type: "object" },
        isReadOnly: true,
        run: async ({ text }) => String(text),
      },
    ],
  },
  { input: process.stdin, output: process.stdout },
);
await server.ended;
