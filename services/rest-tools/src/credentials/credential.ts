import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { ANY, type PolicyHolder, type Readers } from "@rockbot/policy";
import type { PreparedRequest } from "../request/prepared-request.ts";
import type { ClientGrant, ClientTokens, SaidGrant } from "./client-tokens.ts";

/** Where in a request a credential stands. */
export type CredentialPlace =
  | { readonly in: "header"; readonly name: string; readonly scheme?: "Bearer" | "Basic" | undefined }
  | { readonly in: "query" | "cookie"; readonly name: string; readonly scheme?: undefined };

/**
 * A secret for some places on the network. Its values are read when they are used, and leave this process for those
 * places only.
 */
export interface Credential {
  /** What the policy calls it. */
  readonly kind: string;
  readonly origins: ReadonlySet<string>;
  /** The credential of callers to whom the policy gives no account. */
  readonly own: (() => string | undefined) | undefined;
  readonly accounts: ReadonlyMap<string, () => string | undefined>;
  readonly place: CredentialPlace;
  /**
   * Set if the value is a client's, for which access tokens are got: from where and for what, as far as the file says.
   */
  readonly client?: SaidGrant | undefined;
  /** What an operator has to set, if there is no value at all. */
  readonly missing: string | undefined;
}

/** A credential, where the tool has it stand. */
export interface CredentialUse {
  readonly credential: Credential;
  readonly place: CredentialPlace;
  /** What turns a client's id and secret into the token that stands there. */
  readonly grant?: ClientGrant | undefined;
}

/**
 * What turns a client's id and secret into tokens; undefined of credentials that stand for themselves.
 * @param document what an OpenAPI document says of it, where the file says nothing
 * @throws {RangeError} that says why there is no address for tokens. A document's own has to be at one of the
 * credential's origins, as it gets the secret
 */
export function grantOf({ kind, client, origins }: Credential, document?: SaidGrant): ClientGrant | undefined {
  if (client === undefined) return undefined;
  const tokenUrl = client.tokenUrl ?? document?.tokenUrl;
  if (tokenUrl === undefined)
    throw new RangeError(`no "tokenUrl" says where tokens for the credential "${kind}" come from`);
  if (client.tokenUrl === undefined && !origins.has(URL.parse(tokenUrl)?.origin ?? ""))
    throw new RangeError(
      `its tokens come from ${tokenUrl.slice(0, 200)}, which is not one of the origins of the credential "${kind}": add it there, or set "tokenUrl"`,
    );
  return { tokenUrl, scope: client.scope ?? document?.scope };
}

/** Who calls, and what credentials are got by. */
export interface SigningParts {
  readonly caller: string;
  readonly policy: PolicyHolder<Readers<"credentials">> | undefined;
  readonly tokens: ClientTokens;
  readonly signal: AbortSignal;
  /** Access tokens that the API has refused. */
  readonly stale?: ReadonlySet<string> | undefined;
}

/** A request as it goes out. */
export interface SignedRequest extends PreparedRequest {
  /** The access tokens in it, which can be renewed. */
  readonly tokens: ReadonlySet<string>;
}

/**
 * The request with the caller's credentials. One that is not for the request's origin stays here.
 * @throws {ToolError} `denied` if this caller has none, in words for an operator; as `ClientTokens`
 */
export async function withCredentials(
  request: PreparedRequest,
  uses: readonly CredentialUse[],
  { caller, policy, tokens, signal, stale }: SigningParts,
): Promise<SignedRequest> {
  const got = new Set<string>();
  const signed = { ...request, url: new URL(request.url), headers: { ...request.headers }, tokens: got };
  for (const { credential, place, grant } of uses) {
    if (!credential.origins.has(request.url.origin)) continue;
    const value = valueFor(
      credential,
      caller,
      policy === undefined ? ANY : policy.current().credentialOf(caller, credential.kind),
    );
    if (grant === undefined) put(signed, place, value);
    else {
      const token = await tokens.get(grant, value, { signal, stale });
      got.add(token);
      put(signed, place, token);
    }
  }
  return signed;
}

function valueFor({ kind, own, accounts, client }: Credential, caller: string, account: string | undefined): string {
  if (account === undefined)
    throw denied(
      `the policy gives "${caller}" no credential of the kind "${kind}". An operator adds it under callers.${caller}.credentials`,
    );
  const read = account === ANY ? own : (accounts.get(account) ?? (account === kind ? own : undefined));
  if (read === undefined)
    throw denied(
      account === ANY
        ? `the credential "${kind}" has accounts only, and the policy gives "${caller}" none of them`
        : `the credential "${kind}" has no account "${account}", which the policy gives to "${caller}". An operator adds it to the file of REST tools`,
    );
  const value = read();
  if (value === undefined)
    throw denied(`the variable with the credential "${kind}" for "${caller}" is not set. An operator sets it`);
  if (!/^[\x21-\x7e][\x20-\x7e]*$/.test(value))
    throw denied(
      `the credential "${kind}" for "${caller}" has characters that no HTTP header can carry. An operator has to correct it`,
    );
  if (client !== undefined && !value.includes(":"))
    throw denied(
      `the credential "${kind}" for "${caller}" does not have the form id:secret. An operator has to correct it`,
    );
  return value;
}

const denied = (why: string): ToolError =>
  new ToolError(ToolErrorCode.Denied, `Nothing was sent: ${why}.`, {
    details: { mayHaveRun: false, reason: "no_credential" },
  });

function put(request: PreparedRequest, place: CredentialPlace, value: string): void {
  if (place.in === "query") {
    request.url.searchParams.delete(place.name);
    const pair = `${encodeURIComponent(place.name)}=${encodeURIComponent(value)}`;
    request.url.search = request.url.search === "" ? pair : `${request.url.search.slice(1)}&${pair}`;
  } else if (place.in === "cookie") {
    request.headers["cookie"] = [request.headers["cookie"], `${place.name}=${encodeURIComponent(value)}`]
      .filter(Boolean)
      .join("; ");
  } else {
    const { scheme } = place;
    const text = scheme === "Basic" ? Buffer.from(value).toString("base64") : value;
    request.headers[place.name.toLowerCase()] = scheme === undefined ? text : `${scheme} ${text}`;
  }
}
