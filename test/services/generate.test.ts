import { execFile } from "node:child_process";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { copyRepository } from "../repository-copy.ts";

test("generate names the faults of schemas, list and policy in words, and writes nothing", {
  timeout: 240_000,
}, async () => {
  using folder = temporaryFolder();
  const { read, write } = copyRepository(folder.path);
  const replace = (file: string, from: string, to: string) =>
    write(
      file,
      read(file).replace(from, () => to),
    );
  replace("packages/contracts/schema/tools/web.yaml", "title: web_search", "title: web_browse");
  replace("packages/contracts/schema/tools/web.yaml", "description: Read one public", "description: Fetch one public"); // what would be written
  replace("services/index.ts", '"rates", "runs", "pages"]', '"rate", "runs", "pages"]');
  write("docker/policy/policy.yaml", `${read("docker/policy/policy.yaml")}\nidentity: verified\n`);
  const written = ["packages/contracts/src/generated/tools.ts", "docs/reference/tools.md"];
  const before = written.map(read);
  const run = (stage: string) =>
    new Promise<{ readonly code: number | null; readonly stderr: string }>((resolve) => {
      const child = execFile(
        process.execPath,
        [stage],
        { cwd: folder.path, timeout: 120_000 },
        (_error, _stdout, stderr) => resolve({ code: child.exitCode, stderr }),
      );
    });
  const stages = await Promise.all(["scripts/generate-code.ts", "scripts/generate.ts"].map(run));

  const ofBoth = [
    /^Cannot generate: packages\/contracts\/schema\/tools\/web\.yaml: ToolWebSearch: .*web_browse.* is taken/,
    /^Cannot generate: services\/index\.ts: "web-tools" has the state "rate", which is none\. Did you mean "rates"\?$/,
  ];
  const ofDocuments = /^Cannot generate: docker\/policy\/policy\.yaml, line \d+: this is not YAML: /;
  expect(stages.map(({ code }) => code)).toEqual([1, 1]);
  expect(stages.map(({ stderr }) => stderr.trim().split("\n"))).toEqual([
    ofBoth.map((words) => expect.stringMatching(words)),
    [...ofBoth, ofDocuments].map((words) => expect.stringMatching(words)),
  ]);
  expect(written.map(read)).toEqual(before);
});
