import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { type GmailMessage, ownVirtualHost, startGoogleServer, startOwnRedis, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { runCli } from "../../packages/cli/src/test-cli.ts";
import { logInToGoogle } from "./log-in-to-google.ts";
import { startService } from "./start-service.ts";

const POLICY = `
callers:
  alice: { allow: ["gmail_*", "calendar_*"], credentials: { google: alice@example.com } }
  bob: { allow: ["gmail_*", "calendar_*"], credentials: { google: bob@example.com } }
  eve: { allow: ["gmail_*"] }
everyone: {}
`;
const ACCOUNTS = ["alice@example.com", "bob@example.com"];

test("two instances over RabbitMQ serve two accounts to two callers, renew each token once", {
  timeout: 180_000,
}, async () => {
  using folder = temporaryFolder();
  await using google = await startGoogleServer();
  await using broker = await ownVirtualHost();
  await using redis = await startOwnRedis();
  const policyFile = join(folder.path, "policy.yaml");
  writeFileSync(policyFile, POLICY);
  const { clientId, clientSecret } = google.oauth;
  const urls = {
    GMAIL_BASE_URL: google.url,
    CALENDAR_BASE_URL: google.url,
    GOOGLE_TOKEN_BASE_URL: google.url,
    GOOGLE_CONSENT_BASE_URL: google.url,
  };
  const settings = {
    ...urls,
    DATA_DIRECTORY: join(folder.path, "data"),
    GOOGLE_CLIENT_ID: clientId,
    GOOGLE_CLIENT_SECRET: clientSecret,
    GOOGLE_TOKEN_KEY: "ab".repeat(32),
  };
  const env = { ...settings, BUS_URL: broker.url, REDIS_URL: redis.url, POLICY_FILE: policyFile };
  for (const account of ACCOUNTS) {
    google.addAccount(account).messages.push(mail(account));
    google.oauth.consent = { account };
    await logInToGoogle(account, { folder: folder.path, env: settings });
  }
  google.oauth.expireAll();
  google.oauth.grants.length = 0;
  await using bus = await connectBus(broker.url, { name: "test" });
  await using caller = await createToolCaller(bus, { agent: "gateway" });
  await using _one = await startService("google-tools", env);
  await using _two = await startService("google-tools", env);
  const call = (by: string, tool: string, input: object) =>
    caller.call(tool, input, { onBehalfOf: by, timeoutMs: 60_000 });

  const searches = await Promise.all(
    Array.from({ length: 20 }, (_, i) => call(i % 2 === 0 ? "alice" : "bob", "gmail_search", { query: "" })),
  );
  for (const [i, { structured }] of searches.entries()) {
    expect(structured).toMatchObject({ account: ACCOUNTS[i % 2], messages: [{ subject: `of ${ACCOUNTS[i % 2]}` }] });
  }
  expect(google.oauth.grants).toEqual(["refresh_token", "refresh_token"]);
  expect((await call("alice", "gmail_read", { message_id: "a1" })).content).toContain("text of alice");
  await call("bob", "gmail_send", { reply_to_message_id: "a1", body: "answer" });
  const { structured } = await call("bob", "calendar_create_event", {
    title: "Lunch",
    start: "2025-08-01",
    end: "2025-08-02",
  });
  const event = (structured as { event: { id: string } }).event;
  expect((await call("bob", "calendar_get_event", { event_id: event.id })).structured).toMatchObject({
    event: { title: "Lunch" },
  });
  expect((await call("bob", "calendar_list_events", { time_min: "2025-08-01" })).structured).toMatchObject({
    events: [{ id: event.id }],
  });
  expect((await call("alice", "calendar_list_events", { time_min: "2025-08-01" })).structured).toMatchObject({
    events: [],
  });
  await expect(call("alice", "calendar_get_event", { event_id: event.id })).rejects.toMatchObject({
    code: "invalid_arguments",
  });
  await expect(call("eve", "gmail_search", { query: "" })).rejects.toMatchObject({ code: "denied" });
  expect(ACCOUNTS.map((account) => google.accounts[account]?.sent.length)).toEqual([0, 1]);
  expect((await runCli(["doctor"], { folder: folder.path, env: settings })).stdout).toContain(
    `logged in: ${ACCOUNTS.join(", ")}`,
  );
});

/** The same id in both accounts, so that only the account tells them apart. */
function mail(account: string): GmailMessage {
  const headers = Object.entries({
    From: "carol@example.org",
    To: account,
    Subject: `of ${account}`,
    "Message-ID": "<a1@example.org>",
  });
  const body = Buffer.from(`text of ${account}`);
  return {
    ...{ id: "a1", threadId: "a10", labelIds: ["INBOX"], snippet: "", internalDate: "1754006400000" },
    payload: {
      mimeType: "text/plain",
      headers: headers.map(([name, value]) => ({ name, value })),
      body: { size: body.length, data: body.toString("base64url") },
    },
  };
}
