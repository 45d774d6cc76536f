import type { OAuthClient } from "../accounts/oauth-client.ts";
import type { Product } from "../accounts/products.ts";
import type { TokenStore } from "../accounts/token-store.ts";

export interface LogOutOptions {
  readonly product: Product;
  readonly account: string;
  readonly oauth: OAuthClient;
  readonly store: TokenStore;
}

/**
 * Takes the consent of an account back at Google, then forgets its tokens. They stay as long as Google cannot be asked:
 * without them nobody could ask.
 * @returns whether Google still knew the consent; undefined if the account has no tokens
 * @throws {ToolError} if Google does not answer @throws {StoreUnavailableError}
 */
export async function logOut({ product, account, oauth, store }: LogOutOptions): Promise<boolean | undefined> {
  const grant = await store.read(product, account);
  if (grant === undefined) return undefined;
  const isRevoked = await oauth.revoke(grant.refreshToken);
  await store.remove(product, account);
  return isRevoked;
}
