import { execFileSync } from "node:child_process";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { repositoryUrl } from "./source-faults.ts";

test.each([
  [
    { GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "some/where" },
    "git+https://github.com/some/where.git",
  ],
  [{ CI_PROJECT_URL: "https://gitlab.example.com/some/where" }, "git+https://gitlab.example.com/some/where.git"],
  [{}, undefined],
])("the sources are where %o says", async (env, url) => {
  using folder = temporaryFolder();
  execFileSync("git", ["init", "--quiet"], { cwd: folder.path });
  expect(await repositoryUrl(folder.path, env)).toBe(url);
});
