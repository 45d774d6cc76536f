import { loadConfig } from "@rockbot/process/config";
import { startGoogleServer, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { TokenStore } from "../accounts/token-store.ts";
import { configSchema } from "../generated/config.ts";
import { openOAuth } from "../open-oauth.ts";
import { type LogInOptions, logIn } from "./log-in.ts";

const ALICE = "alice@example.com";

test("a person logs in by a browser, for the scopes of one product, and the tokens are kept", async () => {
  await using system = await start();
  expect(await system.logIn({ product: "gmail" })).toEqual({ account: ALICE, missing: [] });
  expect(await system.logIn({ product: "calendar", readOnly: true })).toEqual({ account: ALICE, missing: [] });
  const [gmail, calendar] = await Promise.all([
    system.store.read("gmail", ALICE),
    system.store.read("calendar", ALICE),
  ]);
  expect(gmail?.scopes.map((scope) => scope.split("/").at(-1))).toEqual(["gmail.readonly", "gmail.send"]);
  expect(calendar?.scopes.map((scope) => scope.split("/").at(-1))).toEqual(["calendar.events.readonly"]);
  expect(system.google.oauth.isKnown(gmail?.refreshToken ?? "")).toBe(true);
});

test("a scope that the person did not tick is named, and nothing is kept if none is", async () => {
  await using system = await start();
  const auth = "https://www.googleapis.com/auth";
  system.google.oauth.consent = { account: ALICE, withheld: [`${auth}/gmail.send`] };
  expect(await system.logIn({ product: "gmail" })).toEqual({ account: ALICE, missing: [`${auth}/gmail.send`] });
  system.google.oauth.consent = { account: ALICE, withheld: [`${auth}/calendar.events`] };
  await expect(system.logIn({ product: "calendar" })).rejects.toThrow("granted nothing");
  expect(await system.store.accounts("calendar")).toEqual([]);
});

test("a refusal, another account and the end of the wait are told, and nothing is kept", async () => {
  await using system = await start();
  await expect(system.logIn({ account: "bob@example.com" })).rejects.toThrow(
    "expected bob@example.com, and alice@example.com logged in",
  );
  system.google.oauth.consent = { account: ALICE, isRefused: true };
  await expect(system.logIn({})).rejects.toThrow("access_denied");
  await expect(system.logIn({ signal: AbortSignal.abort(), onUrl: () => {} })).rejects.toThrow("nobody logged in");
  expect(await system.store.accounts("gmail")).toEqual([]);
});

test("a redirect with another state changes nothing", async () => {
  await using system = await start();
  const onUrl = async (url: string): Promise<void> => {
    const redirect = new URL(url).searchParams.get("redirect_uri") ?? "";
    expect((await fetch(`${redirect}?state=guessed&code=of-another`)).status).toBe(404);
    expect((await fetch(`${redirect}other`)).status).toBe(404);
    await fetch(url);
  };
  expect(await system.logIn({ onUrl: (url) => void onUrl(url) })).toMatchObject({ account: ALICE });
});

async function start() {
  await using started = new AsyncDisposableStack();
  const google = started.use(await startGoogleServer());
  google.addAccount(ALICE);
  google.oauth.consent = { account: ALICE };
  const folder = started.use(temporaryFolder());
  const { clientId, clientSecret } = google.oauth;
  const config = loadConfig(configSchema, {
    env: { GOOGLE_CLIENT_ID: clientId, GOOGLE_CLIENT_SECRET: clientSecret, GOOGLE_TOKEN_BASE_URL: google.url },
  });
  const open = openOAuth(config);
  if (open === undefined) throw new Error("expected an OAuth client");
  started.use(open);
  const store = new TokenStore(folder.path, undefined);
  // The browser: it opens the page, whose person answers at once, and follows to the program.
  const usual = {
    product: "gmail",
    oauth: open.client,
    store,
    consentBaseUrl: google.url,
    onUrl: (url: string) => void fetch(url),
    signal: AbortSignal.timeout(30_000),
  } as const;
  const running = started.move();
  return {
    google,
    store,
    logIn: (options: Partial<LogInOptions>) => logIn({ ...usual, ...options }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
