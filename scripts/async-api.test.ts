import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Parser } from "@asyncapi/parser";
import { messages } from "@rockbot/contracts";
import { expect, test } from "vitest";

test("the AsyncAPI document is one that its own parser accepts, and has every message", async () => {
  const text = await readFile(join(import.meta.dirname, "../packages/contracts/asyncapi.yaml"), "utf8");
  const { document, diagnostics } = await new Parser().parse(text);
  expect(diagnostics.filter(({ severity }) => severity === 0)).toEqual([]);
  expect(
    document
      ?.allMessages()
      .all()
      .map((message) => message.name())
      .sort(),
  ).toEqual(
    Object.values(messages)
      .map(({ type }) => type)
      .sort(),
  );
});
