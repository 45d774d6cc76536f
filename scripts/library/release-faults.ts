import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool } from "../check/run-tool.ts";
import type { Library } from "./build-library.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Where the sources are, as the pipeline or git has it: npm refuses a provenance whose repository is another. */
export async function repositoryUrl(root: string, env: Env): Promise<string | undefined> {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, CI_PROJECT_URL } = env;
  const url = GITHUB_REPOSITORY === undefined ? CI_PROJECT_URL : `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;
  const found = url ?? (await runTool(root, "git", ["remote", "get-url", "origin"]).catch(() => ""));
  return found.startsWith("https://") ? `git+${found.replace(/(\.git)?$/, ".git")}` : undefined;
}

/** All that stands in the way of publishing, in words. */
export async function releaseFaults(root: string, { name, version }: Library, env: Env): Promise<readonly string[]> {
  const git = (...args: string[]) => runTool(root, "git", args);
  const [changed, tags, published, changelog, repository] = await Promise.all([
    git("status", "--porcelain"),
    git("tag", "--points-at", "HEAD"),
    runTool(root, "npm", ["view", `${name}@${version}`, "version", "--loglevel=error", "--fetch-retries=0"]).catch((error: Error) =>
      /E404/.test(error.message) ? "" : error,
    ),
    readFile(join(root, "CHANGELOG.md"), "utf8").catch(() => undefined),
    repositoryUrl(root, env),
  ]);
  const hasToken = env["ACTIONS_ID_TOKEN_REQUEST_URL"] !== undefined || env["SIGSTORE_ID_TOKEN"] !== undefined;
  return [
    ...(changed === "" ? [] : ["files are changed and not committed"]),
    ...(tags.split("\n").includes(`v${version}`) ? [] : [`the commit has no tag v${version}`]),
    ...(changelog === undefined || changelog.includes(`## ${version}`) || changelog.includes(`## [${version}]`)
      ? []
      : [`CHANGELOG.md has no chapter ${version}`]),
    ...(published instanceof Error ? [`the registry does not say whether ${version} is published: ${published.message.split("\n")[0]}`] : []),
    ...(typeof published === "string" && published !== "" ? [`${name} ${version} is published already: raise the version in package.json`] : []),
    ...(repository === undefined ? ["nobody knows where the sources are: neither the pipeline nor the remote origin has an https address"] : []),
    ...(hasToken
      ? []
      : ["this is no pipeline with identity tokens (GitHub: permissions id-token: write; GitLab: id_tokens SIGSTORE_ID_TOKEN), so npm can attest nothing"]),
  ];
}
