import { chmodSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import { expect, test } from "vitest";
import { examine } from "./examine.ts";
import { configSchema } from "./generated/config.ts";
import { startGoogleTools } from "./google-tools.ts";
import { ALICE, BOB, startTestGoogle } from "./test-google.ts";

const search = ["gmail_search", { query: "" }] as const;

test("an access token is got once for calls at the same time, kept, and renewed when it has ended or Google refuses it", async () => {
  await using system = await startTestGoogle();
  const { oauth } = system.google;
  await Promise.all([system.call(...search), system.call(...search), system.call(...search)]);
  await system.call(...search);
  expect(oauth.grants).toEqual(["refresh_token"]);
  oauth.expireAll();
  await system.call(...search);
  expect(oauth.grants).toHaveLength(2);
  oauth.tokenSeconds = 1; // ends within the margin: each call gets another
  oauth.expireAll();
  await system.call(...search);
  await system.call(...search);
  expect(oauth.grants).toHaveLength(4);
});

test("a consent that was taken back, and one that does not cover a tool, end in the command to enter", async () => {
  await using system = await startTestGoogle();
  await system.logIn("gmail", ALICE, ["https://www.googleapis.com/auth/gmail.readonly"]);
  await expect(system.call("gmail_send", { to: ["a@b.c"], subject: "x", body: "x" })).rejects.toMatchObject({
    details: { reason: "login_required" },
    message: expect.stringContaining("does not cover"),
  });
  system.google.oauth.revokeAll(ALICE);
  await expect(system.call(...search)).rejects.toMatchObject({
    code: "unavailable",
    isRetryable: false,
    details: { reason: "login_required" },
    message: expect.stringContaining(`./rockbot google login gmail --account ${ALICE}`),
  });
});

test.each([
  [{ status: 429, headers: { "retry-after": "7" } }, "rate_limited", true],
  [{ status: 403, body: '{"error":{"errors":[{"reason":"userRateLimitExceeded"}]}}' }, "rate_limited", true],
  [{ status: 503 }, "unavailable", true],
  [{ status: 200, body: "<html>" }, "unavailable", true],
  [{ status: 400, body: '{"error":{"message":"Invalid query"}}' }, "invalid_arguments", false],
  [{ status: 200, body: '{"error":{"code":403,"message":"no"}}' }, "unavailable", true],
  [{ status: 302, headers: { location: "http://127.0.0.1:1/" } }, "execution_failed", false],
])("the answer %j is told as it is", async (fault, code, isRetryable) => {
  await using system = await startTestGoogle();
  system.google.faults.push(fault);
  await expect(system.call(...search)).rejects.toMatchObject({ code, isRetryable });
});

test("a mail that may have been sent although Google answered 503 ends in outcome_unknown", async () => {
  await using system = await startTestGoogle();
  system.google.faults.push({ status: 503, isCarriedOut: true });
  await expect(system.call("gmail_send", { to: ["a@b.c"], subject: "x", body: "x" })).rejects.toMatchObject({
    code: "outcome_unknown",
  });
  expect(system.google.accounts[ALICE]?.sent).toHaveLength(1);
});

test("Google's answers when it gives no token are told as they are", async () => {
  await using system = await startTestGoogle();
  system.google.oauth.faults.push(429, 503);
  await expect(system.call(...search)).rejects.toMatchObject({ code: "rate_limited" });
  await expect(system.call(...search)).rejects.toMatchObject({ code: "unavailable", isRetryable: true });
  expect(await system.call(...search)).toMatchObject({ structured: { account: ALICE } });
});

test("of several accounts one has to be named", async () => {
  await using several = await startTestGoogle({ accounts: [ALICE, BOB] });
  await expect(several.call(...search)).rejects.toMatchObject({ message: expect.stringContaining("GOOGLE_ACCOUNT") });
  await using named = await startTestGoogle({ accounts: [ALICE, BOB], env: { GOOGLE_ACCOUNT: "BOB@example.com" } });
  expect(await named.call(...search)).toMatchObject({ structured: { account: BOB } });
  await using none = await startTestGoogle({ accounts: [] });
  await expect(none.call(...search)).rejects.toMatchObject({
    message: expect.stringContaining("./rockbot google login gmail"),
  });
});

test("without an OAuth client no tool is offered, and the service and doctor say what to set", async () => {
  await using bus = createMemoryBus();
  const config = loadConfig(configSchema, { env: { GOOGLE_CLIENT_ID: "x" } });
  await using running = await startGoogleTools(bus, config, { service: "google-tools" });
  expect(running.off.map(({ tool }) => tool)).toContain("gmail_search");
  expect(running.off[0]?.reason).toMatch(/set GOOGLE_CLIENT_SECRET, then run \.\/rockbot google login/);
  expect(await examine(config)).toEqual([
    { what: "GOOGLE_CLIENT_ID", state: "off", message: expect.stringContaining("google login") },
  ]);
  await using system = await startTestGoogle();
  expect(await examine(system.config)).toMatchObject([
    { state: "ok" },
    { what: "Gmail", state: "ok", message: `logged in: ${ALICE}` },
    { state: "ok" },
  ]);
});

test.skipIf(process.platform === "win32")("doctor names token files that others may read", async () => {
  await using system = await startTestGoogle();
  const file = join(system.folder, ".gmail-tokens", `${ALICE}.json`);
  chmodSync(file, 0o640);
  expect(await examine(system.config)).toMatchObject([
    { state: "ok" },
    { what: "Gmail", state: "broken", message: expect.stringContaining(`chmod 600 ${file}`) },
    { state: "ok" },
  ]);
});
