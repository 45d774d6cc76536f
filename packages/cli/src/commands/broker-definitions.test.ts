import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { startOwnBroker, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { runHere } from "../test-cli.ts";

const POLICY = `
identity: verified
callers: { researcher: { allow: ["*"] } }
services: { web-tools: { topic: tool.invoke } }
delegates: [gateway]
`;

const PASSWORDS = {
  ROCKBOT_PASSWORD_RESEARCHER: "pw-researcher",
  ROCKBOT_PASSWORD_WEB_TOOLS: "pw-web-tools",
  ROCKBOT_PASSWORD_GATEWAY: "pw-gateway",
};

function policyIn(folder: string): string {
  const file = join(folder, "policy.yaml");
  writeFileSync(file, POLICY);
  return file;
}

test("broker definitions are what a broker imports: users who can connect with their passwords, and only they", {
  timeout: 90_000,
}, async () => {
  using folder = temporaryFolder();
  const out = join(folder.path, "definitions.json");
  const result = await runHere(["broker", "definitions", "--policy", policyIn(folder.path), "--out", out], {
    folder: folder.path,
    env: PASSWORDS,
  });
  expect(result).toEqual({ code: 0, stdout: "", stderr: "3 users: gateway, researcher, web-tools\n" });
  expect(statSync(out).mode & 0o777).toBe(0o600);
  const text = readFileSync(out, "utf8");
  for (const password of Object.values(PASSWORDS)) expect(text).not.toContain(password);

  await using broker = await startOwnBroker();
  await broker.importDefinitions(JSON.parse(text) as object);
  const as = (user: string, password: string) => {
    const url = new URL(broker.url);
    Object.assign(url, { username: user, password });
    return connectBus(url.href, { identity: "verified", connectTimeoutMs: 10_000 });
  };
  await using agent = await as("researcher", "pw-researcher");
  expect(agent.traits).toMatchObject({ verifiesSender: true, user: "researcher" });
  await expect(as("researcher", "pw-gateway")).rejects.toThrow(/refuses/);
});

test("broker definitions name every missing password at once, and show none", async () => {
  using folder = temporaryFolder();
  const env = { ROCKBOT_PASSWORD_GATEWAY: "short", ROCKBOT_PASSWORD_WEB_TOOLS_FILE: join(folder.path, "nowhere") };
  const { code, stderr } = await runHere(
    ["broker", "definitions", "--policy", policyIn(folder.path), "--out", join(folder.path, "out.json")],
    {
      folder: folder.path,
      env,
    },
  );

  expect(code).toBe(2);
  expect(stderr).toMatch(/ROCKBOT_PASSWORD_GATEWAY: has fewer than 8 characters/);
  expect(stderr).toMatch(/ROCKBOT_PASSWORD_RESEARCHER: not set/);
  expect(stderr).toMatch(/ROCKBOT_PASSWORD_WEB_TOOLS_FILE: the file that it names cannot be read \(ENOENT\)/);
  expect(stderr).not.toContain("short\n");
});

test("broker definitions replace a file of one's own, and never one that others can read", async () => {
  using folder = temporaryFolder();
  const out = join(folder.path, "definitions.json");
  const write = () =>
    runHere(["broker", "definitions", "--policy", policyIn(folder.path), "--out", out], {
      folder: folder.path,
      env: PASSWORDS,
    });
  writeFileSync(out, "before");
  chmodSync(out, 0o644);
  expect(await write()).toMatchObject({ code: 1, stderr: expect.stringMatching(/others can read/) });
  expect(readFileSync(out, "utf8")).toBe("before");
  chmodSync(out, 0o600);
  expect(await write()).toMatchObject({ code: 0 });
  expect(readFileSync(out, "utf8")).not.toBe("before");
});
