import { existsSync } from "node:fs";
import type { StdioAddress } from "../server-options.ts";

/** Why a program was not started, in words: the system gives the same code for a missing program and a missing folder. */
export function startFault({ command, cwd }: StdioAddress, code: string | undefined): string {
  if (code !== "ENOENT") return `the command "${command}" cannot be started (${code ?? "unknown error"})`;
  if (cwd !== undefined && !existsSync(cwd)) return `the folder "${cwd}" of its "cwd" does not exist (${code})`;
  if (!/[\\/]/.test(command)) return `the command "${command}" is not found on PATH (${code})`;
  return existsSync(command)
    ? `the interpreter in the first line of "${command}" does not exist (${code})`
    : `the program "${command}" does not exist (${code})`;
}
