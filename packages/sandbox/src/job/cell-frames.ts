import type { Writable } from "node:stream";
import type { ScriptCells } from "../script-runner.ts";
import { type Frame, MAX_PIECE_BYTES } from "./frames.ts";
import { writeTo } from "./write-to.ts";

export interface FollowCellsOptions {
  readonly signal: AbortSignal;
  readonly keepBytes: number;
}

/** The cells of one job, between the frames of its sandbox and those who run them. */
export interface FollowedCells {
  /** The interpreter is there. */
  start(): void;
  /** @returns whether the frame was theirs. @throws what `onPacket` throws */
  take(frame: Frame): Promise<boolean>;
}

/** What is sent goes in order. */
export function followCells(
  cells: ScriptCells,
  input: Writable,
  { signal, keepBytes }: FollowCellsOptions,
): FollowedCells {
  let sending: Promise<unknown> = Promise.resolve();
  const inOrder = (write: () => Promise<unknown>): Promise<void> => {
    sending = sending.then(write).catch(() => {}); // the end of the job says why
    return sending.then(() => {});
  };
  return {
    start: () =>
      cells.onStarted({
        keepBytes,
        send: (bytes) => inOrder(() => writeCell(input, bytes, signal)),
        interrupt: () => inOrder(() => writeTo(input, Buffer.from('{"frame":"interrupt","bytes":0}\n'), signal)),
      }),
    async take(frame) {
      if (frame.frame === "out" || frame.frame === "err")
        cells.onOutput(frame.frame, Buffer.from(frame.data, "base64"));
      else if (frame.frame === "printed") cells.onPrinted({ out: frame.droppedOut, err: frame.droppedErr });
      else if (frame.frame === "cell") await cells.onPacket(Buffer.from(frame.data, "base64"));
      else return false;
      return true;
    },
  };
}

async function writeCell(input: Writable, bytes: Buffer, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) {
    const part = bytes.subarray(at, at + MAX_PIECE_BYTES);
    const header = Buffer.from(`{"frame":"cell","bytes":${part.length}}\n`);
    if (!(await writeTo(input, Buffer.concat([header, part]), signal))) return;
  }
}
