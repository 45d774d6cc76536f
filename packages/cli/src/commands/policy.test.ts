import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { runHere, startPage, startUp } from "../test-cli.ts";

function policyFile(folder: string, text: string): string {
  const file = join(folder, "policy.yaml");
  writeFileSync(file, text);
  return file;
}

test("policy check says that a file can be used, or all that is wrong with it", async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  const good = policyFile(folder.path, "callers: { reader: { allow: [web_browse] } }");
  expect(await runHere(["policy", "check", good], options)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/can be used: revision [0-9a-f]{12}, identity trusted, 1 caller, 0 services\n$/),
    stderr: expect.stringMatching(
      /^rockbot: callers that are not named may use no tool: .*\nrockbot: nothing is denied after untrusted content was read: .*\n$/,
    ),
  });
  const bad = policyFile(folder.path, "callers:\n  reader:\n    alow: []\nidentity: certain\n");
  expect(await runHere(["policy", "check", bad], options)).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(
      /2 faults\n.*identity, line 4: expected one of.*\n.*callers\.reader, line 3: unknown property "alow"/,
    ),
  });
  expect(await runHere(["policy", "check", "/nonexistent"], options)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("ENOENT"),
  });
});

test("policy explain says which line decides, and policy table shows all of it", async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  const file = policyFile(
    folder.path,
    "everyone:\n  deny: [web_search]\n  allow: ['*']\n  rules: [{ tools: ['*'], rate: { calls: 5, perSeconds: 1 } }]\n",
  );
  const denied = await runHere(["policy", "explain", "anybody", "web_search", "--policy", file], options);
  expect(denied).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"anybody" may not use "web_search": "web_search" in everyone.deny.0, line 2'),
  });
  const allowed = await runHere(["policy", "explain", "anybody", "web_browse", "--policy", file, "--json"], options);
  expect(JSON.parse(allowed.stdout)).toMatchObject({
    isAllowed: true,
    isAllowedAfterUntrusted: true,
    rates: [{ scope: "tool", amount: 5, perMs: 1_000 }],
    inFlight: 256,
  });
  const none = await runHere(["policy", "explain", "anybody", "bash"], options);
  expect(none.stdout).toContain(
    "the tool is dangerous, and nothing in everyone.allow names it in full\nrevision default",
  );
  const { stdout } = await runHere(["policy", "table", file], options);
  expect(stdout).toContain("| everyone else | yes: 5 in 1 s");
  const strict = policyFile(
    folder.path,
    "everyone: { allow: ['*', execute_python_script], afterUntrusted: { effects: deny } }\n",
  );
  const script = await runHere(["policy", "explain", "anybody", "execute_python_script", "--policy", strict], options);
  expect(script.stdout).toContain(
    "once untrusted content was read: denied: nothing in everyone.afterUntrusted, line 1 names it\n",
  );
});

test("doctor and up say what callers may use that are not named", { timeout: 120_000 }, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  const file = policyFile(folder.path, "callers: { gateway: { allow: [web_browse] } }");
  const words = "callers that are not named may use no tool";
  await using up = await startUp(options, ["--policy", file]);
  expect(up.stderr()).toContain(words);
  expect((await runHere(["doctor", "--policy", file], options)).stdout).toMatch(
    new RegExp(`^ok +policy .*${words}`, "m"),
  );
});

test("a call in this process is held to the policy, and tools lists what it leaves", async () => {
  using folder = temporaryFolder();
  await using page = await startPage();
  const options = { folder: folder.path };
  const file = policyFile(folder.path, "everyone: { allow: [web_search] }");
  const call = ["call", "web_browse", JSON.stringify({ url: page.url() }), "--allow-address", page.address];
  expect(await runHere([...call, "--policy", file], options)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("denied"),
  });
  expect(await runHere(call, options)).toMatchObject({ code: 0 });
  expect((await runHere(["tools", "--json"], { ...options, env: { POLICY_FILE: file } })).stdout).not.toContain(
    'web_browse"',
  );
});
