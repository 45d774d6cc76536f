/**
 * What the supervisor in a sandbox (`supervisor.py`) and the process outside say to each other.
 *
 * **In**, once: one line of JSON, `{"job":ID,"timeoutMs":N,"withinMs":N|null,"packages":KEY|null,"packagesBytes":N|null,"scriptBytes":N,"inputBytes":N|null,"keepBytes":N}`
 * with whole numbers (`withinMs`: how long from now on, whatever has to come before the script, it is of use),
 * then the script's and the input's UTF-8 bytes, the packages as `pack-layer.ts` has them where the sandbox is to unpack them (`packagesBytes`), and
 * the hash of all that, SHA-256 in hex. The end of the stream before that ends the sandbox, and so do bytes that are not
 * those: two writers, of whom the first was cut off, start nothing. What comes after a job is read and forgotten.
 *
 * **Out**: frames, one to a line of JSON of at most `MAX_FRAME_BYTES`, so that they come whole through whatever keeps them as a log:
 * `ready` when a job may come, `started` right before the script's first line and after all that was unpacked for it, with the time that the script has, `out` and `err` with
 * base64 of what was written, and last `ended`, or `failed` where the supervisor itself could not go on.
 * Everything that has to do with the script comes between `started` and `ended`: a sandbox that has said `started` is never given a job again.
 */
export type Frame =
  | { readonly frame: "ready"; readonly python: string }
  | { readonly frame: "started"; readonly job: string; readonly timeoutMs?: number } // which supervisors before this one did not say
  | { readonly frame: "out" | "err"; readonly data: string }
  | {
      readonly frame: "ended";
      readonly exitCode: number | null;
      /** The number of the signal that ended the script. */
      readonly signal: number | null;
      readonly limit: "time" | "memory" | "processes" | null;
      readonly droppedOut: number;
      readonly droppedErr: number;
      readonly runMs: number;
    }
  | { readonly frame: "failed"; readonly reason: string };

/** The largest frame between the manager and its supervisor, in bytes. */
export const MAX_FRAME_BYTES = 12_000;
