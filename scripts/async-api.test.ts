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

test("each request says where its answer goes, and what becomes of one that names no topic, as the services do it", async () => {
  const { document } = await new Parser().parse(await readFile(join(import.meta.dirname, "../packages/contracts/asyncapi.yaml"), "utf8"));
  const answerOf = (id: string) => {
    const reply = document
      ?.operations()
      .all()
      .find((operation) => operation.id() === id)
      ?.reply();
    return [reply?.channel()?.address(), reply?.address()?.description()];
  };
  const unanswered = /such as mcp\.manage\.response\.\{agent\}\. .*without it is dead-lettered/;
  for (const request of ["McpGetServiceDetailsRequest", "McpRegisterServerRequest", "McpUnregisterServerRequest"])
    expect(answerOf(`send${request}-mcp-manage`)).toEqual(["mcp.manage.response.{agent}", expect.stringMatching(unanswered)]);
  expect(answerOf("sendToolInvokeRequest-tool-invoke")).toEqual(["tool.result", expect.stringContaining("when it is empty, tool.result.")]);
  expect(answerOf("sendScriptInvokeRequest-script-invoke")).toEqual(["script.result", expect.stringContaining("when it is empty, script.result.")]);
  expect(answerOf("sendToolInvokeRequest-mcp-owner-instance")).toEqual(["mcp.owner.{instance}.answer", expect.stringContaining("is dropped")]);
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
