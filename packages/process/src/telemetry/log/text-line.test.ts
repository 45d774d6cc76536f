import { registerSecret } from "@rockbot/base/redaction";
import { expect, test } from "vitest";
import { createLog } from "./create-log.ts";
import { textLine } from "./text-line.ts";

function textLogInMemory(format: "text" | "colours" = "text") {
  const texts: string[] = [];
  return {
    texts,
    log: createLog({ write: (line: string) => texts.push(line) }, { service: "web-tools", version: "1.2.3", format }),
  };
}

test("a line for a terminal has time, level, service, event and fields", () => {
  const { log, texts } = textLogInMemory();
  log.warn({ tool: "web_browse", bytes: 12, reason: "two words", list: [1, { a: true }] }, "a call failed");

  expect(texts).toEqual([
    expect.stringMatching(
      /^\d\d:\d\d:\d\d\.\d{3} WARN {2}web-tools a call failed tool=web_browse bytes=12 reason="two words" list=\[1,\{"a":true\}\]\n$/,
    ),
  ]);
});

test("an error is on the same line, with its causes and the place where it was thrown", () => {
  const { log, texts } = textLogInMemory();
  log.error({ err: new Error("Cannot connect", { cause: new TypeError("refused") }) }, "failed");

  expect(texts).toEqual([
    expect.stringMatching(/ failed err="Error: Cannot connect, by TypeError: refused" at=.*text-line\.test\.ts.*\n$/),
  ]);
});

test("no text starts another line or reaches the terminal's controls", () => {
  const { log, texts } = textLogInMemory();
  log.info({ "a\u001b[2J": "b\u001b[2J\n", c: "\u202ed\u009b\u{e0041}" }, "first\nsecond\u001b]0;title\u0007");

  expect(texts).toHaveLength(1);
  expect(texts[0]).toMatch(/^[\x20-\x7e]+\n$/);
  expect(texts[0]).toContain("first\\nsecond");
});

test("secrets are redacted in a text line, too", () => {
  registerSecret('canary "in text lines"');
  const { log, texts } = textLogInMemory("colours");
  log
    .child({ apiKey: "canary" })
    .error({ password: "canary", err: new Error('say canary "in text lines"') }, 'say canary "in text lines"');

  expect(texts.join("")).not.toContain("canary");
  expect(texts.join("")).toContain("[redacted]");
});

test("a line of which redaction has left no JSON is shown as it is, but for controls", () => {
  expect(textLine('{"msg":"\u001b[2J[redacted]\n')).toBe('{"msg":"\\u001b[2J[redacted]\n');
});

test("colours are escape codes around the same text", () => {
  const json = JSON.stringify({
    level: "info",
    time: "2026-01-02T03:04:05.678Z",
    service: "gateway",
    port: 8480,
    msg: "ready",
  });

  const coloured = textLine(json, { hasColours: true });

  expect(coloured).toContain("\u001b[");
  expect(coloured.replaceAll(/\u001b\[\d+m/g, "")).toBe(textLine(json));
  expect(textLine(json)).toBe("03:04:05.678 INFO  gateway ready port=8480\n");
});
