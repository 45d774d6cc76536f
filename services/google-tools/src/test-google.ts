import { createMemoryBus } from "@rockbot/bus";
import type { PolicyHolder, Readers } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { createMemoryFileStore } from "@rockbot/records/files";
import type { LeaseStore } from "@rockbot/records/leases";
import { type GmailMessage, type GmailPart, startGoogleServer, temporaryFolder } from "@rockbot/testing";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";

import { type Product, products } from "./accounts/products.ts";
import { TokenStore } from "./accounts/token-store.ts";
import { configSchema } from "./generated/config.ts";
import { startGoogleTools } from "./google-tools.ts";

export interface TestGoogleOptions {
  /** The accounts that have logged in to both products. @default one, alice@example.com */
  readonly accounts?: readonly string[];

  readonly policy?: PolicyHolder<Readers<"credentials">>;
  readonly env?: Readonly<Record<string, string>>;
  readonly leases?: LeaseStore;
}

export const ALICE = "alice@example.com";
export const BOB = "bob@example.com";

/** google-tools on a bus of its own, in front of a Google of its own. */
export async function startTestGoogle({ accounts = [ALICE], policy, env = {}, leases }: TestGoogleOptions = {}) {
  const started = new AsyncDisposableStack();
  const google = started.use(await startGoogleServer());
  const folder = started.use(temporaryFolder());
  const { url, oauth } = google;
  const settings = {
    DATA_DIRECTORY: folder.path,
    GOOGLE_CLIENT_ID: oauth.clientId,
    GOOGLE_CLIENT_SECRET: oauth.clientSecret,
    ...{ GMAIL_BASE_URL: url, CALENDAR_BASE_URL: url, GOOGLE_TOKEN_BASE_URL: url, GOOGLE_CONSENT_BASE_URL: url },
    ...env,
  };
  const config = loadConfig(configSchema, { env: settings });
  const store = new TokenStore(config.dataDirectory, config.googleTokenKey);
  for (const account of accounts) {
    google.addAccount(account);
    for (const product of Object.keys(products) as Product[]) await logIn(product, account);
  }
  async function logIn(
    product: Product,
    account: string,
    scopes: readonly string[] = Object.values(products[product].scopes),
  ) {
    const refreshToken = oauth.refreshTokenOf(account, ...scopes.map((scope) => scope.split("/").at(-1) ?? ""));
    await store.write(product, { account, scopes, refreshToken });
  }
  const bus = started.use(createMemoryBus());
  const { files } = started.use(createMemoryFileStore());
  const parts = { service: "google-tools", topic: "tool.invoke.google", policy, leases, files };
  started.use(await startGoogleTools(bus, config, parts));
  const callers = new Map<string, Promise<ToolCaller>>();
  async function callAs(agent: string, tool: string, input: object) {
    const caller = await (callers.get(agent) ?? newCaller(agent));
    return await caller.call(tool, input);
  }
  function newCaller(agent: string): Promise<ToolCaller> {
    const made = (async () => {
      const caller = started.use(await createToolCaller(bus, { agent, files }));
      await caller.discovered();
      return caller;
    })();
    callers.set(agent, made);
    return made;
  }
  return {
    ...{ google, files, folder: folder.path, config, settings, store, bus, logIn, callAs },
    call: (tool: string, input: object) => callAs("tester", tool, input),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

export const base64url = (text: string | Uint8Array): string => Buffer.from(text).toString("base64url");

/** A part of a mail. */
export function part(
  mimeType: string,
  body: string | Uint8Array | readonly GmailPart[],
  headers: Readonly<Record<string, string>> = {},
): GmailPart {
  const listed = Object.entries({ "Content-Type": mimeType, ...headers }).map(([name, value]) => ({ name, value }));
  const filename = /filename="([^"]*)"/.exec(headers["Content-Disposition"] ?? "")?.[1] ?? "";
  const bare = mimeType.split(";")[0] ?? "";
  const isLeaf = typeof body === "string" || body instanceof Uint8Array;
  if (!isLeaf) return { mimeType: bare, filename, headers: listed, body: { size: 0 }, parts: body };
  return { mimeType: bare, filename, headers: listed, body: { size: Buffer.from(body).length, data: base64url(body) } };
}

/** A mail whose headers come first. */
export function message(id: string, payload: GmailPart, headers: Readonly<Record<string, string>> = {}): GmailMessage {
  const listed = {
    from: "Carol <carol@example.org>",
    TO: ALICE,
    Subject: `Subject of ${id}`,
    "Message-Id": `<${id}@example.org>`,
    ...headers,
  };
  return {
    id,
    threadId: `${id}0`,
    labelIds: ["INBOX", "UNREAD"],
    snippet: `Snippet of ${id} &amp; more`,
    internalDate: String(Date.UTC(2025, 7, 1)),
    payload: {
      ...payload,
      headers: [...Object.entries(listed).map(([name, value]) => ({ name, value })), ...payload.headers],
    },
  };
}
