import { ToolError, ToolErrorCode, valueAt } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { createGithubApi, type GithubApi, type GithubApiOptions } from "./github-api.ts";
import { type GithubPlace, githubPlace } from "./github-place.ts";
import { type GithubPage, readConversation } from "./read-conversation.ts";
import { readFile, readGist, readReadme } from "./read-file.ts";

export interface GithubReaderOptions extends GithubApiOptions {
  /** Of the pages that people see, such as github.com. */
  readonly host: string;
  readonly policy: PolicyHolder | undefined;
}

/**
 * What the API says of the place that an address names; undefined if the address is to be read like any other page.
 * @throws {ToolError} as `GithubApi`, and `execution_failed` if there is no such issue or pull request that the caller may see
 */
export type ReadGithub = (url: string, call: { readonly caller: string; readonly signal: AbortSignal }) => Promise<GithubPage | undefined>;

/** The credential that the policy names for callers who may read what the token may: `credentials: { github: private }`. */
const KIND = "github";
const PRIVATE = "private";

/** Reads GitHub by its API. Private repositories are there for those callers only to whom the policy gives the credential. */
export function createGithubReader({ host, policy, ...options }: GithubReaderOptions): ReadGithub {
  const api = createGithubApi(options);
  const mayReadPrivate = (caller: string): boolean => policy?.current().credentialOf(caller, KIND) === PRIVATE;

  /** Without a token the API shows what everybody may see. */
  async function isOpen(place: GithubPlace, caller: string, signal: AbortSignal): Promise<boolean> {
    if (!api.hasToken || place.kind === "gist" || mayReadPrivate(caller)) return true;
    const repository = await api.json(`/repos/${place.owner}/${place.repo}`, signal);
    return valueAt(repository?.value, "/private") === false;
  }

  return async (url, { caller, signal }) => {
    const place = githubPlace(url, host);
    if (place === undefined) return undefined;
    const page = (await isOpen(place, caller, signal)) ? await read(place, api, signal) : undefined;
    if (page !== undefined || place.kind === "readme" || place.kind === "file") return page;
    throw notThere(place, api.hasToken);
  };
}

async function read(place: GithubPlace, api: GithubApi, signal: AbortSignal): Promise<GithubPage | undefined> {
  switch (place.kind) {
    case "readme":
      return await readReadme(place, api, signal);
    case "file":
      return await readFile(place, api, signal);
    case "gist":
      return await readGist(place, api, signal);
    default:
      return await readConversation(place, api, signal);
  }
}

/** The same words whether there is nothing or nothing to see: which of them is no stranger's business. */
function notThere(place: Exclude<GithubPlace, { kind: "readme" | "file" }>, hasToken: boolean): ToolError {
  const what =
    place.kind === "gist" ? `gist ${place.id}` : `${place.kind === "pull" ? "pull request" : "issue"} #${place.number} in ${place.owner}/${place.repo}`;
  const how = hasToken ? "credentials: { github: private } for the caller in the policy" : "GITHUB_TOKEN";
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `Cannot read GitHub: there is no ${what}, or it is private. Check the address. For what is private the operator has to set ${how}.`,
    { details: { status: 404 } },
  );
}
