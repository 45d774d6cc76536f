/**
 * The messages between the supervisor in a sandbox (`supervisor/program`) and the process outside: version 3 of the
 * protocol, which docs/design/sandboxes.md explains.
 *
 * **In**, first the job: one line of JSON with whole numbers, then the bytes that it announces.
 * `{"job":ID,"timeoutMs":N,"withinMs":N|null,"packages":KEY|null,"packagesBytes":N|null,"scriptBytes":N,"inputBytes":N|null,"moduleBytes":N,"keepBytes":N,"tailBytes":N}`
 * `moduleBytes` and `tailBytes` may be absent, as null and 0. So may `filesBytes`, `outFiles`, `outBytes` and `shownBytes`. `withinMs` says how long from now on the script is of
 * use, whatever has to come before it. The UTF-8 bytes of the script, the input and the module follow, and then `filesBytes` of files for the script's folder
 * (`pack-layer.ts`). Where the sandbox
 * is to unpack packages (`packagesBytes`), these follow as `pack-layer.ts` has them. Last comes the hash of all that,
 * SHA-256 in hex. An earlier end of the stream ends the sandbox, and so do other bytes. So two writers, of whom the first
 * was cut off, start nothing.
 *
 * Without a module, the supervisor reads and forgets what comes after a job. With one, the script has a channel for
 * messages while it runs, and the module `rockbot` uses it. From `started` on, frames come in: each a line of JSON,
 * `{"frame":"message","bytes":N}`, and N bytes, at most `MAX_PIECE_BYTES`.
 *
 * A job with `"cells":true` is a session, and its script is `job/cells.py`, which runs cells. Two more kinds of frames come
 * in: `cell`, with the next bytes of a cell, and `interrupt`, without bytes, which reaches the script as SIGINT. A cell is a
 * line of JSON `{"cell":N,"source":BYTES,"input":BYTES|null,"files":[[NAME,BYTES],...],"outFiles":N,"outBytes":N,"shownBytes":N,"timeoutMs":N}`, a frame
 * of its own, and then these bytes. `cell` frames come out, too. Each has a mark and words:
 *
 * - `b`: the number of the cell that begins,
 * - `v`: bytes of what the cell shows, as `shown` has those of a script,
 * - `x`: the number of a cell that is over, `done`, `failed`, `interrupted` or `exit`, and its status,
 * - `f`: the bytes and the name of a file that it has left; `d` has the bytes,
 * - `e`: the number of the cell, and how many files it passed over. Only then the next one may come.
 *
 * `printed` comes right before `x`. By then the supervisor has told all that the script wrote before. The bounds of its
 * output begin anew.
 *
 * **Out**: frames, each a line of JSON of at most `MAX_FRAME_BYTES`, so that a log keeps them whole. `ready` says that
 * a job may come. `started` comes right before the script's first line, after all was unpacked for it, with the time
 * that the script has. `out` and `err` carry its output as base64, up to `keepBytes` of each. `now` says what one of
 * both ends with at the moment, once it is more than that. The last `tailBytes` of what is more come in the end, as
 * `outTail` and `errTail`. `message` is a piece of a message of the script.
 * `file` names a file that the script has left, and `fileData` has its bytes. They come once nothing of the script runs
 * any more, where `outFiles` and `outBytes` say how much it may leave. Before them, `shown` has what the script shows besides its
 * output, up to `shownBytes`. The script's own process has written these bytes. The last frame is `ended`, or `failed` where
 * the supervisor itself could not go on. Everything about the script comes between `started` and `ended`: a sandbox that
 * has said `started` never gets a job again.
 *
 * A piece of a message is `+` and bytes where more pieces follow, and `.` and bytes if it is the last.
 */
export type Frame =
  | { readonly frame: "ready"; readonly python: string; readonly protocol?: number }
  | { readonly frame: "started"; readonly job: string; readonly timeoutMs?: number } // which supervisors before this one did not say
  | {
      readonly frame: "out" | "err" | "now" | "outTail" | "errTail" | "message" | "cell" | "fileData" | "shown";
      readonly data: string;
    }
  | { readonly frame: "printed"; readonly droppedOut: number; readonly droppedErr: number }
  | { readonly frame: "file"; readonly name: string; readonly bytes: number }
  | {
      readonly frame: "ended";
      readonly exitCode: number | null;
      /** The number of the signal that ended the script. */
      readonly signal: number | null;
      readonly limit: "time" | "memory" | "processes" | null;
      readonly droppedOut: number;
      readonly droppedErr: number;
      readonly runMs: number;
      /** Packets on the script's channel that another process than the script's first had sent: none was taken. */
      readonly strangers?: number;
      /** What lay among the script's files and is not among them. */
      readonly passedFiles?: number;
    }
  | { readonly frame: "failed"; readonly reason: string };

/** The largest frame between the manager and its supervisor, in bytes. */
export const MAX_FRAME_BYTES = 12_000;

/** The largest piece of a message to a script, in bytes. */
export const MAX_PIECE_BYTES = 32 * 1024;
