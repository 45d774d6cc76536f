import { getRequestListener } from "@hono/node-server";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { redact } from "@rockbot/base/redaction";
import {
  freePort,
  type StartAuthorizationServerOptions,
  startAuthorizationServer,
  startProtectedResource,
} from "@rockbot/testing";
import { expect, test } from "vitest";
import type { OAuthOptions } from "./server-options.ts";
import { modernServer } from "./test-modern-server.ts";
import { callTool, startServer, until } from "./test-servers.ts";

/** An MCP server that wants tokens, the server that gives them out, and what reaches both. */
async function startWorld(options: StartAuthorizationServerOptions = {}) {
  const authorization = await startAuthorizationServer(options);
  const handler = createMcpHandler(() => modernServer());
  const resource = await startProtectedResource(
    authorization,
    getRequestListener((request) => handler.fetch(request)),
  );
  const { clientId, clientSecret, issuer } = authorization;
  return {
    authorization,
    resource,
    /** A client of it, with credentials that are right where `oauth` does not say otherwise. */
    connect(oauth: Partial<OAuthOptions> = {}) {
      const credentials = { clientId, clientSecret, issuer, scope: "tools", ...oauth };
      const address = { type: "http", url: resource.url, headers: {}, oauth: credentials } as const;
      return startServer(address, { secrets: [credentials.clientSecret] }, { backOffMs: [60_000] });
    },
    async [Symbol.asyncDispose]() {
      await resource[Symbol.asyncDispose]();
      await authorization[Symbol.asyncDispose]();
    },
  };
}

test("a token is fetched with the client's credentials when the server asks for one, and serves many calls", async () => {
  await using world = await startWorld();
  await using server = world.connect();
  for (let i = 0; i < 3; i++) expect(await callTool(server, "echo", { i })).toMatchObject({ content: `{"i":${i}}` });
  expect([world.authorization.tokens.length, world.authorization.refusals]).toEqual([1, []]);
  expect(world.authorization.scopes).toEqual(["tools"]); // although the server says that there is "admin", too
  expect(redact(`a token: ${world.authorization.tokens[0]}`)).toBe("a token: [redacted]");
});

test("a token that was revoked, or has expired, is replaced in the middle, and the call that it refused is answered", async () => {
  await using world = await startWorld();
  await using server = world.connect();
  expect(await callTool(server, "echo", { n: 1 })).toMatchObject({ content: '{"n":1}' });
  await world.authorization.revokeAll();
  expect(await callTool(server, "echo", { n: 2 })).toMatchObject({ content: '{"n":2}' });
  expect(world.authorization.tokens).toHaveLength(2);

  await using brief = await startWorld({ tokenSeconds: 1 });
  await using expiring = brief.connect();
  await until(expiring, "ready");
  const [first = ""] = brief.authorization.tokens;
  await expect.poll(() => brief.authorization.isValid(first, brief.resource.url), { timeout: 10_000 }).toBe(false);
  expect(await callTool(expiring, "echo", { n: 3 })).toMatchObject({ content: '{"n":3}' });
  expect(brief.authorization.tokens.length).toBeGreaterThan(1);
});

test.each<[string, Partial<OAuthOptions>, string, RegExp]>([
  ["a wrong secret", { clientSecret: "canary-wrong-secret" }, "invalid_client", /client/i],
  ["an unknown client", { clientId: "canary-nobody" }, "invalid_client", /client/i],
  ["a scope that it may not have", { scope: "everything" }, "invalid_scope", /scope/i],
])("%s is told as such, without a secret, and not tried for ever", async (_, oauth, refusal, reason) => {
  await using world = await startWorld();
  await using server = world.connect(oauth);
  await until(server, "failing", "broken");
  const { lastFailure } = server.health;
  expect(lastFailure).toMatch(reason);
  expect(lastFailure).not.toMatch(/canary-wrong|canary-[0-9a-f]{8}/);
  expect(new Set(world.authorization.refusals)).toEqual(new Set([refusal]));
  expect(world.authorization.refusals.length).toBeLessThanOrEqual(2);
  expect(world.authorization.tokens).toEqual([]);
  await expect(
    server.callTool(
      { name: "echo" } as never,
      {},
      { timeoutMs: 1_000, signal: new AbortController().signal, onProgress: () => {} },
    ),
  ).rejects.toMatchObject({
    code: "unavailable",
    message: expect.not.stringContaining("canary"),
  });
});

test("credentials are shown to the authorization server that they are for, and to no other that a server names", async () => {
  await using world = await startWorld();
  await using server = world.connect({ issuer: "https://issuer.example" });
  await until(server, "failing", "broken");
  expect([world.authorization.tokens, world.authorization.refusals]).toEqual([[], []]);
  expect(server.health.lastFailure).not.toContain(world.authorization.clientSecret);
});

test("an authorization server that is away makes the server one that is tried again", async () => {
  const issuer = `http://127.0.0.1:${await freePort()}`;
  await using resource = await startProtectedResource({ issuer, isValid: async () => false }, () => {});
  const oauth = { clientId: "me", clientSecret: "canary-secret", issuer };
  await using server = startServer(
    { type: "http", url: resource.url, headers: {}, oauth },
    { secrets: ["canary-secret"] },
    { backOffMs: [60_000] },
  );
  await until(server, "failing", "broken");
  expect(server.health.lastFailure).not.toContain("canary");
  expect(server.health.nextAttemptInMs).toBeGreaterThan(0);
});

test("a server that refuses each token is not asked for ever", async () => {
  await using authorization = await startAuthorizationServer();
  await using resource = await startProtectedResource(
    { issuer: authorization.issuer, isValid: async () => false },
    () => {},
  );
  const { clientId, clientSecret, issuer } = authorization;
  await using server = startServer(
    { type: "http", url: resource.url, headers: {}, oauth: { clientId, clientSecret, issuer } },
    {},
    { backOffMs: [60_000] },
  );
  await until(server, "failing", "broken");
  expect(authorization.tokens.length).toBeLessThanOrEqual(4);
  expect(resource.refused).toBeLessThanOrEqual(8);
});
