import { spawn } from "node:child_process";
import { SetupError } from "./setup-error.mjs";

/**
 * Runs a command to its end with all its output on stderr, or collected and handed over only where it fails.
 *
 * @param {string} attempt - what is attempted, for the message of a failure
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd: string, deadlineMs: number, isQuiet: boolean, advice: string, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<void>}
 * @throws {SetupError} naming the first fault that the command reports
 */
export async function runChild(attempt, command, args, { cwd, deadlineMs, isQuiet, advice, env = process.env }) {
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", isQuiet ? "pipe" : 2, "pipe"], timeout: deadlineMs, killSignal: "SIGKILL" });
  let tail = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk) => {
      tail = (tail + chunk).slice(-16_384);
      if (!isQuiet) process.stderr.write(chunk);
    });
  }
  const fault = await new Promise((resolve) => {
    child.on("error", (error) => resolve(error.code === "ENOENT" ? `${command} is not on PATH` : error.message));
    child.on("close", (code, signal) => {
      if (code === 0) resolve(undefined);
      else if (signal === "SIGKILL") resolve(`${command} was ended by force (it has ${deadlineMs / 60_000} minutes)`);
      else resolve(firstFault(tail) ?? `${command} ends with ${code ?? signal}`);
    });
  });
  if (fault !== undefined) throw new SetupError(`Cannot ${attempt}: ${fault}. ${advice}`);
}

/**
 * The line that says what is wrong: npm writes `npm error ...`, pnpm `ERROR ...` or ` ERR_PNPM_... `.
 *
 * @param {string} output
 */
function firstFault(output) {
  const lines = output.split("\n").map((line) => line.trim());
  const errors = lines.filter((line) => /^npm (error|ERR!)|ERR_PNPM_|^(✕ )?error/i.test(line)).map((line) => line.replace(/^npm (error|ERR!) ?/, ""));
  return (errors.find((line) => !/^(code|errno|syscall|network|A complete log|Log files)\b/.test(line) && line !== "") ?? errors[0])?.replace(/\.$/, "");
}
