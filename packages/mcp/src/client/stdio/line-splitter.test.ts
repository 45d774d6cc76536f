import { expect, test } from "vitest";
import { LineSplitter } from "./line-splitter.ts";

test("lines come whole however they are cut, and one that is too long is dropped alone", () => {
  const lines: string[] = [];
  const dropped: [number, string][] = [];
  const splitter = new LineSplitter(
    { onLine: (line) => lines.push(line), onDropped: (bytes, ends) => dropped.push([bytes, ends]) },
    2_000,
  );
  const text = `first\n\nsecond ü\n{"id":7,${"x".repeat(5_000)},"end":true}\nlast\nunfinished`;
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 7) splitter.push(bytes.subarray(at, at + 7));
  expect(lines).toEqual(["first", "second ü", "last"]);
  expect(dropped).toEqual([[5_020, expect.stringMatching(/^\{"id":7,x+ x+,"end":true\}$/)]]);
});
