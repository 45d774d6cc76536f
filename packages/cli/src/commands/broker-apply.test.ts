import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { openPolicy } from "@rockbot/policy";
import { startOwnBroker, temporaryFolder } from "@rockbot/testing";
import { serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { runHere, startCli } from "../test-cli.ts";

const BEFORE = `
identity: verified
callers: { researcher: { allow: ["*"] }, leaver: { allow: ["*"] } }
services: { web-tools: { topic: tool.invoke } }
delegates: []
`;
const AFTER = BEFORE.replace(', leaver: { allow: ["*"] }', "");

const env = (overrides: Record<string, string> = {}) => ({
  ROCKBOT_PASSWORD_RESEARCHER: "pw-researcher",
  ROCKBOT_PASSWORD_LEAVER: "pw-leaver",
  ROCKBOT_PASSWORD_WEB_TOOLS: "pw-web-tools",
  ...overrides,
});

// Long because: it is one story of one broker
test("broker apply gives a running broker the policy's users, takes them back, and waits for one that is away or stalls", {
  timeout: 240_000,
}, async () => {
  using folder = temporaryFolder();
  const policy = join(folder.path, "policy.yaml");
  await using broker = await startOwnBroker({ hasManagement: true });
  const apply = (text: string, overrides: Record<string, string> = {}) => {
    writeFileSync(policy, text);
    return managementUrl().then((url) =>
      runHere(["broker", "apply", "--policy", policy], {
        folder: folder.path,
        env: env({ ROCKBOT_MANAGEMENT_URL: url, ...overrides }),
      }),
    );
  };
  const managementUrl = () => broker.managementUrl();
  const as = (user: string, password: string) =>
    connectBus(Object.assign(new URL(broker.url), { username: user, password }).href, {
      identity: "verified",
      connectTimeoutMs: 10_000,
    });
  const held = async () => {
    const { username, password, origin } = new URL(await managementUrl());
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    return (await fetch(`${origin}/api/definitions`, { headers: { authorization } })).json() as Promise<
      Record<string, readonly object[]>
    >;
  };
  await broker.importDefinitions({
    users: [{ name: "stranger", password: "pw-stranger", tags: "" }],
    permissions: [{ user: "stranger", vhost: "/", configure: "", write: "", read: "^theirs$" }],
  });

  const first = await apply(BEFORE);
  expect(first).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringMatching(/3 users: leaver, researcher, web-tools; \d+ changes\n$/),
  });
  for (const secret of [...Object.values(env()), new URL(await managementUrl()).password])
    expect(first.stderr).not.toContain(secret);
  await using leaver = await as("leaver", "pw-leaver");
  expect(leaver.traits).toMatchObject({ verifiesSender: true });
  await expect(as("researcher", "pw-leaver")).rejects.toThrow(/refuses/);
  expect(await held()).toMatchObject({
    policies: expect.arrayContaining([expect.objectContaining({ name: "rockbot-requests" })]),
    topic_permissions: expect.arrayContaining([
      expect.objectContaining({ user: "leaver", exchange: "rockbot.dlx.v1" }),
    ]),
  });
  expect(await apply(BEFORE)).toEqual({
    code: 0,
    stdout: "",
    stderr: "3 users: leaver, researcher, web-tools; nothing to change\n",
  });

  // More than the policy grants.
  await broker.importDefinitions({
    permissions: [{ user: "web-tools", vhost: "/", configure: ".*", write: ".*", read: ".*" }],
  });
  const second = await apply(AFTER, { ROCKBOT_PASSWORD_RESEARCHER: "pw-another" });
  expect(second.stderr.split("\n").sort()).toEqual([
    "",
    "2 users: researcher, web-tools; 3 changes",
    "delete the user leaver, which the policy no longer names",
    "set the password of researcher",
    "set the permissions of web-tools",
  ]);
  const after = await held();
  expect(after["users"]).not.toContainEqual(expect.objectContaining({ name: "leaver" }));
  await using _researcher = await as("researcher", "pw-another");
  expect(after["permissions"]).toContainEqual(expect.objectContaining({ user: "stranger", read: "^theirs$" })); // not RockBot's user

  const ROCKBOT_MANAGEMENT_URL = await managementUrl();
  const start = () =>
    startCli(["broker", "apply", "--policy", policy, "--timeout", "90"], {
      folder: folder.path,
      env: env({ ROCKBOT_MANAGEMENT_URL }),
    });
  await broker.pause();
  await using stalled = start();
  await expect.poll(stalled.stderr, { timeout: 30_000 }).toMatch(/^waiting for http:.*no answer within 5 s/);
  await broker.resume();
  expect(await stalled.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/; 1 change\n$/) }); // the password of before
  await broker.ctl("stop_app"); // half up: the node runs, and RabbitMQ does not
  await using away = start();
  await expect.poll(away.stderr, { timeout: 30_000 }).toMatch(/^waiting for http:.*ECONNREFUSED/);
  await broker.ctl("start_app");
  expect(await away.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/nothing to change\n$/) });
});

test("doctor tells a user of the broker without rights from one that has those of the policy", {
  timeout: 240_000,
}, async () => {
  using folder = temporaryFolder();
  const policy = folder.write("policy.yaml", AFTER);
  await using broker = await startOwnBroker({ hasManagement: true });
  const ROCKBOT_MANAGEMENT_URL = await broker.managementUrl();
  await runHere(["broker", "apply", "--policy", policy], { folder: folder.path, env: env({ ROCKBOT_MANAGEMENT_URL }) });
  const bus = Object.assign(new URL(broker.url), { username: "web-tools", password: "pw-web-tools" }).href;
  const doctor = () => runHere(["doctor", "--policy", policy, "--bus", bus], { folder: folder.path, env: env() });

  await expect
    .poll(async () => (await doctor()).stdout, { timeout: 60_000 })
    .toMatch(/^ok +identity +verified by the broker/m);
  {
    await using inForce = await openPolicy(policy);
    await using served = await connectBus(bus, { identity: "verified", name: "web-tools" });
    await using _tools = await serveTools(
      served,
      { tools: [] },
      { service: "web-tools", topic: "tool.invoke", policy: inForce },
    );
    const reader = Object.assign(new URL(broker.url), { username: "researcher", password: "pw-researcher" }).href;
    const compared = (file: string) =>
      runHere(["doctor", "--policy", file, "--bus", reader], { folder: folder.path, env: env() });
    const same = /^ok +policy +\S+, revision (\w+).*^ok +policy in force web-tools: revision \1$/ms;
    await expect.poll(async () => (await compared(policy)).stdout, { timeout: 60_000 }).toMatch(same);
    const differs = {
      code: 1,
      stdout: expect.stringMatching(/^broken +policy in force web-tools: revision \w+; the file's is \w+/m),
    };
    await expect.poll(() => compared(folder.write("other.yaml", BEFORE)), { timeout: 60_000 }).toMatchObject(differs);
  }
  await broker.importDefinitions({
    permissions: [{ user: "web-tools", vhost: "/", configure: "^$", write: "^$", read: "^$" }],
  });
  const lacks = /^broken +identity +the user "web-tools" lacks rights of the policy/m;
  // A busy machine's broker may answer no handshake in the time that doctor gives it.
  await expect.poll(doctor, { timeout: 120_000 }).toMatchObject({ code: 1, stdout: expect.stringMatching(lacks) });
});

test("broker apply ends with the reason where no broker gets ready, and where one refuses", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const policy = join(folder.path, "policy.yaml");
  writeFileSync(policy, AFTER);
  await using server = await startAnswers();
  const apply = (path: string, url = server.url) =>
    runHere(["broker", "apply", "--policy", policy, "--timeout", "1"], {
      folder: folder.path,
      env: env({ ROCKBOT_MANAGEMENT_URL: `${url}${path}` }),
    });
  const failed = (reason: RegExp) => ({ code: 1, stdout: "", stderr: expect.stringMatching(reason) });

  expect(await apply("/503")).toEqual(failed(/was not ready within 1 s \(it answers with status 503\)/));
  expect(await apply("/404")).toEqual(failed(/not the management API of RabbitMQ/));
  expect(await apply("/302")).toEqual(failed(/it answers with status 302/));
  const secure = server.url.replace("http:", "https:");
  expect(await apply("", secure)).toEqual(
    failed(/was not ready within 1 s \(the other side speaks no TLS on this port\)/),
  );
  expect(await apply("/401")).toEqual(failed(/was not ready within 1 s \(Login failed\)/));
});

test("broker apply says every fault of its settings at once, and shows none of their values", async () => {
  using folder = temporaryFolder();
  const result = await runHere(["broker", "apply", "--timeout", "0", "--vhost", ""], {
    folder: folder.path,
    env: { ROCKBOT_MANAGEMENT_PASSWORD: "hidden-one", ROCKBOT_MANAGEMENT_PASSWORD_FILE: "x" },
  });
  expect(result.code).toBe(2);
  for (const fault of [
    /--policy: missing/,
    /--management: missing/,
    /--timeout: expected/,
    /--vhost: expected/,
    /ROCKBOT_MANAGEMENT_PASSWORD: set together/,
  ]) {
    expect(result.stderr).toMatch(fault);
  }
  expect(result.stderr).not.toContain("hidden-one");
});

/** Answers each request with the status that its path begins with. */
async function startAnswers() {
  const server = createServer((request, response) => {
    response
      .writeHead(Number(/^\/(\d+)/.exec(String(request.url))?.[1]), { location: "/200" })
      .end(JSON.stringify({ reason: "Login failed" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://admin:pw-admin@127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
