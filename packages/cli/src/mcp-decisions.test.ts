import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { faultServer, temporaryFolder } from "@rockbot/testing";
import { openFileTrustStore, Registrations, type RequestedServer } from "@rockbot/trust";
import { expect, test } from "vitest";
import { runHere, startUp } from "./test-cli.ts";

const program = (name: string): RequestedServer => ({
  name,
  address: { kind: "command", command: `/usr/bin/${name}`, args: [], env: {} },
});
const hashOf = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;

/**
 * A file of servers whose lock file says that an agent has registered `extra` of the catalogue, and asks for two
 * programs.
 */
async function writeServers(folder: string): Promise<string> {
  const file = join(folder, "mcp.json");
  writeFileSync(file, JSON.stringify({ mcpServers: { works: faultServer() }, catalogue: { extra: faultServer() } }));
  await using store = openFileTrustStore(join(folder, "mcp.lock.json"));
  const registrations = new Registrations(store);
  for (const name of ["wanted", "unwanted"]) await registrations.ask(program(name), "helper");
  await registrations.register(
    { name: "extra", address: { kind: "catalogue" } },
    { agent: "helper", by: "the catalogue", maxPerAgent: 5 },
  );
  return file;
}

test("mcp reject refuses what an agent asks for, and mcp remove takes away what it has, from the running bridge", {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  await using _up = await startUp({ ...options, env: { REGISTRATION: "on" } }, [
    "--mcp-config",
    await writeServers(folder.path),
  ]);
  const listed = async () => (await runHere(["mcp", "ls"], options)).stdout;
  await expect.poll(listed, { timeout: 20_000, interval: 200 }).toMatch(/^extra +ready/m);

  expect(await runHere(["mcp", "reject", "unwanted"], options)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^unwanted: a server that the agent "helper" asks for, since .*\n {2}command: "\/usr\/bin\/unwanted"/,
    ),
    stderr: expect.stringContaining("Nothing is rejected. Add --yes"),
  });
  expect(await runHere(["mcp", "reject", "unwanted", "--yes"], options)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("rejected unwanted"),
  });
  expect(await runHere(["mcp", "reject", "unwanted", "--yes"], options)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("There are: wanted"),
  });

  expect(await runHere(["mcp", "approve"], options)).toMatchObject({
    stderr: expect.stringContaining("1 wait for an approval, and 1 is rejected"),
  });
  expect(await runHere(["mcp", "approve", "unwanted", "--yes"], options)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^unwanted: a server that the agent "helper" may not have, as .* has rejected .*\n {2}command: "\/usr\/bin\/unwanted"/,
    ),
    stderr: expect.stringContaining("approved unwanted"),
  });
  expect(await runHere(["mcp", "approve", "unwanted", "--yes"], options)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Nothing of"),
  });

  expect(await runHere(["mcp", "remove", "works", "--yes"], options)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("There are: extra"),
  }); // the operator's own
  expect(await runHere(["mcp", "remove", "EXTRA", "--yes"], options)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("removed extra"),
  });
  await expect.poll(listed, { timeout: 20_000, interval: 200 }).not.toContain("extra");
});

test("with nothing running they decide in the file beside that of the servers, and what is removed can be approved after all", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  const at = ["--yes", "--mcp-config", await writeServers(folder.path)];
  expect(await runHere(["mcp", "reject", "unwanted", ...at], options)).toMatchObject({ code: 0 });
  expect(await runHere(["mcp", "remove", "extra", ...at], options)).toMatchObject({ code: 0 });
  await using store = openFileTrustStore(join(folder.path, "mcp.lock.json"));
  const { asked, registered } = await new Registrations(store).read();
  expect([
    registered,
    asked.filter(({ rejectedBy }) => rejectedBy !== undefined).map(({ request }) => request.name),
  ]).toEqual([[], ["unwanted", "extra"]]);
  expect(await runHere(["mcp", "approve", "extra", ...at], options)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("approved extra"),
  });
});

test("mcp reject refuses a tool that is held; it is off the list, waits no more, and can be approved after all", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  const file = join(folder.path, "mcp.json");
  writeFileSync(file, JSON.stringify({ mcpServers: { works: faultServer() } }));
  const held = {
    name: "echo",
    hash: "1".repeat(64),
    shape: "2".repeat(64),
    reason: "changed",
    at: "2026-01-01T00:00:00.000Z",
  };
  {
    await using store = openFileTrustStore(join(folder.path, "mcp.lock.json"));
    await store.write("pins/works", { server: "works", pins: [], held: [held, { ...held, name: "hang" }] }, undefined);
  }
  const at = ["--yes", "--mcp-config", file];
  expect(await runHere(["mcp", "reject", "works", "no_such", ...at], options)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("There are: works"),
  });
  expect(await runHere(["mcp", "reject", "works", "echo", ...at], options)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^works: the tool "echo" has changed since it was approved; held since/),
    stderr: expect.stringContaining("rejected works: echo; it stays held"),
  });
  const listed = await runHere(["mcp", "approve", "--mcp-config", file], options);
  expect(listed).toMatchObject({
    stdout: expect.stringMatching(/^works: the tool "hang" (?!.*"echo")/s),
    stderr: expect.stringContaining("1 wait for an approval, and 1 is rejected (of works)"),
  });
  expect(await runHere(["mcp", "approve", "works", "echo", ...at], options)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/"echo" .*, and rejected by "/),
    stderr: expect.stringContaining("approved works: echo"),
  });
});

test("an operator's token decides from elsewhere what a socket does here, and no other token does", {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  const file = await writeServers(folder.path);
  const policy = join(folder.path, "policy.yaml");
  const tokenOf = (name: string) => `{ tokens: [{ hash: "${hashOf(`token-of-${name}`)}" }] }`;
  writeFileSync(
    policy,
    `everyone: { allow: ["*"] }\ncallers: { helper: ${tokenOf("helper")} }\noperators: [{ name: ops, ${tokenOf("ops").slice(1)}]\n`,
  );
  await using up = await startUp({ folder: folder.path, env: { REGISTRATION: "on" } }, [
    "--mcp-config",
    file,
    "--policy",
    policy,
  ]);
  const send = async (path: string, by: string | undefined, decided?: object) => {
    const headers = {
      "content-type": "application/json",
      ...(by === undefined ? {} : { authorization: `Bearer token-of-${by}` }),
    };
    const body = decided === undefined ? {} : { method: "POST", body: JSON.stringify(decided) };
    const response = await fetch(`${up.url}/operator/mcp/${path}`, { headers, ...body });
    return {
      status: response.status,
      ...((await response.json()) as { servers?: { server: string; digest: string }[] }),
    };
  };
  for (const by of [undefined, "helper"])
    for (const [path, decided] of [
      ["approvals"],
      ["approvals", { tools: [], servers: [] }],
      ["rejections"],
      ["rejections", {}],
      ["registrations"],
      ["removals", {}],
    ] as const)
      expect((await send(path, by, decided)).status).toBe(401);

  const { servers: waiting = [] } = await send("approvals", "ops");
  expect(waiting).toMatchObject([{ server: "wanted", agent: "helper" }, { server: "unwanted" }]);
  expect(await send("approvals", "ops", { tools: [], servers: waiting.slice(0, 1) })).toEqual({
    status: 200,
    approved: ["wanted"],
    stale: [],
    problems: [],
  });
  expect(await send("rejections", "ops", { servers: waiting.slice(1) })).toEqual({
    status: 200,
    done: ["unwanted"],
    stale: [],
    problems: [],
  });
  expect(await send("approvals", "ops")).toMatchObject({ servers: [] });
  const { servers: rejected = [] } = await send("rejections", "ops");
  expect(rejected).toMatchObject([{ server: "unwanted", agent: "helper" }]);
  expect(await send("approvals", "ops", { tools: [], servers: rejected })).toEqual({
    status: 200,
    approved: ["unwanted"],
    stale: [],
    problems: [],
  });
  const { servers: registered = [] } = await send("registrations", "ops");
  expect(registered).toMatchObject([{ server: "extra", by: "the catalogue" }]);
  expect(await send("removals", "ops", { servers: registered })).toEqual({
    status: 200,
    done: ["extra"],
    stale: [],
    problems: [],
  });
  for (const path of ["approvals", "rejections", "removals"])
    expect((await send(path, "ops", { servers: "all" })).status).toBe(400);
  expect((await send("removals", "ops")).status).toBe(404);
});
