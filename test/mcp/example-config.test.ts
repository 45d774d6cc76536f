import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { parse } from "yaml";

const root = dirname(dirname(import.meta.dirname));
const read = <T>(file: string): T => parse(readFileSync(join(root, file), "utf8"), { merge: true }) as T;

interface Compose {
  readonly services: Readonly<Record<string, { readonly environment: Readonly<Record<string, string>> }>>;
}

interface Servers {
  readonly mcpServers: Readonly<Record<string, { readonly url: string; readonly auth: { readonly token: string } }>>;
}

test("the example of a file of servers works in the repository's folder", { timeout: 60_000 }, async () => {
  using folder = temporaryFolder(); // beside the file is kept what its servers say
  const file = folder.write("mcp.json", readFileSync(join(root, "docs/examples/mcp.json")));
  const args = ["call", "system-info__system_info", "{}", "--mcp-config", file];
  await using cli = startNodeProgram(join(root, "packages/cli/src/main.ts"), { args, cwd: root });
  expect([await cli.ended, cli.stderr()]).toEqual([0, ""]);
  expect(JSON.parse(cli.stdout())).toMatchObject({ runtime: { version: process.version } });
});

test.each(["docker/mcp/mcp.json", "docker/mcp/mcp.openrouter.json"])(
  "the servers in %s are services of the compose file, by name, port and token",
  (file) => {
    const { services } = read<Compose>("docker-compose.yml");
    const servers = Object.values(read<Servers>(file).mcpServers);
    expect(servers.length).toBeGreaterThan(0);
    for (const { url, auth } of servers) {
      const { hostname, port } = new URL(url);
      const schema = read<{ properties: { port: { default: number } } }>(`services/${hostname}/config.schema.yaml`);
      expect(schema.properties.port.default).toBe(Number(port));
      const token = auth.token.replaceAll(/[${}]/g, "");
      expect(services["mcp-bridge"]?.environment[`${token}_FILE`]).toBe(`/run/rockbot/${token}`);
      expect(services[hostname]?.environment).toMatchObject({
        ALLOWED_HOSTS: hostname,
        MCP_TOKEN_FILE: "/run/rockbot/MCP_TOKEN",
      });
    }
  },
);
