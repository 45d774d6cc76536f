import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "@rockbot/bus";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { watchServers } from "./watch-servers.ts";

test("a token that lies in a file is taken from there, and taken anew when the file changes", async () => {
  await using folder = await temporaryFolder();
  const [file, token] = [join(folder.path, "mcp.json"), join(folder.path, "token")];
  await writeFile(token, "first-token-of-a-server\n");
  await writeFile(
    file,
    JSON.stringify({
      mcpServers: { one: { type: "http", url: "http://one/mcp", auth: { type: "bearer", token: `\${ONE_TOKEN}` } } },
    }),
  );
  const seen: unknown[] = [];

  await using _watch = watchServers(file, ({ servers }) => seen.push(servers[0]?.address), {
    env: { ONE_TOKEN_FILE: token },
    log: silentLogger,
    everyMs: 10,
  });
  await expect
    .poll(() => seen)
    .toContainEqual(expect.objectContaining({ headers: { authorization: "Bearer first-token-of-a-server" } }));

  await writeFile(token, "second-token-of-a-server\n");
  await expect
    .poll(() => seen)
    .toContainEqual(expect.objectContaining({ headers: { authorization: "Bearer second-token-of-a-server" } }));
});

test("what an envFile says is taken anew when that file changes, also after it was away", async () => {
  await using folder = await temporaryFolder();
  const [file, variables] = [join(folder.path, "mcp.json"), join(folder.path, "servers.env")];
  await writeFile(variables, "KEY=first-key-of-a-server\n");
  await writeFile(file, JSON.stringify({ mcpServers: { one: { command: "x", envFile: "servers.env" } } }));
  const seen: unknown[] = [];
  await using _watch = watchServers(file, ({ servers }) => seen.push(servers[0]?.address), {
    env: {},
    log: silentLogger,
    everyMs: 10,
  });

  for (const key of ["second-key-of-a-server", "third-key-of-a-server"]) {
    await rm(variables);
    await writeFile(variables, `KEY=${key}\n`);
    await expect
      .poll(() => seen)
      .toContainEqual(expect.objectContaining({ env: expect.objectContaining({ KEY: key }) }));
  }
});
