import { spawn } from "node:child_process";
import { ToolError } from "@rockbot/contracts";
import {
  LoginError,
  logIn,
  logOut,
  type OpenOAuth,
  openOAuth,
  type Product,
  products,
  TokenStore,
} from "@rockbot/google-tools";
import { StoreUnavailableError } from "@rockbot/records";
import { serviceNamed } from "@rockbot/services";
import { CommandError } from "../command-error.ts";
import { interruption } from "../terminal/interruption.ts";
import { UsageError } from "../usage-error.ts";

export interface GoogleLoginOptions {
  readonly account?: string;
  readonly readOnly?: boolean;
  readonly browser: boolean;
}

export interface GoogleLogoutOptions {
  readonly account?: string;
}

/** A person has so long to consent. */
const LOGIN_MS = 600_000;

/** `rockbot google login`: a person consents in a browser, for each product by itself. */
export async function googleLogin(
  product: string | undefined,
  { account, readOnly, browser }: GoogleLoginOptions,
): Promise<void> {
  await withAccounts("Cannot log in", product, async ({ wanted, oauth, store, consentBaseUrl }) => {
    using interrupted = interruption();
    const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(LOGIN_MS)]);
    for (const name of wanted) {
      const onUrl = (url: string): void => {
        console.error(`Log in to ${products[name].title} in a browser on this machine:\n${url}`);
        if (browser) openBrowser(url);
      };
      const done = await logIn({ product: name, oauth, store, consentBaseUrl, account, readOnly, onUrl, signal });
      console.error(`${products[name].title}: ${done.account} has logged in`);
      if (done.missing.length > 0)
        console.error(`Not granted: ${done.missing.join(", ")}. Tools that need it fail until you log in again`);
    }
  });
}

/** `rockbot google logout`: for each product the consent is taken back, and the tokens are removed. */
export async function googleLogout(product: string | undefined, { account }: GoogleLogoutOptions): Promise<void> {
  await withAccounts("Cannot log out", product, async ({ wanted, oauth, store }) => {
    const known = await Promise.all(wanted.map(async (name) => ({ name, accounts: await store.accounts(name) })));
    const all = [...new Set(known.flatMap(({ accounts }) => accounts))];
    const chosen = account?.toLowerCase() ?? (all.length === 1 ? all[0] : undefined);
    if (chosen === undefined && all.length > 0)
      throw new UsageError([`name one of the accounts by --account: ${all.join(", ")}`]);
    if (chosen === undefined || !all.includes(chosen))
      throw new CommandError(
        chosen === undefined
          ? "Cannot log out: no account has logged in"
          : `Cannot log out: ${chosen} has not logged in`,
      );
    for (const { name, accounts } of known) {
      if (!accounts.includes(chosen)) continue;
      const isRevoked = await logOut({ product: name, account: chosen, oauth, store });
      console.error(
        `${products[name].title}: ${chosen} has logged out${isRevoked === false ? ". Google did not know its consent any more" : ""}`,
      );
    }
  });
}

interface Accounts {
  readonly wanted: readonly Product[];
  readonly oauth: OpenOAuth["client"];
  readonly store: TokenStore;
  readonly consentBaseUrl: string;
}

/**
 * Opens what the settings of google-tools name.
 * @throws {UsageError} or {CommandError} in words, of what `work` throws, too
 */
async function withAccounts(
  cannot: string,
  product: string | undefined,
  work: (accounts: Accounts) => Promise<void>,
): Promise<void> {
  const known = Object.keys(products) as Product[];
  const wanted = product === undefined ? known : known.filter((name) => name === product);
  if (wanted.length === 0) throw new UsageError([`expected ${known.join(" or ")}, got ${JSON.stringify(product)}`]);
  const load = await serviceNamed("google-tools").loader();
  const config = load({ env: process.env });
  await using oauth = openOAuth(config);
  if (oauth === undefined) {
    throw new CommandError(
      `${cannot}: set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET to an OAuth client of the kind Desktop app, from the Google Cloud console`,
    );
  }
  try {
    const store = new TokenStore(config.dataDirectory, config.googleTokenKey);
    await work({ wanted, oauth: oauth.client, store, consentBaseUrl: config.googleConsentBaseUrl });
  } catch (error) {
    if (error instanceof LoginError) throw new CommandError(`${cannot}: ${error.message}`);
    if (error instanceof ToolError || error instanceof StoreUnavailableError) throw new CommandError(error.message);
    throw error;
  }
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** The address is printed, so that a machine without a browser is no fault. */
function openBrowser(url: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}
