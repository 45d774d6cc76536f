import { createPublicFetch, hostAndPort } from "@rockbot/edge/outbound";
import { createPageConverter } from "@rockbot/page";
import type { PolicyHolder, Readers } from "@rockbot/policy";
import type { OwnedToolSet } from "@rockbot/process/tool-set";
import type { LeaseStore } from "@rockbot/records/leases";
import { AccessTokens } from "./accounts/access-tokens.ts";
import { products } from "./accounts/products.ts";
import { TokenStore } from "./accounts/token-store.ts";
import { GoogleApi } from "./api/google-api.ts";
import type { GoogleToolsConfig } from "./generated/config.ts";
import { googleGuide } from "./google-guide.ts";
import { openOAuth } from "./open-oauth.ts";
import { calendarCreateEvent } from "./tools/calendar-create-event.ts";
import { calendarGetEvent } from "./tools/calendar-get-event.ts";
import { calendarListEvents } from "./tools/calendar-list-events.ts";
import { gmailRead } from "./tools/gmail-read.ts";
import { gmailSearch } from "./tools/gmail-search.ts";
import { gmailSend } from "./tools/gmail-send.ts";

/** What the tools share with the rest of the process. */
export interface GoogleToolSetParts {
  readonly policy?: PolicyHolder<Readers<"credentials">> | undefined;
  readonly leases?: LeaseStore | undefined;
}

/** A mail of 25 MB, Gmail's bound, in base64, with what JSON adds. */
const MAX_ANSWER_BYTES = 40_000_000;
const MAX_TEXT_LENGTH = 10_000_000;

/**
 * The tools that `config` allows: without an OAuth client there is none, as a tool that can only fail misleads a model.
 * @throws {StoreUnavailableError} if the folder of tokens cannot be made
 */
export function googleToolSet(
  config: Readonly<GoogleToolsConfig>,
  { policy, leases }: GoogleToolSetParts = {},
): OwnedToolSet {
  const open = new AsyncDisposableStack();
  const oauth = openOAuth(config);
  if (oauth === undefined)
    return { tools: [], guides: [], off: googleToolsOff(config), [Symbol.asyncDispose]: () => open.disposeAsync() };
  open.use(oauth);
  const { fetchTimeoutMs: timeoutMs, gmailBaseUrl, calendarBaseUrl } = config;
  // The operator names the addresses, so they may be private.
  const fetch = open.use(
    createPublicFetch({
      allowAddresses: [hostAndPort(gmailBaseUrl), hostAndPort(calendarBaseUrl)],
      allowPorts: [],
      maxBytes: MAX_ANSWER_BYTES,
      timeoutMs,
      idleTimeoutMs: timeoutMs,
    }),
  );
  const converter = open.use(createPageConverter({ maxLength: MAX_TEXT_LENGTH }));
  const store = new TokenStore(config.dataDirectory, config.googleTokenKey);
  const tokens = new AccessTokens({ store, oauth: oauth.client, leases, renewMs: timeoutMs });
  const baseUrls = { gmail: gmailBaseUrl, calendar: calendarBaseUrl };
  const api = new GoogleApi({ tokens, store, policy, account: config.googleAccount, fetch, baseUrls });
  return {
    tools: [
      gmailSearch(api),
      gmailRead({ api, converter }),
      gmailSend(api),
      calendarListEvents(api),
      calendarGetEvent(api),
      calendarCreateEvent(api),
    ],
    guides: [googleGuide],
    off: googleToolsOff(config),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** The tools that `config` leaves out, and what has to be set. */
export function googleToolsOff({
  googleClientId,
  googleClientSecret,
}: Readonly<GoogleToolsConfig>): OwnedToolSet["off"] {
  const missing = [
    ...(googleClientId === undefined ? ["GOOGLE_CLIENT_ID"] : []),
    ...(googleClientSecret === undefined ? ["GOOGLE_CLIENT_SECRET"] : []),
  ];
  if (missing.length === 0) return [];
  const reason = `It needs an OAuth client of Google: set ${missing.join(" and ")}, then run ./rockbot google login.`;
  return Object.values(products).flatMap(({ tools }) => tools.map((tool) => ({ tool, reason })));
}
