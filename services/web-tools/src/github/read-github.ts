import { ToolError, ToolErrorCode, valueAt } from "@rockbot/contracts";
import type { PolicyHolder, Readers } from "@rockbot/policy";
import { createGithubApi, type GithubApi, type GithubApiOptions } from "./github-api.ts";
import type { GithubPage } from "./github-page.ts";
import { type GithubPlace, githubPlace, inRepository } from "./github-place.ts";
import { readConversation } from "./read-conversation.ts";
import { readFile, readGist, readReadme } from "./read-file.ts";

export interface GithubReaderOptions extends GithubApiOptions {
  /** The host of the pages that people see, such as github.com. */
  readonly host: string;
  readonly policy: PolicyHolder<Readers<"credentials">> | undefined;
}

/**
 * What the API says of the place that an address names; undefined if the address is to be read like any other page.
 * @throws {ToolError} as `GithubApi`, and `execution_failed` if there is no such issue or pull request that the caller
 * may see
 */
export type ReadGithub = (
  url: string,
  call: { readonly caller: string; readonly signal: AbortSignal },
) => Promise<GithubPage | undefined>;

/**
 * The credential that the policy names for callers who may read what the token may: `credentials: { github: private }`.
 */
const KIND = "github";
const PRIVATE = "private";

/**
 * Reads GitHub by its API. Private repositories are there for those callers only to whom the policy gives the
 * credential. For the others the repository is asked for first, and then nothing follows a redirect: an issue that was
 * moved from a public repository to a private one leads there.
 */
export function createGithubReader({ host, policy, ...options }: GithubReaderOptions): ReadGithub {
  const api = createGithubApi(options);
  const still = createGithubApi({ ...options, maxRedirects: 0 });
  const mayReadPrivate = (caller: string): boolean => policy?.current().credentialOf(caller, KIND) === PRIVATE;

  async function readPublic(place: GithubPlace, signal: AbortSignal): Promise<GithubPage | undefined> {
    if (place.kind === "gist") return await read(place, still, signal);
    const repository = await api.json(`/repos/${place.owner}/${place.repo}`, signal);
    // By its present name, as it may have another one than the address says.
    const present = inRepository(place, valueAt(repository?.value, "/full_name"));
    return present !== undefined && valueAt(repository?.value, "/private") === false
      ? await read(present, still, signal)
      : undefined;
  }

  return async (url, { caller, signal }) => {
    const place = githubPlace(url, host);
    if (place === undefined) return undefined;
    // Without a token the API shows what everybody may see.
    const isOpen = options.token === undefined || mayReadPrivate(caller);
    const reading = isOpen ? read(place, api, signal) : readPublic(place, signal);
    // The API of who has no token is soon at its limit. What people see of a file has its text, too.
    const page = await reading.catch((error: unknown) => {
      if (
        options.token === undefined &&
        isFile(place) &&
        error instanceof ToolError &&
        error.code === ToolErrorCode.RateLimited
      )
        return undefined;
      throw error;
    });
    if (page !== undefined || isFile(place)) return page;
    throw notThere(place, options.token !== undefined);
  };
}

const isFile = (place: GithubPlace): place is Extract<GithubPlace, { kind: "readme" | "file" }> =>
  place.kind === "readme" || place.kind === "file";

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
    place.kind === "gist"
      ? `gist ${place.id}`
      : `${place.kind === "pull" ? "pull request" : "issue"} #${place.number} in ${place.owner}/${place.repo}`;
  const how = hasToken ? "credentials: { github: private } for the caller in the policy" : "GITHUB_TOKEN";
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `Cannot read GitHub: there is no ${what}, or it is private. Check the address. For what is private the operator has to set ${how}.`,
    { details: { status: 404 } },
  );
}
