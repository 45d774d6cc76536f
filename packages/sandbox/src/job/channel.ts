import type { Writable } from "node:stream";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ScriptMessages } from "../script-runner.ts";
import { MAX_PIECE_BYTES } from "./frames.ts";
import { writeTo } from "./write-to.ts";

/** The largest message of a script, put together from its pieces. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const [MORE, LAST] = [0x2b, 0x2e];

/** The messages of one script. */
export interface Channel {
  /**
   * Takes a piece as it came.
   * @throws {ToolError} `execution_failed`, if it is no piece or the message is too large; what `onMessage` throws
   */
  take(piece: Buffer): void;
}

/** Puts messages together and hands them on. What is sent goes in order, one message after the other. */
export function createChannel(
  input: Writable,
  messages: ScriptMessages,
  { signal, leftMs }: { readonly signal: AbortSignal; readonly leftMs: () => number },
): Channel {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let sending: Promise<void> = Promise.resolve();
  const send = (message: Buffer): Promise<void> => {
    sending = sending.then(() => writeMessage(input, message, signal)).catch(() => {}); // the script's end says why
    return sending;
  };
  return {
    take(piece) {
      const mark = piece[0];
      if (mark !== MORE && mark !== LAST) throw notTaken("one has a piece without a mark");
      held.push(piece.subarray(1));
      heldBytes += piece.length - 1;
      if (heldBytes > MAX_MESSAGE_BYTES) throw notTaken(`one has more than ${MAX_MESSAGE_BYTES} bytes`);
      if (mark === MORE) return;
      const message = Buffer.concat(held);
      held = [];
      heldBytes = 0;
      messages.onMessage(message, { send, leftMs });
    },
  };
}

async function writeMessage(input: Writable, message: Buffer, signal: AbortSignal): Promise<void> {
  let at = 0;
  do {
    const part = message.subarray(at, at + MAX_PIECE_BYTES - 1);
    at += part.length;
    const mark = at < message.length ? "+" : ".";
    const header = Buffer.from(`{"frame":"message","bytes":${part.length + 1}}\n${mark}`);
    if (!(await writeTo(input, Buffer.concat([header, part]), signal))) return;
  } while (at < message.length);
}

function notTaken(what: string): ToolError {
  return new ToolError(ToolErrorCode.ExecutionFailed, `The script was ended: of its messages, ${what}`, {
    details: { reason: "script_messages" },
  });
}
