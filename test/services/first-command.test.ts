import { execFile } from "node:child_process";
import { cpSync, globSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { copyRepository } from "../repository-copy.ts";

const root = dirname(dirname(import.meta.dirname));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };
const TOOLS = "packages/contracts/schema/tools/web.yaml";

test("the first commands of a clone in CI, two at once, run with what they generate from its schemas as they are", {
  timeout: 240_000,
}, async () => {
  using folder = temporaryFolder();
  const { read, write, rockbot } = makeClone(folder.path);
  write(TOOLS, read(TOOLS).replace("description: Read one public", "description: Fetch one public"));
  const ended = await Promise.all([rockbot("--version"), rockbot("--version")]);

  expect(ended).toEqual(Array(2).fill({ code: 0, stdout: `${version}\n`, stderr: expect.anything() }));
  expect(read("packages/contracts/src/generated/tools.ts")).toContain('description: "Fetch one public');
  expect(await rockbot("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

test("the first command of a clone whose schema cannot be used names the schema's fault, and no missing module", {
  timeout: 240_000,
}, async () => {
  using folder = temporaryFolder();
  const { read, write, rockbot } = makeClone(folder.path);
  write(TOOLS, read(TOOLS).replace("title: web_search", "title: web_browse"));
  const { code, stdout, stderr } = await rockbot("--version");

  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr.split("\n").filter((line) => line !== "" && !line.includes("generating code"))).toEqual([
    expect.stringMatching(
      /^rockbot: Cannot generate: packages\/contracts\/schema\/tools\/web\.yaml: ToolWebSearch: .*web_browse.* is taken/,
    ),
  ]);
});

/** A copy as a clone is once its dependencies are installed: nothing is generated. */
function makeClone(path: string) {
  const copy = copyRepository(path);
  for (const generated of globSync("{packages,services}/*/src/generated", { cwd: path }))
    rmSync(join(path, generated), { recursive: true });
  const others = [".node-version", "examples/package.json", "pnpm-lock.yaml", "rockbot", "node_modules/.rockbot-stamp"];
  for (const file of others) cpSync(join(root, file), join(path, file));
  const env = { ...process.env, CI: "1", PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };
  return {
    ...copy,
    rockbot: (...args: string[]) =>
      new Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>((resolve) => {
        const child = execFile(join(path, "rockbot"), args, { cwd: path, env }, (_error, stdout, stderr) =>
          resolve({ code: child.exitCode, stdout, stderr }),
        );
      }),
  };
}
