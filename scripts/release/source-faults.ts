import { runTool } from "../check/run-tool.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Where the sources are, as the pipeline or git has it: npm refuses a provenance whose repository is another. */
export async function repositoryUrl(root: string, env: Env): Promise<string | undefined> {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, CI_PROJECT_URL } = env;
  const url = GITHUB_REPOSITORY === undefined ? CI_PROJECT_URL : `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;
  const found = url ?? (await runTool(root, "git", ["remote", "get-url", "origin"]).catch(() => ""));
  return found.startsWith("https://") ? `git+${found.replace(/(\.git)?$/, ".git")}` : undefined;
}

/** What keeps others from finding the sources of a release, in words. */
export async function sourceFaults(root: string, version: string, env: Env): Promise<readonly string[]> {
  const git = (...args: string[]) => runTool(root, "git", args);
  const [changed, tags, repository] = await Promise.all([
    git("status", "--porcelain"),
    git("tag", "--points-at", "HEAD"),
    repositoryUrl(root, env),
  ]);
  return [
    ...(changed === "" ? [] : ["files are changed and not committed"]),
    ...(tags.split("\n").includes(`v${version}`) ? [] : [`the commit has no tag v${version}`]),
    ...(repository === undefined
      ? ["nobody knows where the sources are: neither the pipeline nor the remote origin has an https address"]
      : []),
  ];
}
