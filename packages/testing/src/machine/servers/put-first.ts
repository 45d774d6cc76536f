import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";

/** As `nice` counts: three times the share of a process or session that asks for nothing. */
const FIRST = -5;

/**
 * Puts a process that leads a session before all others of this machine, and with it what it starts from now on. Linux
 * shares the processors out between sessions first, so a server would get no more than any one of the sessions that
 * tests start: too little to greet its clients in time. Without the right to do so, it stays where it is.
 */
export function putFirst(pid: number): void {
  for (const raise of [() => setPriority(pid, FIRST), () => writeFileSync(`/proc/${pid}/autogroup`, String(FIRST))]) {
    try {
      raise();
    } catch {
      // Only root may; and a kernel may be built without groups of sessions.
    }
  }
}
