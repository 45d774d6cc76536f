import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { converse } from "./converse.ts";

/**
 * A conversation at a terminal of this test: keys go in, what is said is noted, and each turn lasts until it is
 * cancelled or answered.
 */
function talk() {
  const keys = new PassThrough();
  const shown = new PassThrough();
  const said: string[] = [];
  const cancelled: string[] = [];
  let answer = () => {};
  const stop = new AbortController();
  let text = "";
  shown.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const say = async (message: string, signal: AbortSignal): Promise<void> => {
    said.push(message);
    await new Promise<void>((resolve) => {
      answer = resolve;
      signal.addEventListener("abort", () => {
        cancelled.push(message);
        resolve();
      });
    });
  };
  const ended = converse(say, { input: keys, output: shown, signal: stop.signal }).then(
    () => "by Ctrl-D",
    (error: Error) => error.name,
  );
  return {
    type: (text: string) => void keys.write(text),
    said,
    cancelled,
    answer: () => answer(),
    stop: () => stop.abort(),
    shown: () => text,
    ended,
  };
}

const CTRL_C = "\x03";
const CTRL_D = "\x04";

test("messages are said one after the other, until Ctrl-D", async () => {
  const terminal = talk();
  terminal.type("one\r");
  await expect.poll(() => terminal.said).toEqual(["one"]);
  terminal.type("two\r");
  terminal.answer();
  await expect.poll(() => terminal.said).toEqual(["one", "two"]);
  terminal.answer();
  await expect.poll(() => terminal.shown().split("> ").length).toBeGreaterThan(2);
  terminal.type(CTRL_D);

  expect(await terminal.ended).toBe("by Ctrl-D");
  expect(terminal.cancelled).toEqual([]);
});

test("Ctrl-D while a turn runs cancels it and ends: what was typed meanwhile is not said", async () => {
  const terminal = talk();
  terminal.type("one\r");
  await expect.poll(() => terminal.said).toEqual(["one"]);
  terminal.type(`two\r${CTRL_D}`);

  expect(await terminal.ended).toBe("by Ctrl-D");
  expect(terminal.cancelled).toEqual(["one"]);
  expect(terminal.said).toEqual(["one"]);
});

test("Ctrl-C cancels what runs and asks for the next message; the next Ctrl-C ends", async () => {
  const terminal = talk();
  terminal.type("one\r");
  await expect.poll(() => terminal.said).toEqual(["one"]);
  terminal.type(CTRL_C);
  await expect.poll(() => terminal.cancelled).toEqual(["one"]);
  terminal.type("two\r");
  await expect.poll(() => terminal.said).toEqual(["one", "two"]);
  terminal.type(CTRL_C);
  await expect.poll(() => terminal.cancelled).toEqual(["one", "two"]);
  terminal.type(CTRL_C);

  expect(await terminal.ended).toBe("Interrupted");
});

test("Ctrl-C at the prompt drops what was typed and says what ends", async () => {
  const terminal = talk();
  terminal.type(`nonsense${CTRL_C}`);
  await expect.poll(() => terminal.shown()).toContain("Ctrl-C again, or Ctrl-D, ends");
  terminal.type("sense\r");
  await expect.poll(() => terminal.said).toEqual(["sense"]);
  terminal.type(CTRL_D);
  terminal.answer();

  expect(await terminal.ended).toBe("by Ctrl-D");
});

test("lines that are pasted are one message, and empty ones none", async () => {
  const terminal = talk();
  terminal.type("\r");
  terminal.type("first\rsecond\rthird\r");
  await expect.poll(() => terminal.said).toEqual(["first\nsecond\nthird"]);
  terminal.type(CTRL_D);
  terminal.answer();

  expect(await terminal.ended).toBe("by Ctrl-D");
});

test("a signal ends the conversation, and what runs", async () => {
  const terminal = talk();
  terminal.type("one\r");
  await expect.poll(() => terminal.said).toEqual(["one"]);
  terminal.stop();

  expect(await terminal.ended).toBe("by Ctrl-D");
  expect(terminal.cancelled).toEqual(["one"]);
});
