import { chmodSync } from "node:fs";
import { TokenStore } from "@rockbot/google-tools";
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

test.runIf(process.platform === "linux")(
  "google login opens the browser of the machine, for each product by itself",
  async () => {
    await using google = await startGoogleServer();
    google.addAccount("alice@example.com");
    google.oauth.consent = { account: "alice@example.com" };
    using folder = temporaryFolder();
    chmodSync(folder.write("xdg-open", `#!${process.execPath}\nfetch(process.argv[2]);\n`), 0o755);
    const env = {
      PATH: `${folder.path}:${process.env["PATH"]}`,
      DATA_DIRECTORY: folder.path,
      ...{ GOOGLE_CLIENT_ID: google.oauth.clientId, GOOGLE_CLIENT_SECRET: google.oauth.clientSecret },
      ...{ GOOGLE_TOKEN_BASE_URL: google.url, GOOGLE_CONSENT_BASE_URL: google.url },
    };
    expect(await runCli(["google", "login"], { folder: folder.path, env })).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /Gmail: alice@example\.com has logged in.*Google Calendar: alice@example\.com has logged in/s,
      ),
    });
    const store = new TokenStore(folder.path, undefined);
    expect([await store.accounts("gmail"), await store.accounts("calendar")]).toEqual([
      ["alice@example.com"],
      ["alice@example.com"],
    ]);
  },
);

test("google logout takes the consent back at Google, removes the tokens, and keeps them while Google is away", async () => {
  await using google = await startGoogleServer();
  google.addAccount("alice@example.com");
  using folder = temporaryFolder();
  const env = {
    DATA_DIRECTORY: folder.path,
    GOOGLE_CLIENT_ID: google.oauth.clientId,
    GOOGLE_CLIENT_SECRET: google.oauth.clientSecret,
    GOOGLE_TOKEN_BASE_URL: google.url,
  };
  const options = { folder: folder.path, env };
  const store = new TokenStore(folder.path, undefined);
  const tokens = {
    gmail: google.oauth.refreshTokenOf("alice@example.com", "gmail.send"),
    calendar: google.oauth.refreshTokenOf("bob@example.com", "x"),
  };
  await store.write("gmail", { account: "alice@example.com", scopes: [], refreshToken: tokens.gmail });
  await store.write("calendar", { account: "bob@example.com", scopes: [], refreshToken: tokens.calendar });

  expect((await runCli(["google", "logout"], options)).stderr).toContain(
    "name one of the accounts by --account: alice@example.com, bob@example.com",
  );
  const away = { ...options, env: { ...env, GOOGLE_TOKEN_BASE_URL: "http://127.0.0.1:1" } };
  expect(await runCli(["google", "logout", "gmail"], away)).toMatchObject({ code: 1 });
  expect(await store.accounts("gmail")).toEqual(["alice@example.com"]);

  expect(await runCli(["google", "logout", "--account", "Alice@example.com"], options)).toMatchObject({
    code: 0,
    stderr: "Gmail: alice@example.com has logged out\n",
  });
  expect([await store.accounts("gmail"), google.oauth.isKnown(tokens.gmail)]).toEqual([[], false]);
  expect([await store.accounts("calendar"), google.oauth.isKnown(tokens.calendar)]).toEqual([
    ["bob@example.com"],
    true,
  ]);

  google.oauth.revokeAll("bob@example.com");
  expect((await runCli(["google", "logout", "calendar"], options)).stderr).toContain(
    "bob@example.com has logged out. Google did not know its consent any more",
  );
  expect(await runCli(["google", "logout"], options)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no account has logged in"),
  });
});

test("google login says what to set, and which products there are", async () => {
  using folder = temporaryFolder();
  expect((await runCli(["google", "login"], { folder: folder.path })).stderr).toContain(
    "set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET",
  );
  expect((await runCli(["call", "gmail_search", '{"query":""}'], { folder: folder.path })).stderr).toContain(
    "set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET",
  );
  expect((await runCli(["google", "login", "drive"], { folder: folder.path })).stderr).toContain(
    'expected gmail or calendar, got "drive"',
  );
});
