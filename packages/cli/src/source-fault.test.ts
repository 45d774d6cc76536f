import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

/**
 * What is said of a program's source with this text, which Node itself imports: the tests' own loader would report it
 * in other words.
 */
async function faultOf(text: string): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "source-fault-"));
  await using _folder = { [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
  await writeFile(join(path, "source.ts"), text);
  await writeFile(join(path, "other.ts"), "export const other = 1;\n");
  const script = `import { sourceFault } from ${JSON.stringify(join(import.meta.dirname, "source-fault.ts"))};
    await import(${JSON.stringify(join(path, "source.ts"))}).catch((error) => console.log(sourceFault(error)));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], { timeout: 15_000 });
  return stdout.trim().replaceAll(`${path}/`, "");
}

test.each([
  ["a syntax error", "\nconst a: number = ;\n", /^source\.ts:2: \S.*$/],
  [
    "a name that is not exported",
    '\n\nimport { none } from "./other.ts";\nnone();\n',
    /^source\.ts:3: .*export named 'none'$/,
  ],
  ["a file that is not there", '\nimport "./gone.ts";\n', /^source\.ts:2: Cannot find module 'gone\.ts'$/],
  [
    "a package that is not there",
    '\n\nimport "no-such-package-here";\n',
    /^source\.ts:3: Cannot find package 'no-such-package-here'$/,
  ],
  ["what only the engine refuses", "const a = 1;\nconst a = 2;\n", /^(source\.ts:2|a source file cannot be read): .*/],
])("%s is named by file and line, without a stack", async (_title, text, words) => {
  expect(await faultOf(text)).toMatch(words);
});

test("an error of what the program works on is not its source's", async () => {
  expect(await faultOf('JSON.parse("{");\n')).toBe("undefined");
  expect(await faultOf('throw new Error("no");\n')).toBe("undefined");
});
