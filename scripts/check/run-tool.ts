import { execFile } from "node:child_process";
import { delimiter, dirname, join } from "node:path";

/** Ends a tool that hangs. On a slow machine, or one that does much else, a tool may need more. */
const TIMEOUT_S = Number(process.env["ROCKBOT_TOOL_TIMEOUT_S"] ?? 900);

/**
 * Runs a tool of node_modules, or node, in the repository's folder.
 *
 * @returns the last line of its output
 * @throws {Error} with its whole output if it does not exit with 0, or in time
 */
export function runTool(root: string, tool: string, args: readonly string[]): Promise<string> {
  const env = {
    ...process.env,
    PATH: [join(root, "node_modules/.bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter),
    NO_COLOR: "1",
  };
  return new Promise((resolve, reject) => {
    execFile(
      tool,
      args,
      { cwd: root, env, timeout: TIMEOUT_S * 1_000, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const output = `${stdout}\n${stderr}`.trim();
        if (error === null) return resolve(output.split("\n").at(-1) ?? "");
        const why = error.killed
          ? `stopped after ${TIMEOUT_S} s (ROCKBOT_TOOL_TIMEOUT_S gives it more)`
          : error.message;
        reject(new Error(output === "" || error.killed ? `${tool} ${args.join(" ")}: ${why}\n${output}` : output));
      },
    );
  });
}
