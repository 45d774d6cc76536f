import { serveMcpStdio } from "@rockbot/mcp/standalone";
import { systemInfoTools } from "../system-info-tools.ts";

// The server as a program that a client starts, such as the bridge; it ends with its client. Its stdout is the
// protocol's alone.
await using server = serveMcpStdio(systemInfoTools(process), { input: process.stdin, output: process.stdout });
await server.ended;
