import type { Finding } from "@rockbot/process";
import { loginCommand, type Product, products } from "./accounts/products.ts";
import { TokenStore } from "./accounts/token-store.ts";
import type { GoogleToolsConfig } from "./generated/config.ts";
import { googleToolsOff } from "./google-tool-set.ts";

/** For `rockbot doctor`: whether there is an OAuth client, and which accounts have logged in. */
export async function examine(config: Readonly<GoogleToolsConfig>): Promise<readonly Finding[]> {
  const what = "GOOGLE_CLIENT_ID";
  if (googleToolsOff(config).length > 0) {
    const message =
      "not set with GOOGLE_CLIENT_SECRET, so Gmail and Calendar are off. Make an OAuth client of the kind Desktop app in the Google Cloud console, then run ./rockbot google login";
    return [{ what, state: "off", message }];
  }
  const accounts = await Promise.all(
    (Object.keys(products) as Product[]).map((product) => accountsOf(product, config)),
  );
  return [{ what, state: "ok", message: "set" }, ...accounts];
}

/** Each file is read, so that a wrong key is found here, and one that others may read. */
async function accountsOf(
  product: Product,
  { dataDirectory, googleTokenKey }: Readonly<GoogleToolsConfig>,
): Promise<Finding> {
  const what = products[product].title;
  try {
    const store = new TokenStore(dataDirectory, googleTokenKey);
    const accounts = await store.accounts(product);
    for (const account of accounts) await store.read(product, account);
    const exposed = (await Promise.all(accounts.map((account) => store.exposedFile(product, account)))).filter(
      (path) => path !== undefined,
    );
    if (exposed.length > 0)
      return {
        what,
        state: "broken",
        message: `other users of this machine may read tokens. Run chmod 600 ${exposed.join(" ")}`,
      };
    if (accounts.length === 0)
      return { what, state: "off", message: `no account has logged in. Run ${loginCommand(product)}` };
    return { what, state: "ok", message: `logged in: ${accounts.join(", ")}` };
  } catch (error) {
    return { what, state: "broken", message: error instanceof Error ? error.message : String(error) };
  }
}
