import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { stdioServers } from "../mcp/real-servers.ts";

/** A tool's definition, as a model's API takes it. */
export interface Definition {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
}

/** The definitions of tools of public MCP servers, as those say them. */
export async function realTools(): Promise<readonly Definition[]> {
  const folder = await mkdtemp(join(tmpdir(), "rockbot-search-"));
  const found: Definition[] = [];
  try {
    for (const [server, { command = "", args = [], env = {} }] of Object.entries(stdioServers(folder))) {
      const client = new Client({ name: "measure", version: "1.0.0" });
      await client.connect(new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr: "ignore" }));
      const { tools } = await client.listTools();
      for (const { name, description = "", inputSchema } of tools)
        found.push({ name: `${server}__${name}`, description, parameters: inputSchema });
      await client.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return found;
}
