import { randomUUID } from "node:crypto";
import { pause, unlessAborted } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import type { LeaseStore } from "@rockbot/records/leases";
import { GrantRevokedError, type OAuthClient } from "./oauth-client.ts";
import { loginCommand, type Product, products } from "./products.ts";
import type { AccountGrant, TokenStore } from "./token-store.ts";

/** The parts of the process that tokens come of. */
export interface AccessTokensOptions {
  readonly store: TokenStore;
  readonly oauth: OAuthClient;
  /** Shared with the other instances. Without it each renews by itself. */
  readonly leases?: LeaseStore | undefined;
  /** How long a renewal may take, in milliseconds. */
  readonly renewMs: number;
}

/** A token that ends so soon is renewed: it has to last for the request. */
const MARGIN_MS = 60_000;
/** How often the tokens are read while another instance renews them. */
const LOOK_MS = 100;

/**
 * Access tokens of accounts, renewed when they end: one renewal of an account at a time, here and over all instances
 * that share `leases`.
 */
export class AccessTokens {
  readonly #options: AccessTokensOptions;
  readonly #owner = randomUUID();
  readonly #renewals = new Map<string, Promise<AccountGrant>>();

  constructor(options: AccessTokensOptions) {
    this.#options = options;
  }

  /**
   * @param stale a token that Google has refused: another one is needed
   * @throws {ToolError} `unavailable` with `details.reason` `login_required` if the account has to log in, else
   * `unavailable` or `rate_limited`
   */
  async get(product: Product, account: string, signal: AbortSignal, stale?: string): Promise<string> {
    const grant = await this.#read(product, account);
    if (isFresh(grant, stale)) return grant.access.token;
    const key = `${product} ${account}`;
    const renewal =
      this.#renewals.get(key) ?? this.#renew(product, account, stale).finally(() => this.#renewals.delete(key));
    this.#renewals.set(key, renewal);
    const renewed = await unlessAborted(renewal, signal);
    return renewed.access?.token ?? "";
  }

  async #read(product: Product, account: string): Promise<AccountGrant> {
    const { store } = this.#options;
    const grant = await store.read(product, account).catch((error: unknown) => {
      throw keptBadly(error);
    });
    if (grant === undefined) throw loginRequired(product, account, "it has not logged in");
    return grant;
  }

  async #renew(product: Product, account: string, stale: string | undefined): Promise<AccountGrant> {
    const { oauth, store, leases } = this.#options;
    const name = `google.${product}.${account}`;
    try {
      const before = await this.#untilOurs(name, product, account, stale);
      if (isFresh(before, stale)) return before;
      const { accessToken: token, expiresInSeconds, refreshToken, scopes } = await oauth.refresh(before.refreshToken);
      const expiresAt = Date.now() + expiresInSeconds * 1_000;
      const grant = {
        ...before,
        scopes: scopes ?? before.scopes,
        refreshToken: refreshToken ?? before.refreshToken,
        access: { token, expiresAt },
      };
      await store.write(product, grant);
      return grant;
    } catch (error) {
      if (error instanceof GrantRevokedError)
        throw loginRequired(product, account, "its consent was taken back or has ended");
      throw keptBadly(error);
    } finally {
      await leases?.release(name, this.#owner).catch(() => {}); // it ends by itself
    }
  }

  /**
   * Waits until no other instance renews, at most as long as a renewal takes: then two renew, which costs a request and
   * spoils nothing.
   */
  async #untilOurs(name: string, product: Product, account: string, stale: string | undefined): Promise<AccountGrant> {
    const { leases, renewMs } = this.#options;
    const end = performance.now() + renewMs;
    for (;;) {
      const grant = await this.#read(product, account);
      // A store of leases that is away must not keep mail away.
      const holder = await leases?.hold(name, { owner: this.#owner, leaseMs: renewMs }).catch(() => undefined);
      if (isFresh(grant, stale)) return grant;
      if (holder === undefined || performance.now() > end) return grant;
      if (holder.owner === this.#owner) return await this.#read(product, account);
      await pause(LOOK_MS, AbortSignal.timeout(renewMs));
    }
  }
}

const isFresh = (
  grant: AccountGrant,
  stale: string | undefined,
): grant is AccountGrant & { readonly access: NonNullable<AccountGrant["access"]> } =>
  grant.access !== undefined && grant.access.token !== stale && grant.access.expiresAt > Date.now() + MARGIN_MS;

/** The account has to log in first. */
export function loginRequired(product: Product, account: string, why: string): ToolError {
  const message = `Cannot use ${products[product].title} of ${account}: ${why}. The operator has to run ${loginCommand(product, account)}.`;
  return new ToolError(ToolErrorCode.Unavailable, message, {
    isRetryable: false,
    details: { reason: "login_required" },
  });
}

/** The path of the file is for the log, not for the caller. */
function keptBadly(error: unknown): unknown {
  if (!(error instanceof StoreUnavailableError)) return error;
  const message =
    "Cannot use the account: its tokens cannot be read or written. The operator has to run ./rockbot doctor.";
  return new ToolError(ToolErrorCode.Unavailable, message, { isRetryable: false, cause: error });
}
