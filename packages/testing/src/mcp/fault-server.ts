import { join } from "node:path";

/** How the server behaves at its start. */
export type FaultServerBehaviour =
  /** Writes to stderr and ends. */
  | "exit-at-start"
  /** Ends when it is asked for the newer protocol era, as some old servers do. */
  | "exit-on-probe"
  /** Reads and says nothing. */
  | "silent"
  /** Neither ends with its input nor when it is asked to. */
  | "heedless";

/** The command line of an MCP server over stdio that has a tool for each way to misbehave: see fault-server-main.ts. */
export function faultServer(...behaviours: readonly FaultServerBehaviour[]): {
  readonly command: string;
  readonly args: readonly string[];
} {
  return { command: process.execPath, args: [join(import.meta.dirname, "fault-server-main.ts"), ...behaviours] };
}

/** Tells whether a process of this id exists. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
