import { startGoogleServer, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { runCli, startCli } from "./test-cli.ts";

test("google login prints the page, waits for the person, and keeps tokens that calls then use", async () => {
  await using google = await startGoogleServer();
  google.addAccount("alice@example.com");
  google.oauth.consent = { account: "alice@example.com" };
  using folder = temporaryFolder();
  const env = {
    DATA_DIRECTORY: folder.path,
    GOOGLE_CLIENT_ID: google.oauth.clientId,
    GOOGLE_CLIENT_SECRET: google.oauth.clientSecret,
    ...{ GMAIL_BASE_URL: google.url, GOOGLE_TOKEN_BASE_URL: google.url, GOOGLE_CONSENT_BASE_URL: google.url },
  };
  await using child = startCli(["google", "login", "gmail", "--no-browser"], { folder: folder.path, env });
  await expect.poll(() => child.stderr(), { timeout: 60_000 }).toContain("/o/oauth2/v2/auth?");
  await fetch(/http\S+\/o\/oauth2\S+/.exec(child.stderr())?.[0] ?? "");
  await child.ended;
  expect(child.stderr()).toContain("Gmail: alice@example.com has logged in");
  const called = await runCli(["call", "gmail_search", '{"query":""}'], { folder: folder.path, env });
  expect(called.stderr).toBe("");
  expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining("No mail of alice@example.com") });
});

test("google login says what to set, and which products there are", async () => {
  using folder = temporaryFolder();
  expect((await runCli(["google", "login"], { folder: folder.path })).stderr).toContain("set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET");
  expect((await runCli(["call", "gmail_search", '{"query":""}'], { folder: folder.path })).stderr).toContain("set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET");
  expect((await runCli(["google", "login", "drive"], { folder: folder.path })).stderr).toContain('expected gmail or calendar, got "drive"');
});
