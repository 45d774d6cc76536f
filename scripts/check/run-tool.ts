import { execFile } from "node:child_process";
import { delimiter, dirname, join } from "node:path";

/**
 * Runs a tool of node_modules, or node, in the repository's folder.
 *
 * @returns the last line of its output
 * @throws {Error} with its whole output if it does not exit with 0 within two minutes
 */
export function runTool(root: string, tool: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, PATH: [join(root, "node_modules/.bin"), dirname(process.execPath), process.env.PATH].join(delimiter), NO_COLOR: "1" };
  return new Promise((resolve, reject) => {
    execFile(tool, args, { cwd: root, env, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const output = `${stdout}\n${stderr}`.trim();
      if (error === null) resolve(output.split("\n").at(-1) ?? "");
      else
        reject(
          new Error(
            output === "" || error.killed ? `${tool} ${args.join(" ")}: ${error.killed ? "stopped after two minutes" : error.message}\n${output}` : output,
          ),
        );
    });
  });
}
