import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { SetupError } from "./setup-error.mjs";

/**
 * Runs a command to its end in silence. Where it fails, what it reports becomes the message.
 *
 * @param {string} attempt - what is attempted, for the message of a failure
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd: string, deadlineMs: number, advice: string | ((fault: string) => string), env?: NodeJS.ProcessEnv }}
 * options
 * @returns {Promise<void>}
 * @throws {SetupError}
 */
export async function runChild(attempt, command, args, { cwd, deadlineMs, advice, env = process.env }) {
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: deadlineMs,
    killSignal: "SIGKILL",
  });
  let tail = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      tail = (tail + chunk).slice(-16_384);
    });
  }
  const fault = await new Promise((resolve) => {
    child.on("error", (error) => resolve(error.code === "ENOENT" ? `${command} is not on PATH` : error.message));
    child.on("close", (code, signal) => {
      if (code === 0) resolve(undefined);
      else if (signal === "SIGKILL") resolve(`${command} was ended by force (it has ${deadlineMs / 60_000} minutes)`);
      else resolve(faultIn(tail, { command, cwd }) ?? `${command} ends with ${code ?? signal}`);
    });
  });
  if (fault === undefined) return;
  const words = fault.replace(/\/\/[^/@\s]*@/g, "//"); // a registry's address may hold a password
  throw new SetupError(
    `Cannot ${attempt}: ${words}${/[.?]$/.test(words) ? "" : "."} ${typeof advice === "string" ? advice : advice(fault)}`,
  );
}

/**
 * What is wrong, in the command's own words: npm writes lines of `npm error ...`, pnpm a code, then a tree of causes
 * whose first branch says most; scripts/generate-code.ts a line for each fault, all of which count; Vite the fault, and
 * what has caused it, below a line of its own; Node the file and line of an error that nothing catches.
 *
 * @param {string} output
 * @param {{ command: string, cwd: string }} child
 * @returns {string | undefined}
 */
function faultIn(output, { command, cwd }) {
  const faults = [...output.matchAll(/^Cannot generate: (.+)/gm)].map(([, words]) => words);
  if (faults.length > 0) return faults.join("\nrockbot: Cannot generate: ");
  const built = /^error during build:\n(?:Build failed.*\n\s*)?(.+)(?:\n(?:.*\n)*?Caused by:\s+(.+))?/m.exec(
    stripVTControlCharacters(output),
  );
  if (built !== null) return [built[1], built[2]].filter(Boolean).join(": ");
  const uncaught = /^\w*Error(?: \[\w+\])?: (.+)/m.exec(output)?.[1];
  const place = /^(?:file:\/\/)?(\/\S+:\d+)\n/m.exec(output)?.[1];
  if (command === "node" && uncaught !== undefined)
    return [place, uncaught].filter(Boolean).join(": ").replaceAll(`${cwd}/`, "");
  const cause = /[├╰]─▶ ([^├╰]+?)(?=\n\s*\n|\n\s*[├╰]|$)/.exec(output)?.[1]?.replace(/\s*\n[\s│]*/g, " ");
  if (cause !== undefined) return `${/ERR_\w+/.exec(output)?.[0] ?? "error"}: ${cause.trim().replace(/\.$/, "")}`;
  const lines = [...output.matchAll(/^npm (?:error|ERR!) (?:network )?(.+)/gm)].map(([, words]) => words);
  const words = lines.find((line) => !/^(code|errno|syscall|A complete log)\b/.test(line)) ?? lines[0];
  return words?.replace(/\.$/, "");
}
