import { execFileSync } from "node:child_process";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { releaseFaults } from "./release-faults.ts";

const library = { folder: "dist/npm/rockbot", name: "rockbot", version: "9.8.7" };
const pipeline = {
  GITHUB_SERVER_URL: "https://github.com",
  GITHUB_REPOSITORY: "some/where",
  ACTIONS_ID_TOKEN_REQUEST_URL: "https://tokens",
};

test("a release needs a commit with its tag, its chapter, and a pipeline that can attest it, and hears of all at once", async () => {
  using folder = temporaryFolder();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: folder.path });
  git("init", "--quiet");
  git("commit", "--quiet", "--allow-empty", "--message", "First");
  folder.write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n");
  const faults = async (env: Record<string, string>) =>
    (await releaseFaults(folder.path, library, env)).filter((fault) => !fault.includes("the registry"));

  expect(await faults({})).toEqual([
    "files are changed and not committed",
    "the commit has no tag v9.8.7",
    expect.stringContaining("nobody knows where the sources are"),
    "CHANGELOG.md has no chapter 9.8.7",
    expect.stringContaining("id-token: write"),
  ]);
  folder.write("CHANGELOG.md", "# Changelog\n\n## [9.8.7] - 2027-01-01\n");
  git("add", ".");
  git("commit", "--quiet", "--message", "Release");
  git("tag", "v9.8.7");
  expect(await faults(pipeline)).toEqual([]);
});
