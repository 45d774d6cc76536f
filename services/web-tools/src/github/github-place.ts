/** The part of GitHub that an address names. */
export type GithubPlace =
  | { readonly kind: "issue" | "pull"; readonly owner: string; readonly repo: string; readonly number: number }
  | { readonly kind: "readme"; readonly owner: string; readonly repo: string }
  /** `path` begins with the branch, tag or commit, which may have slashes itself. */
  | { readonly kind: "file"; readonly owner: string; readonly repo: string; readonly path: readonly string[] }
  /** Without `revision` it is the latest. */
  | { readonly kind: "gist"; readonly id: string; readonly revision?: string };

/** GitHub's own rules for names, and none that leads elsewhere in a path. */
const OWNER = /^[a-z0-9][a-z0-9_-]{0,38}$/i;
const REPO = /^(?!\.{1,2}$)[a-z0-9._-]{1,100}$/i;
const NUMBER = /^[1-9]\d{0,9}$/;
const GIST = /^[0-9a-f]{5,40}$/i;
const REVISION = /^[0-9a-f]{40}$/i;

/**
 * The place that `text` names on the GitHub at `host`, or on its `www` and `gist`; undefined if it names another page,
 * or none. Case, query, fragment and what follows the number of an issue do not matter.
 */
export function githubPlace(text: string, host: string): GithubPlace | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  const parts = url.pathname.split("/").filter((part) => part !== "");
  const at = url.host.replace(/\.$/, "").toLowerCase();
  if (at === `gist.${host}`) return gistPlace(parts);
  return at === host || at === `www.${host}` ? repositoryPlace(parts) : undefined;
}

/** The place in the repository of that full name, `owner/repo`; undefined if it is no such name. */
export function inRepository<Place extends GithubPlace>(place: Place, fullName: unknown): Place | undefined {
  const [owner = "", repo = "", ...rest] = typeof fullName === "string" ? fullName.split("/") : [];
  return OWNER.test(owner) && REPO.test(repo) && rest.length === 0 ? { ...place, owner, repo } : undefined;
}

/**
 * `ID`, `ID/REVISION`, and both below the name of a user, which may look like an id itself. One file of a gist, and
 * what is said of it, are other pages.
 */
function gistPlace(parts: readonly string[]): GithubPlace | undefined {
  const [id = "", revision, ...rest] = parts.length === 1 || REVISION.test(parts[1] ?? "") ? parts : parts.slice(1);
  if (!GIST.test(id) || rest.length > 0 || (revision !== undefined && !REVISION.test(revision))) return undefined;
  return { kind: "gist", id, ...(revision === undefined ? {} : { revision }) };
}

function repositoryPlace([owner = "", repo = "", section, ...rest]: readonly string[]): GithubPlace | undefined {
  if (!OWNER.test(owner) || !REPO.test(repo)) return undefined;
  const [first = ""] = rest;
  switch (section?.toLowerCase()) {
    case undefined:
      return { kind: "readme", owner, repo: repo.replace(/\.git$/i, "") };
    case "issues":
      return NUMBER.test(first) ? { kind: "issue", owner, repo, number: Number(first) } : undefined;
    case "pull":
      return NUMBER.test(first) ? { kind: "pull", owner, repo, number: Number(first) } : undefined;
    case "blob":
    case "raw": {
      const path = rest.flatMap((part) => decoded(part)?.split("/")); // the slashes of a branch may be coded
      return path.length >= 2 && path.every((part) => part !== undefined && !/^\.{0,2}$/.test(part))
        ? { kind: "file", owner, repo, path: path as string[] }
        : undefined;
    }
    default:
      return undefined;
  }
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
