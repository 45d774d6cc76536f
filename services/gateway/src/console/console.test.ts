import { createHash } from "node:crypto";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createPolicy, holdPolicy, type PolicyHolder, readPolicy } from "@rockbot/policy";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { createLocalOperator } from "../operators/local-operator.ts";
import { startTestGateway } from "../test-gateway.ts";

const json = { "content-type": "application/json" };
const OPS = "token-of-the-operator";
const hash = (token: string): string => `"sha256:${createHash("sha256").update(token).digest("hex")}"`;
const POLICY = `
callers: { researcher: { allow: [echo], tokens: [{ hash: ${hash("token-of-the-researcher")} }] } }
operators: [{ name: ops, tokens: [{ hash: ${hash(OPS)} }] }]
`;
const policyOf = async (yaml = POLICY) => createPolicy(await readPolicy(yaml, "policy.yaml"));

/** A folder without a page. */
const EMPTY = import.meta.dirname;

type Gateway = Awaited<ReturnType<typeof startTestGateway>>;
type Headers = Readonly<Record<string, string>>;

/** A gateway with one operator of the policy and one of this machine. */
async function startConsole(policy?: PolicyHolder, files = EMPTY) {
  const localOperator = createLocalOperator();
  const gateway = await startTestGateway({}, policy ?? holdPolicy(await policyOf()), undefined, {
    localOperator,
    consoleFiles: files,
  });
  return Object.assign(gateway, { code: () => localOperator.codes.create() });
}

const loginByCode = (gateway: Gateway, code: string, headers: Headers = {}) =>
  gateway.send({ path: "/console/login", method: "POST", headers: { ...json, ...headers } }, JSON.stringify({ code }));
const loginByToken = (gateway: Gateway, token: string, headers: Headers = {}) =>
  gateway.send({
    path: "/console/login",
    method: "POST",
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
const cookieOf = ({ headers }: { readonly headers: NodeJS.Dict<string | string[]> }): string =>
  headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? "";
const valueIn = ({ json: body }: { readonly json: Record<string, unknown> | undefined }): string =>
  String(body?.["value"]);
const me = (gateway: Gateway, headers: Headers) => gateway.send({ path: "/operator/me", headers });

test("a code logs in once, as the operator of this machine, who may do all", async () => {
  await using gateway = await startConsole();
  const code = gateway.code();
  expect(Buffer.from(code, "base64url").length).toBe(16);
  const login = await loginByCode(gateway, code);
  const again = await loginByCode(gateway, code);
  const wrong = await loginByCode(gateway, "AAAAAAAAAAAAAAAAAAAAAA");

  expect([login.status, again.status, wrong.status]).toEqual([200, 401, 401]);
  expect(login.json).toEqual({
    operator: {
      name: "local",
      may: expect.arrayContaining(["read", "call", "cancel", "letters", "servers"]),
      speaksFor: ["*"],
      sees: expect.any(Array),
    },
    value: expect.stringMatching(/^[\w-]{43}$/),
    endsAt: expect.any(Number),
    version: expect.any(String),
  });
  expect(login.headers["set-cookie"]).toEqual([
    expect.stringMatching(/^rb-console=[\w-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/),
  ]);
  expect(again.headers["set-cookie"]).toBeUndefined();
  const session = { cookie: cookieOf(login), "rb-console": valueIn(login) };
  expect((await me(gateway, session)).json).toEqual({
    operator: login.json?.["operator"],
    callers: expect.arrayContaining(["gateway"]),
    version: login.json?.["version"],
    endsAt: login.json?.["endsAt"],
  });
});

test("an operator logs in by a token, with the rights of the policy; a caller does not", async () => {
  await using gateway = await startConsole();
  const login = await loginByToken(gateway, OPS);
  expect([login.status, login.json]).toEqual([
    200,
    expect.objectContaining({
      operator: { name: "ops", may: ["read", "letters", "servers"], speaksFor: [], sees: [] },
    }),
  ]);
  for (const token of ["token-of-the-researcher", "nobody's"])
    expect((await loginByToken(gateway, token)).status).toBe(401);
  expect((await me(gateway, { authorization: `Bearer ${OPS}` })).json).not.toHaveProperty("endsAt");
});

test("neither the cookie nor the value opens anything alone, nor those of two sessions", async () => {
  await using gateway = await startConsole();
  const [one, other] = [await loginByToken(gateway, OPS), await loginByToken(gateway, OPS)];
  const statusOf = async (headers: Headers) => (await me(gateway, headers)).status;

  expect(await statusOf({ cookie: cookieOf(one) })).toBe(401);
  expect(await statusOf({ "rb-console": valueIn(one) })).toBe(401);
  expect(await statusOf({ cookie: cookieOf(one), "rb-console": valueIn(other) })).toBe(401);
  expect(await statusOf({ cookie: cookieOf(one).slice(0, -2), "rb-console": valueIn(one) })).toBe(401);
  expect(await statusOf({ cookie: cookieOf(one), "rb-console": valueIn(one) })).toBe(200);
  // Another program on the host may have set cookies of the name.
  expect(
    await statusOf({ cookie: `rb-console=x; ${cookieOf(other)}; ${cookieOf(one)}`, "rb-console": valueIn(one) }),
  ).toBe(200);
  for (const path of ["/operator/calls", "/operator/policy"])
    expect((await gateway.send({ path, headers: { cookie: cookieOf(one), "rb-console": valueIn(one) } })).status).toBe(
      200,
    );
  expect(
    (await gateway.send({ path: "/v1/tools", headers: { cookie: cookieOf(one), "rb-console": valueIn(one) } })).status,
  ).toBe(401);
});

test("any gateway opens a session, and a token that the policy has no more ends it at once", async () => {
  let policy = await policyOf();
  const holder: PolicyHolder = { ...holdPolicy(policy), current: () => policy };
  await using gateway = await startConsole(holder);
  await using replica = await startConsole(holder);
  const login = await loginByToken(gateway, OPS);
  const session = { cookie: cookieOf(login), "rb-console": valueIn(login) };
  expect([(await me(gateway, session)).status, (await me(replica, session)).status]).toEqual([200, 200]);

  policy = await policyOf(POLICY.replace(hash(OPS), hash("another")));
  expect([(await me(gateway, session)).status, (await me(replica, session)).status]).toEqual([401, 401]);
});

test("a session has ended after its logout, also for who kept a copy, and others go on", async () => {
  await using gateway = await startConsole();
  const [one, other] = [await loginByToken(gateway, OPS), await loginByToken(gateway, OPS)];
  const session = { cookie: cookieOf(one), "rb-console": valueIn(one) };
  const logout = (headers: Headers) => gateway.send({ path: "/console/logout", method: "POST", headers });

  expect((await logout({ cookie: cookieOf(one) })).status).toBe(401);
  const answer = await logout(session);
  expect([answer.status, answer.headers["set-cookie"]?.[0]]).toEqual([
    204,
    expect.stringMatching(/^rb-console=; Max-Age=0/),
  ]);
  expect([(await me(gateway, session)).status, (await logout(session)).status]).toEqual([401, 401]);
  expect((await me(gateway, { cookie: cookieOf(other), "rb-console": valueIn(other) })).status).toBe(200);
});

test("a login makes a session of its own, whatever cookie the browser was given before", async () => {
  await using gateway = await startConsole();
  const attacker = await loginByToken(gateway, OPS);
  const victim = await loginByCode(gateway, gateway.code(), { cookie: cookieOf(attacker) });

  expect(cookieOf(victim)).not.toBe(cookieOf(attacker));
  expect((await me(gateway, { cookie: cookieOf(victim), "rb-console": valueIn(attacker) })).status).toBe(401);
  expect((await me(gateway, { cookie: cookieOf(victim), "rb-console": valueIn(victim) })).json).toMatchObject({
    operator: { name: "local" },
  });
});

const foreign = (port: number): readonly (readonly [string, Headers])[] => [
  ["a page of another site", { origin: "https://evil.example" }],
  ["a page of another port", { host: `127.0.0.1:${port}`, origin: `http://127.0.0.1:${port + 1}` }],
  ["the default port", { host: `127.0.0.1:${port}`, origin: "http://127.0.0.1" }],
  ["another name of this machine", { host: `127.0.0.1:${port}`, origin: `http://localhost:${port}` }],
  ["an opaque origin", { origin: "null" }],
  ["an origin of the settings", { origin: "https://chat.example" }],
  ["a rebound name", { host: "evil.example", origin: "http://evil.example" }],
  ["http to another machine", { host: "gateway.example", origin: "http://gateway.example" }],
  ["what the browser says is of another site", { "sec-fetch-site": "cross-site" }],
  ["what the browser says is of the same site only", { "sec-fetch-site": "same-site" }],
  ["what was typed", { "sec-fetch-site": "none" }],
];

test("of another page neither logins, logouts nor requests with a session are answered", async () => {
  const allowed = { allowedOrigins: ["https://chat.example"], allowedHosts: ["gateway.example"] };
  await using gateway = await startTestGateway(allowed, holdPolicy(await policyOf()));
  const login = await loginByToken(gateway, OPS);
  const session = { cookie: cookieOf(login), "rb-console": valueIn(login) };
  for (const [what, headers] of foreign(gateway.port)) {
    const answers = [
      await loginByToken(gateway, OPS, headers),
      await me(gateway, { ...session, ...headers }),
      await gateway.send({ path: "/console/logout", method: "POST", headers: { ...session, ...headers } }),
    ];
    expect(
      answers.map(({ status }) => status),
      what,
    ).toEqual([403, 403, 403]);
    expect(answers[0]?.headers["set-cookie"], what).toBeUndefined();
  }
  const own = { host: `127.0.0.1:${gateway.port}`, origin: gateway.url, "sec-fetch-site": "same-origin" };
  expect((await me(gateway, { ...session, ...own })).status).toBe(200);
  // A program with a token is no browser's page: its rules are as before.
  const program = { authorization: `Bearer ${OPS}`, origin: "https://chat.example" };
  expect((await me(gateway, program)).status).toBe(200);
});

test("by https the cookie is of this host alone", async () => {
  await using gateway = await startTestGateway({ allowedHosts: ["gateway.example"] }, holdPolicy(await policyOf()));
  const own = { host: "gateway.example", origin: "https://gateway.example", "sec-fetch-site": "same-origin" };
  const login = await loginByToken(gateway, OPS, own);
  expect(login.headers["set-cookie"]).toEqual([
    expect.stringMatching(/^__Host-rb-console=[\w-]+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/),
  ]);
  expect((await me(gateway, { ...own, cookie: cookieOf(login), "rb-console": valueIn(login) })).status).toBe(200);
});

test("a body that is no code logs nobody in, and takes none away", async () => {
  await using gateway = await startConsole();
  const code = gateway.code();
  const post = async (body: string, headers: Headers = json) =>
    (await gateway.send({ path: "/console/login", method: "POST", headers }, body)).status;
  expect(await post(JSON.stringify({ code }), { "content-type": "text/plain" })).toBe(415);
  expect(await post(JSON.stringify({ code, filled: "x".repeat(1024) }))).toBe(400);
  for (const body of ["", "{}", '{"code":1}', '["x"]', "{"]) expect(await post(body)).toBe(400);
  expect((await loginByCode(gateway, code)).status).toBe(200);
});

/** A built page, and a file beside its folder. */
function built() {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, "page/assets"), { recursive: true });
  folder.write("secret.txt", "canary");
  folder.write("page/index.html", "<!doctype html><title>console</title>");
  folder.write("page/assets/app-1a2b.js", "export {};");
  symlinkSync(join(folder.path, "secret.txt"), join(folder.path, "page/link.txt"));
  return folder;
}

test("the page is there for everybody, with headers that shut out all else", async () => {
  using folder = built();
  await using gateway = await startConsole(undefined, join(folder.path, "page"));
  const page = await gateway.send({ path: "/console/" });
  const asset = await gateway.send({ path: "/console/assets/app-1a2b.js" });

  expect([page.status, page.text]).toEqual([200, "<!doctype html><title>console</title>"]);
  for (const { headers } of [page, asset, await loginByCode(gateway, "x")])
    expect(headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "permissions-policy": expect.stringContaining("camera=()"),
    });
  expect(page.headers["cache-control"]).toBe("no-store");
  expect(asset.headers).toMatchObject({
    "content-type": expect.stringContaining("javascript"),
    "cache-control": "public, max-age=31536000, immutable",
  });
  expect((await gateway.send({ path: "/console/", headers: { host: "evil.example" } })).status).toBe(403);
  expect((await gateway.send({ path: "/console/", method: "DELETE" })).status).toBe(405);
});

test.each([
  "/console/calls/0123",
  "/console/assets/gone.js",
  "/console/link.txt",
  "/console/../secret.txt",
  "/console/..%2fsecret.txt",
  "/console/%2e%2e/secret.txt",
  "/console/..%252fsecret.txt",
  "/console/..\\secret.txt",
  "/console/..%5csecret.txt",
  "/console//etc/passwd",
  "/console/assets/",
  "/console/assets/../../secret.txt",
  "/console/index.html%00.js",
  "/console/%ff",
])("%s is the page itself or no path, and no file of elsewhere", async (path) => {
  using folder = built();
  await using gateway = await startConsole(undefined, join(folder.path, "page"));
  const { status, text, headers } = await gateway.send({ path });

  expect(text).not.toContain("canary");
  expect([200, 400, 401]).toContain(status); // 400 and 401: it was no path of the console
  if (status !== 200) return;
  expect(text).toContain("<title>console</title>");
  expect(headers["cache-control"]).toBe("no-store");
});

test("without a build one plain page says so", async () => {
  await using gateway = await startConsole();
  const { status, text, headers } = await gateway.send({ path: "/console/" });
  expect([status, headers["content-type"]]).toEqual([503, expect.stringContaining("text/html")]);
  expect(text).toContain("not part of this installation");
});

test("a browser at / is led to the console, and nobody else; where it is off or has no operators, nobody is", async () => {
  const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  await using gateway = await startConsole();
  const led = await gateway.send({ path: "/", headers: html });
  expect([led.status, led.headers.location]).toEqual([302, "/console/"]);
  expect((await gateway.send({ path: "/", headers: { accept: "*/*" } })).status).toBe(401);

  await using off = await startTestGateway({ serveConsole: false }, holdPolicy(await policyOf()));
  await using none = await startTestGateway({}, holdPolicy(await policyOf("callers: {}")));
  for (const [without, status] of [
    [off, 401],
    [none, 404],
  ] as const)
    for (const path of ["/", "/console/", "/console/login"])
      expect((await without.send({ path, headers: html })).status).toBe(status);
  const login = await loginByToken(gateway, OPS);
  const session = { cookie: cookieOf(login), "rb-console": valueIn(login) };
  expect((await me(off, session)).status).toBe(401);
  expect((await me(off, { authorization: `Bearer ${OPS}` })).status).toBe(200);
});
