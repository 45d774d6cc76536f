import { expect, test } from "vitest";
import { readLines } from "./read-lines.ts";

async function linesOf(chunks: readonly string[], maxBytes = 10): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readLines(chunked(chunks), maxBytes)) lines.push(line);
  return lines;
}

async function* chunked(chunks: readonly string[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

test("lines come whole, however they were cut; what is no whole line is left out", async () => {
  expect(await linesOf(["on", "e\ntwo\n\nth", "r", "ee\nfo"])).toEqual(["one", "two", "", "three"]);
});

test("a line without an end is not kept for ever", async () => {
  await expect(linesOf(["12345", "678901"])).rejects.toThrow(RangeError);
});
