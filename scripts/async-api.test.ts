import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Parser } from "@asyncapi/parser";
import { mcpTopics, messages } from "@rockbot/contracts";
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

test("what replicas of the bridge say to each other is in the document, with where they answer", async () => {
  const { document } = await new Parser().parse(await readFile(join(import.meta.dirname, "../packages/contracts/asyncapi.yaml"), "utf8"));
  const carried = (address: string) => {
    const channel = document
      ?.channels()
      .all()
      .find((one) => one.address() === address);
    return channel
      ?.messages()
      .all()
      .map((message) => message.title())
      .sort();
  };
  expect(carried(mcpTopics.owner("{instance}"))).toEqual(["ToolCancel", "ToolInvokeRequest"]);
  expect(carried(mcpTopics.handedOver("{instance}"))).toEqual(["ToolError", "ToolInvokeResponse", "ToolProgress"]);
  const asking = document
    ?.operations()
    .all()
    .find((operation) => operation.id() === "sendToolInvokeRequest-mcp-owner-instance");
  expect(asking?.reply()?.channel()?.address()).toBe(mcpTopics.handedOver("{instance}"));
});
