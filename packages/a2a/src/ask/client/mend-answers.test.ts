import { text as textOf } from "node:stream/consumers";
import { expect, test } from "vitest";
import { mendAnswers } from "./mend-answers.ts";

function mended(text: string, isStream: boolean): Promise<string> {
  const chunks = (async function* () {
    yield Buffer.from(text);
  })();
  return textOf(mendAnswers(chunks, { isStream }));
}

test("an answer in a stream is mended whatever signs its texts have", async () => {
  const part = { kind: "text", text: "one\u2028two" };
  const answer = await mended(
    `event: m\r\ndata:${JSON.stringify({ result: { kind: "message", parts: [part] } })}\r\n\r\n`,
    true,
  );
  expect(answer).toMatch(/^event: m\r\ndata: .*\r\n\r\n$/s);
  expect(JSON.parse(answer.slice(16))).toEqual({
    result: { kind: "message", messageId: "unnamed", role: "agent", parts: [part] },
  });
});

test("an answer that nests too deep to be written again goes on as it came", async () => {
  const deep = `{"result":{"parts":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`;
  expect(await mended(deep, false)).toBe(deep);
});
