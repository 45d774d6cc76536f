import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";

const MAIN = join(import.meta.dirname, "run-tests.ts");
const PROJECTS = ["alone", "together", "system"];

test("tests of a change run unless a file or a project is named; the value of an option is no file", async () => {
  using folder = temporaryFolder();
  const projects = PROJECTS.map((name) => ({ test: { name, globals: true, include: [`${name}.test.js`] } }));
  folder.write("vitest.config.ts", `export default { test: { projects: ${JSON.stringify(projects)} } };`);
  const noteOf = (name: string) => join(folder.path, `${name}.ran`);
  for (const name of PROJECTS)
    folder.write(
      `${name}.test.js`,
      `import { writeFileSync } from "node:fs";
test("is well", () => writeFileSync(${JSON.stringify(noteOf(name))}, ""));`,
    );
  const run = async (...args: readonly string[]) => {
    await using main = startNodeProgram(MAIN, { cwd: folder.path, args });
    expect(await main.ended).toBe(0);
    const ran = PROJECTS.filter((name) => existsSync(noteOf(name)));
    for (const name of ran) rmSync(noteOf(name));
    return ran;
  };
  expect(await run()).toEqual(["alone", "together"]);
  expect(await run("-t", "is well")).toEqual(["alone", "together"]);
  expect(await run("--project=system")).toEqual(["system"]);
  expect(await run("system.test.js")).toEqual(["system"]);
});
