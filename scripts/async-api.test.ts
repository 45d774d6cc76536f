import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Parser } from "@asyncapi/parser";
import { MAX_REQUEST_BYTES, mcpTopics, messages, ToolErrorCode } from "@rockbot/contracts";
import { HEARTBEAT_MS, MAX_RESULT_BYTES, MAX_TIMEOUT_MS } from "@rockbot/tools/limits";
import { expect, test } from "vitest";
import { parse } from "yaml";

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
  const { document } = await new Parser().parse(
    await readFile(join(import.meta.dirname, "../packages/contracts/asyncapi.yaml"), "utf8"),
  );
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
    expect(answerOf(`send${request}-mcp-manage`)).toEqual([
      "mcp.manage.response.{agent}",
      expect.stringMatching(unanswered),
    ]);
  expect(answerOf("sendToolInvokeRequest-tool-invoke")).toEqual([
    "tool.result",
    expect.stringContaining("when it is empty, tool.result."),
  ]);
  expect(answerOf("sendScriptInvokeRequest-script-invoke")).toEqual([
    "script.result",
    expect.stringContaining("when it is empty, script.result."),
  ]);
  expect(answerOf("sendToolInvokeRequest-mcp-owner-instance")).toEqual([
    "mcp.owner.{instance}.answer",
    expect.stringContaining("is dropped"),
  ]);
});

test("what replicas of the bridge say to each other is in the document, with where they answer", async () => {
  const { document } = await new Parser().parse(
    await readFile(join(import.meta.dirname, "../packages/contracts/asyncapi.yaml"), "utf8"),
  );
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

test("the document says the queue arguments, numbers and patterns that the code goes by, and its words have no name without a value", async () => {
  const text = await readFile(join(import.meta.dirname, "../packages/contracts/asyncapi.yaml"), "utf8");
  const contract = parse(text)["x-rockbot"];
  const [main] = contract.serviceQueues.slice(-1);
  expect(main).toMatchObject({
    name: "rockbot.{subscription}.v1",
    arguments: { "x-queue-type": "quorum", "x-delivery-limit": 10 },
  });
  expect(contract.values).toMatchObject({ HEARTBEAT_MS, MAX_REQUEST_BYTES, MAX_RESULT_BYTES, MAX_TIMEOUT_MS });
  expect(contract.errorCodes).toEqual(Object.values(ToolErrorCode));
  expect(text).not.toMatch(/\$[A-Z][A-Z_]+/);
  expect(text).toContain("every 1 s, from when it takes calls on");
});

test("the document's clauses are sentences of at most 25 words", async () => {
  const { info } = parse(await readFile(join(import.meta.dirname, "../packages/contracts/asyncapi.yaml"), "utf8")) as {
    readonly info: { readonly description: string };
  };
  const sentences = info.description.split(/\n\n|(?<=\.)\s+/);
  expect(sentences.length).toBeGreaterThan(100);
  expect(sentences.filter((sentence) => sentence.split(/\s+/).length > 25)).toEqual([]);
});
