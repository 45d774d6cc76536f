import { relaySource } from "../generated/relay.ts";

export interface ProgramScriptOptions {
  /** Where it starts. */
  readonly folder: string;
  /** True if its stderr goes to stdout, in the order in which it is written. @default false */
  readonly isOneStream?: boolean | undefined;
  /**
   * The way out, in paths of the sandbox: the socket of a proxy, and the certificates that programs are to trust.
   * @default none
   */
  readonly way?: { readonly socket: string; readonly certificates: string } | undefined;
}

/**
 * A script that becomes another program of the sandbox. The bounds and the filter of the script's process stay; signals
 * that Python ignores are as programs expect them.
 * @param command the path of the program and its arguments, well-formed and without NUL
 */
export function programScript(
  command: readonly string[],
  { folder, isOneStream = false, way }: ProgramScriptOptions,
): string {
  return [
    "import os, signal",
    "os.unlink(__file__)",
    `os.chdir(${JSON.stringify(folder)})`,
    'for name in ("ROCKBOT_INPUT", "PYTHONDONTWRITEBYTECODE"): os.environ.pop(name, None)',
    "for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGXCPU): signal.signal(number, signal.SIG_DFL)",
    ...(way === undefined
      ? []
      : [relaySource, `open_way(${JSON.stringify(way.socket)}, ${JSON.stringify(way.certificates)})`]),
    ...(isOneStream ? ["os.dup2(1, 2)"] : []),
    `command = ${JSON.stringify(command)}`, // strings of JSON are strings of Python
    "os.execv(command[0], command)",
  ].join("\n");
}
