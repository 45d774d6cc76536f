import { spawn } from "node:child_process";
import { ToolError } from "@rockbot/contracts";
import { LoginError, logIn, openOAuth, type Product, products, TokenStore } from "@rockbot/google-tools";
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

/** A person has so long to consent. */
const LOGIN_MS = 600_000;

/** `rockbot google login`: a person consents in a browser, for each product by itself. */
export async function googleLogin(product: string | undefined, { account, readOnly, browser }: GoogleLoginOptions): Promise<void> {
  const known = Object.keys(products) as Product[];
  const wanted = product === undefined ? known : known.filter((name) => name === product);
  if (wanted.length === 0) throw new UsageError([`expected ${known.join(" or ")}, got ${JSON.stringify(product)}`]);
  const load = await serviceNamed("google-tools").loader();
  const config = load({ env: process.env });
  await using oauth = openOAuth(config);
  if (oauth === undefined) {
    throw new CommandError(
      "Cannot log in: set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET to an OAuth client of the kind Desktop app, from the Google Cloud console",
    );
  }
  using interrupted = interruption();
  const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(LOGIN_MS)]);
  try {
    const store = new TokenStore(config.dataDirectory, config.googleTokenKey);
    for (const name of wanted) {
      const onUrl = (url: string): void => {
        console.error(`Log in to ${products[name].title} in a browser on this machine:\n${url}`);
        if (browser) openBrowser(url);
      };
      const done = await logIn({ product: name, oauth: oauth.client, store, consentBaseUrl: config.googleConsentBaseUrl, account, readOnly, onUrl, signal });
      console.error(`${products[name].title}: ${done.account} has logged in`);
      if (done.missing.length > 0) console.error(`Not granted: ${done.missing.join(", ")}. Tools that need it fail until you log in again`);
    }
  } catch (error) {
    if (error instanceof LoginError) throw new CommandError(`Cannot log in: ${error.message}`);
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
