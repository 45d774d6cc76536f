import { join } from "node:path";

/** What a program could find out about the process that started it. Linux. */
export interface SpyReport {
  readonly uid: number | undefined;
  /** The files of the parent under /proc that it could open. */
  readonly opened: readonly string[];
  /** True if it could see the open files of the parent. */
  readonly seesOpenFiles: boolean;
  /** True if it could send signals to the parent. */
  readonly signals: boolean;
  /** Sockets that it has though it opened none, beside its input and outputs. */
  readonly inheritedSockets: number;
  /** Where the secret was. */
  readonly found: readonly string[];
}

/**
 * The command line of a program that looks for a secret and writes its SpyReport to the file: see spy-main.ts. It is no
 * MCP server.
 */
export function spy(file: string, secret: string): { readonly command: string; readonly args: readonly string[] } {
  const middle = Math.ceil(secret.length / 2);
  return {
    command: process.execPath,
    args: [join(import.meta.dirname, "spy-main.ts"), file, secret.slice(0, middle), secret.slice(middle)],
  };
}
