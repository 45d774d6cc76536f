import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { ANY, type PolicyHolder, type Readers } from "@rockbot/policy";
import { loginCommand, type Product, products } from "./products.ts";
import type { TokenStore } from "./token-store.ts";

/** The kind of credential that the policy names accounts by. */
const KIND = "google";

/** What an account is chosen by. */
export interface AccountChoice {
  readonly store: TokenStore;
  readonly policy: PolicyHolder<Readers<"credentials">> | undefined;
  /** The account of callers where the policy names none for anybody. */
  readonly account: string | undefined;
}

/**
 * The account that a caller's calls use: the policy's, else the setting's, else the only one there is.
 * @throws {ToolError} `denied` if the policy names accounts and none for this caller; `unavailable` if the operator has
 * to name one, or log one in
 */
export async function accountOf(
  caller: string,
  product: Product,
  { store, policy, account }: AccountChoice,
): Promise<string> {
  const named = policy === undefined ? ANY : policy.current().credentialOf(caller, KIND);
  const { title } = products[product];
  if (named === undefined) {
    throw new ToolError(
      ToolErrorCode.Denied,
      `Cannot use ${title}: the policy names no account for ${caller}. The operator sets credentials: { ${KIND}: ADDRESS } for that caller.`,
    );
  }
  const chosen = named === ANY ? account : named;
  if (chosen !== undefined) return chosen.toLowerCase();
  const accounts = await store.accounts(product);
  const [only] = accounts;
  if (accounts.length === 1 && only !== undefined) return only;
  const why =
    only === undefined
      ? `no account has logged in. The operator has to run ${loginCommand(product)}.`
      : `there are ${accounts.length} accounts, and none is named. The operator sets GOOGLE_ACCOUNT, or credentials: { ${KIND}: ADDRESS } in the policy.`;
  throw new ToolError(ToolErrorCode.Unavailable, `Cannot use ${title}: ${why}`, {
    isRetryable: false,
    details: { reason: "login_required" },
  });
}
