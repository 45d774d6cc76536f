import { execFile } from "node:child_process";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { copyRepository } from "../repository-copy.ts";

test("generate names the faults of schemas, list and policy in words, and writes nothing", {
  timeout: 60_000,
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
  replace("services/index.ts", '"rates", "pages"]', '"rate", "pages"]');
  write("docker/policy/policy.yaml", `${read("docker/policy/policy.yaml")}\nidentity: verified\n`);
  const before = read("packages/contracts/src/generated/tools.ts");
  const { code, stderr } = await new Promise<{ readonly code: number | null; readonly stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      ["scripts/generate.ts"],
      { cwd: folder.path, timeout: 30_000 },
      (_error, _stdout, stderr) => resolve({ code: child.exitCode, stderr }),
    );
  });

  expect(code).toBe(1);
  expect(stderr.trim().split("\n")).toEqual([
    expect.stringMatching(
      /^Cannot generate: packages\/contracts\/schema\/tools\/web\.yaml: ToolWebSearch: .*web_browse.* is taken/,
    ),
    expect.stringMatching(/^Cannot generate: docker\/policy\/policy\.yaml, line \d+: this is no YAML: /),
    expect.stringMatching(
      /^Cannot generate: services\/index\.ts: "web-tools" has the state "rate", which is none\. Did you mean "rates"\?$/,
    ),
  ]);
  expect(read("packages/contracts/src/generated/tools.ts")).toBe(before);
});
