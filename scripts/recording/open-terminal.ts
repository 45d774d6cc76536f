import { spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";

/** What a terminal showed, and when, in milliseconds from the start of the recording. */
export interface Shown {
  readonly atMs: number;
  readonly text: string;
}

export interface OpenTerminalOptions {
  readonly columns: number;
  readonly rows: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
}

const KEY_MS = 30;
const PROMPT = "$ ";

/** A shell in a pseudo-terminal of its own, by `script` of util-linux (Linux), with all that it showed. */
export class Terminal implements AsyncDisposable {
  readonly shown: Shown[] = [];
  readonly #child;
  readonly #now: () => number;
  #news = Promise.withResolvers<void>();

  constructor({ columns, rows, cwd, env, now }: OpenTerminalOptions) {
    this.#now = now;
    const shell = `stty cols ${columns} rows ${rows}; exec env PS1='${PROMPT}' TERM=xterm-256color sh -i`;
    this.#child = spawn(
      "script",
      ["--quiet", "--flush", "--echo", "always", "--return", "--command", shell, "/dev/null"],
      {
        cwd,
        env: { ...env, SHELL: "/bin/sh", ENV: undefined },
        stdio: ["pipe", "pipe", "inherit"],
      },
    );
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.shown.push({ atMs: this.#now(), text });
      this.#news.resolve();
      this.#news = Promise.withResolvers();
    });
  }

  /**
   * Types a command as a person does, and waits until `end` ends what it shows, or the next prompt does.
   * @throws {Error} if that is not shown within `withinMs`
   */
  async run(command: string, withinMs: number, end: string = PROMPT): Promise<void> {
    await this.#waitFor(PROMPT, 0, withinMs);
    const from = this.shown.length;
    for (const key of `${command}\n`) {
      this.#child.stdin.write(key);
      await setTimeout(KEY_MS);
    }
    await this.#waitFor(end, from, withinMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.stdin.end("\u0003exit\n");
    await Promise.race([ended, setTimeout(10_000).then(() => this.#child.kill())]);
  }

  async #waitFor(end: string, from: number, withinMs: number): Promise<void> {
    const shown = (): string =>
      this.shown
        .slice(from)
        .map(({ text }) => text)
        .join("");
    const deadline = setTimeout(withinMs, "late" as const, { ref: false });
    while (!shown().trimStart().includes(end)) {
      if ((await Promise.race([this.#news.promise, deadline])) === "late")
        throw new Error(`Cannot record: "${end}" was not shown within ${withinMs} ms, but:\n${shown()}`);
    }
  }
}
