import { constants } from "node:os";
import type { ExitCode } from "./exit-code.ts";

/** The command ends because a signal asked for it, without an answer. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly exitCode: ExitCode;

  constructor(signal: NodeJS.Signals) {
    super(`Ended by ${signal}`);
    this.exitCode = (128 + constants.signals[signal]) as ExitCode; // as a shell counts
  }
}
