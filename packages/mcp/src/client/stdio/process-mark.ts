import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { readFile, readlink } from "node:fs/promises";
import { readProcesses } from "./read-processes.ts";

/**
 * Set in the environment of a server and so of all that it starts: by it those are found who have left its process
 * group.
 */
export const MARK = "ROCKBOT_MCP_PROCESS";

/**
 * The process that started a server: its number, which another may have later, when it began, and among whose numbers
 * it counts.
 */
interface Starter {
  readonly namespace: string;
  readonly pid: number;
  readonly startedAt: string;
}

export interface MarkedProcess {
  readonly pid: number;
  readonly mark: string;
}

let prefix: string | undefined;

/** The mark that tells one start of a server from all others, and by which process it was started. */
export function newMark(): string {
  prefix ??=
    process.platform === "linux"
      ? `${namespaceOf(readlinkSync("/proc/self/ns/pid"))}:${process.pid}:${startOf(readFileSync("/proc/self/stat", "latin1"))}`
      : "";
  return `${prefix}:${randomUUID()}`;
}

/** The processes that carry a mark, where the system shows environments (Linux, those of the same user). */
export async function markedProcesses(): Promise<MarkedProcess[]> {
  if (process.platform !== "linux") return [];
  const processes = await readProcesses("environ");
  return processes.flatMap(({ pid, text }) => {
    if (!text.includes(`${MARK}=`)) return [];
    const entry = text.split("\0").find((variable) => variable.startsWith(`${MARK}=`));
    return entry === undefined ? [] : [{ pid, mark: entry.slice(MARK.length + 1) }];
  });
}

/**
 * Tells whether the process that started it is gone. A process of another container counts its starter otherwise, so
 * nothing is known of it.
 */
export async function isOrphan({ pid, mark }: MarkedProcess): Promise<boolean> {
  const starter = starterIn(mark);
  if (starter === undefined) return false;
  const own = namespaceOf(await readlink("/proc/self/ns/pid").catch(() => ""));
  const its = namespaceOf(await readlink(`/proc/${pid}/ns/pid`).catch(() => ""));
  if (own !== starter.namespace || its !== own) return false;
  const stat = await readFile(`/proc/${starter.pid}/stat`, "latin1").catch(() => undefined);
  return stat === undefined || startOf(stat) !== starter.startedAt;
}

function starterIn(mark: string): Starter | undefined {
  const [, namespace = "", pid, startedAt = ""] = /^(\d+):(\d+):(\d+):/.exec(mark) ?? [];
  return pid === undefined ? undefined : { namespace, pid: Number(pid), startedAt };
}

/** Reads the number in `pid:[4026531836]`. */
const namespaceOf = (link: string): string => /\d+/.exec(link)?.[0] ?? "";

/** The 22nd field; the second is a name that may have blanks and parentheses in it. */
const startOf = (stat: string): string => stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
