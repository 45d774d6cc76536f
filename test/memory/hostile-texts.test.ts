import { chunkContent } from "@rockbot/memory";
import { expect, test } from "vitest";
import { hostileTexts } from "./hostile-texts.ts";

const MAX_LENGTH = 10_000;

test.each(Object.entries(hostileTexts(400_000)))(
  "a text that splitters are slow on is chunked as any other: %s",
  (_, text) => {
    const chunks = chunkContent(text, { maxLength: MAX_LENGTH });
    let at = 0;
    for (const { text: own, start, end } of chunks) {
      expect(start).toBe(at);
      expect(own.length).toBeLessThanOrEqual(MAX_LENGTH);
      at = end;
    }
    expect(at).toBe(text.length);
    expect(chunks.length).toBeLessThan(100);
  },
);
