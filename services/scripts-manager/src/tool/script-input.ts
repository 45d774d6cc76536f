import { createHash } from "node:crypto";
import { ToolError, ToolErrorCode, type ToolExecutePythonScriptInput } from "@rockbot/contracts";
import type { RateStore } from "@rockbot/records/rates";
import type { PackageLayer, ScriptRunner } from "@rockbot/sandbox";
import type { ToolCallContext } from "@rockbot/tools";
import { secondsOf } from "./seconds-of.ts";

/** What one script may ask for. */
export interface ScriptBounds {
  readonly maxTimeoutSeconds: number;
  /** The bound for the script's source. */
  readonly maxScriptBytes: number;
  readonly maxInputBytes: number;
  /** The size of a script's folder. */
  readonly storageMiB: number;
}

/** Installs what scripts ask for; see `src/packages`. */
export interface ScriptPackages {
  /**
   * @param until when a layer is of no use any more, on the clock of `performance.now()`
   * @throws {ToolError} that says which packages are missing, and why
   */
  ensure(
    requirements: readonly string[],
    options: { readonly signal: AbortSignal; readonly until: number },
  ): Promise<PackageLayer>;
}

/** The parts that each script needs. */
export interface RunParts {
  readonly runner: ScriptRunner;
  /** @default scripts get none */
  readonly packages?: ScriptPackages | undefined;
  /** Counts the seconds that callers' scripts run, where the policy limits them. */
  readonly rates: RateStore;
  readonly bounds: ScriptBounds;
}

/** How long a script may run, as it asks for within the bounds. */
export const secondsFor = (
  { timeout_seconds }: ToolExecutePythonScriptInput,
  { maxTimeoutSeconds }: ScriptBounds,
): number => Math.min(Math.max(secondsOf(timeout_seconds), 1), maxTimeoutSeconds);

/** The id of a call's job, the same in each process that takes it up. */
export const jobIdOf = ({ caller, toolCallId }: ToolCallContext, ...attempt: readonly number[]): string =>
  createHash("sha256")
    .update(JSON.stringify([caller, toolCallId, ...attempt]))
    .digest("hex")
    .slice(0, 32);

/** @throws {ToolError} `too_large` */
export function checkSizes(
  { script, input_data }: ToolExecutePythonScriptInput,
  { maxScriptBytes, maxInputBytes }: ScriptBounds,
): void {
  const faults = [
    ...tooLarge("script", script, maxScriptBytes),
    ...(input_data == null ? [] : tooLarge("input_data", input_data, maxInputBytes)),
  ];
  if (faults.length > 0)
    throw new ToolError(ToolErrorCode.TooLarge, `The script was not run: ${faults.join("; ")}. Send less.`);
}

function tooLarge(name: string, text: string, maxBytes: number): string[] {
  const bytes = Buffer.byteLength(text);
  return bytes > maxBytes ? [`${name} has ${bytes} bytes, at most ${maxBytes} are taken`] : [];
}

/**
 * What a script asks for is installed before it begins, in half of its call's time at most.
 * @throws {ToolError} that says which packages are missing, and why
 */
export async function install(
  { pip_packages }: ToolExecutePythonScriptInput,
  packages: ScriptPackages | undefined,
  timeoutMs: number,
  { signal, deadline }: ToolCallContext,
): Promise<PackageLayer | undefined> {
  if (pip_packages == null || pip_packages.length === 0) return undefined;
  if (packages === undefined) {
    throw new ToolError(
      ToolErrorCode.Denied,
      "The script was not run: no packages can be installed here. Leave pip_packages out and do with what is there, which the guide `scripts` names, or ask the operator.",
      { details: { reason: "packages" } },
    );
  }
  return packages.ensure(pip_packages, {
    signal,
    until: deadline - Math.min(timeoutMs, (deadline - performance.now()) / 2),
  });
}
