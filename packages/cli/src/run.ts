import { routeConsole } from "@rockbot/base/redaction";
import { CommanderError } from "commander";
import { CommandError } from "./command-error.ts";
import { ExitCode } from "./exit-code.ts";
import { Interrupted } from "./interrupted.ts";
import { createProgram } from "./program/program.ts";
import { sourceFault } from "./source-fault.ts";
import { printError } from "./terminal/print-error.ts";
import { terminalText } from "./terminal/terminal-text.ts";
import { UsageError } from "./usage-error.ts";

/** If the policy is missing, or another one, a command uses names that are forbidden to the user. */
const FORBIDDEN =
  "the broker knows its users' rights from a policy: name that policy's file by --policy or POLICY_FILE. If you did, rockbot doctor compares the two";

/** Runs one command line. Results go to stdout, all else to stderr. @returns the exit code */
export async function run(args: readonly string[]): Promise<ExitCode> {
  const program = createProgram();
  routeConsole(["debug", "info", "warn"], (text) => printError(terminalText(text, process.stderr))); // libraries do so, also to stdout
  try {
    await program.parseAsync(args, { from: "user" });
    return (process.exitCode as ExitCode | undefined) ?? ExitCode.Ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.Ok : ExitCode.Usage;
    if (error instanceof Interrupted) return error.exitCode;
    const { plainText } = await import("./terminal/plain-text.ts");
    // Texts of others may be part of it: a tool's error, a broker's refusal.
    const say = (text: string): void => printError(plainText(text));
    if (error instanceof UsageError) {
      for (const fault of error.faults) say(`rockbot: ${fault}`);
      printError(`rockbot: "rockbot ${args.find((arg) => !arg.startsWith("-")) ?? ""} --help" shows its usage`);
      return ExitCode.Usage;
    }
    if (error instanceof CommandError) {
      say(`rockbot: ${error.message}`);
      return ExitCode.Failed;
    }
    if (error instanceof Error && error.name === "ConfigError") {
      say(error.message);
      return ExitCode.Usage;
    }
    say(
      `rockbot: the command failed: ${sourceFault(error) ?? (error instanceof Error ? error.message : String(error))}`,
    );
    if ((error as { readonly isForbidden?: unknown } | undefined)?.isForbidden === true)
      printError(`rockbot: ${FORBIDDEN}`);
    return ExitCode.Failed;
  }
}
