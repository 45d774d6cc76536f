import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";

const MAIN = join(import.meta.dirname, "run-tests.ts");
const PROJECTS = ["alone", "together", "system"];

test("tests of a change run unless a file or a project is named, with bundles unless it is a file; the value of an option is no file", async () => {
  using folder = temporaryFolder();
  const projects = PROJECTS.map((name) => ({ test: { name, globals: true, include: [`${name}.test.js`] } }));
  folder.write("vitest.config.ts", `export default { test: { projects: ${JSON.stringify(projects)} } };`);
  const noteOf = (name: string) => join(folder.path, `${name}.ran`);
  for (const name of PROJECTS)
    folder.write(
      `${name}.test.js`,
      `import { writeFileSync } from "node:fs";
test("is well", () => writeFileSync(${JSON.stringify(noteOf(name))}, process.env.ROCKBOT_TEST_PROGRAMS ?? "sources"));`,
    );
  const run = async (...args: readonly string[]) => {
    await using main = startNodeProgram(MAIN, { cwd: folder.path, args });
    expect(await main.ended).toBe(0);
    const ran = PROJECTS.filter((name) => existsSync(noteOf(name)));
    const programs = ran.map((name) => readFileSync(noteOf(name), "utf8"));
    for (const name of ran) rmSync(noteOf(name));
    return [...ran, ...new Set(programs)];
  };
  expect(await run()).toEqual(["alone", "together", "bundled"]);
  expect(await run("-t", "is well")).toEqual(["alone", "together", "bundled"]);
  expect(await run("--project=system")).toEqual(["system", "bundled"]);
  expect(await run("system.test.js")).toEqual(["system", "sources"]);
});
