import { createInterface } from "node:readline";
import { Interrupted } from "../interrupted.ts";

export interface ConverseOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Aborts when a signal asks for the end; not by Ctrl-C at the terminal, which comes as a key. */
  readonly signal: AbortSignal;
}

/** Lines that come so fast behind each other are pasted, and one message. */
const PASTE_MS = 30;
const PROMPT = "> ";

/**
 * Asks for messages at a terminal and hands each to `say`, one after the other, until Ctrl-D, which aborts what runs.
 * Ctrl-C aborts what runs, too; once more, and it ends.
 * @throws {Interrupted} if it ended by Ctrl-C
 */
export async function converse(
  say: (message: string, signal: AbortSignal) => Promise<void>,
  { input, output, signal }: ConverseOptions,
): Promise<void> {
  const terminal = createInterface({ input, output, terminal: true, prompt: PROMPT });
  const lines: string[] = [];
  let heard = Promise.withResolvers<void>();
  let isClosed = false;
  /** Ctrl-C was the last key that counts. */
  let isWarned = false;
  let isInterrupted = false;
  let running: AbortController | undefined;
  const close = () => terminal.close();
  terminal.on("line", (line) => {
    lines.push(line);
    heard.resolve();
  });
  terminal.on("close", () => {
    isClosed = true;
    running?.abort();
    heard.resolve();
  });
  terminal.on("SIGINT", () => {
    isInterrupted = isWarned;
    isWarned = true;
    if (isInterrupted) return close();
    running?.abort();
    if (running !== undefined) return;
    terminal.write(null, { ctrl: true, name: "u" }); // what was typed goes
    output.write("\n(Ctrl-C again, or Ctrl-D, ends)\n");
    terminal.prompt();
  });
  signal.addEventListener("abort", close, { once: true });
  try {
    while (!isClosed) {
      if (lines.length === 0) {
        terminal.prompt();
        heard = Promise.withResolvers();
        await heard.promise;
        await new Promise((resolve) => setTimeout(resolve, PASTE_MS));
      }
      const message = lines.splice(0).join("\n").trim();
      if (message === "" || isClosed) continue;
      isWarned = false;
      running = new AbortController();
      await say(message, running.signal);
      running = undefined;
    }
  } finally {
    signal.removeEventListener("abort", close);
    terminal.close();
  }
  if (isInterrupted) throw new Interrupted("SIGINT");
}
