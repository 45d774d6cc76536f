import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool } from "../check/run-tool.ts";
import { sourceFaults } from "../release/source-faults.ts";
import type { Library } from "./build-library.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** All that stands in the way of publishing, in words. */
export async function releaseFaults(root: string, { name, version }: Library, env: Env): Promise<readonly string[]> {
  const [ofSources, published, changelog] = await Promise.all([
    sourceFaults(root, version, env),
    runTool(root, "npm", ["view", `${name}@${version}`, "version", "--loglevel=error", "--fetch-retries=0"]).catch(
      (error: Error) => (/E404/.test(error.message) ? "" : error),
    ),
    readFile(join(root, "CHANGELOG.md"), "utf8").catch(() => undefined),
  ]);
  const hasToken = env["ACTIONS_ID_TOKEN_REQUEST_URL"] !== undefined || env["SIGSTORE_ID_TOKEN"] !== undefined;
  return [
    ...ofSources,
    ...(changelog === undefined || changelog.includes(`## ${version}`) || changelog.includes(`## [${version}]`)
      ? []
      : [`CHANGELOG.md has no chapter ${version}`]),
    ...(published instanceof Error
      ? [`the registry does not say whether ${version} is published: ${published.message.split("\n")[0]}`]
      : []),
    ...(typeof published === "string" && published !== ""
      ? [`${name} ${version} is published already: raise the version in package.json`]
      : []),
    ...(hasToken
      ? []
      : [
          "this is no pipeline with identity tokens (GitHub: permissions id-token: write; GitLab: id_tokens SIGSTORE_ID_TOKEN), so npm can attest nothing",
        ]),
  ];
}
