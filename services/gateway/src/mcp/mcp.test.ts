import { ToolError } from "@rockbot/contracts";
import { defineTool } from "@rockbot/tools";
import { describe, expect, test } from "vitest";
import { loose, serveOne, startTestGateway } from "../test-gateway.ts";
import { clients } from "./test-clients.ts";

const PATIENCE = { timeout: 20_000 };

describe.each(Object.entries(clients))("%s", (which, connect) => {
  const isNew = which.endsWith("newer era");

  test("lists the tools of the bus, with what is known of each", async () => {
    await using gateway = await startTestGateway();
    await using client = await connect(gateway);
    const tools = await client.listTools();

    expect(client.version).toBe(isNew ? "2026-07-28" : "2025-11-25");
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["echo", "get_tool_guide", "steps", "web_browse"]),
    );
    expect(tools.find(({ name }) => name === "web_browse")).toMatchObject({
      inputSchema: { type: "object", required: ["url"] },
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true, idempotentHint: true },
    });
  });

  test("calls a tool, and gets text, structured content and the call's id", async () => {
    await using gateway = await startTestGateway();
    await using client = await connect(gateway);
    await client.listTools(); // from now on it checks results by the tools' schemas
    const url = "https://example.com/";
    const result = await client.call({ name: "web_browse", arguments: { url } });

    expect(result).toMatchObject({
      content: [{ type: "text", text: "# Page" }],
      structuredContent: { url, title: "Page" },
    });
    expect(result._meta?.["rockbot/toolCallId"]).toMatch(/^[0-9a-f]{32}$/);
  });

  test("is told at once that a call is too large, in words", async () => {
    await using gateway = await startTestGateway();
    await using client = await connect(gateway);
    const call = client.call({ name: "echo", arguments: { a: "x".repeat(1024 * 1024) } });

    await expect(call).rejects.toMatchObject({
      message: expect.stringContaining("it is larger than 1048576 bytes"),
      data: { code: "too_large", isRetryable: false },
    });
  });

  test("hears of a call's progress", async () => {
    await using gateway = await startTestGateway();
    await using client = await connect(gateway);
    const updates: object[] = [];
    const result = await client.call({ name: "steps" }, { onprogress: (update) => updates.push(update) });

    expect(result.content).toEqual([{ type: "text", text: "done" }]);
    expect(updates).toEqual([{ progress: 1, total: 2, message: "half" }]);
  });

  test("cancels a call wherever it runs", async () => {
    await using gateway = await startTestGateway();
    await using client = await connect(gateway);
    const abort = new AbortController();
    const call = client.call({ name: "wait", arguments: { id: "a" } }, { signal: abort.signal });
    call.catch(() => {});
    await expect.poll(() => gateway.waiting, PATIENCE).toEqual(["a"]);
    abort.abort();

    await expect(call).rejects.toThrow();
    await expect.poll(() => gateway.aborted, PATIENCE).toEqual(["a"]);
    expect((await client.call({ name: "echo", arguments: { b: 1 } })).content).toEqual([
      { type: "text", text: '{"b":1}' },
    ]);
  });

  test("gives its calls up by going away", async () => {
    await using gateway = await startTestGateway();
    {
      await using client = await connect(gateway);
      client.call({ name: "wait", arguments: { id: "b" } }).catch(() => {});
      await expect.poll(() => gateway.waiting, PATIENCE).toEqual(["b"]);
    }
    await expect.poll(() => gateway.aborted, PATIENCE).toEqual(["b"]);
  });

  test("finds the answer of a call that was to go on without it", async () => {
    await using gateway = await startTestGateway();
    const call = {
      name: "soon",
      arguments: { ms: 1_000 },
      _meta: { "rockbot/idempotencyKey": "later", "rockbot/onClose": "keep" },
    };
    {
      await using client = await connect(gateway);
      client.call(call).catch(() => {});
      await expect.poll(() => gateway.waiting, PATIENCE).toEqual(["soon"]);
    }
    const found = async () => (await gateway.send({ path: "/v1/calls/later" })).json;
    await expect.poll(found, PATIENCE).toMatchObject({ state: "answered", result: { content: "done" } });
  });

  test("is told when tools come and go", async () => {
    await using gateway = await startTestGateway();
    let news = 0;
    await using client = await connect({ url: gateway.url, onToolsChanged: () => news++ });
    const names = async () => (await client.listTools()).map(({ name }) => name);
    await expect.poll(() => gateway.gateway.mcpLoad.listeners, PATIENCE).toBe(1);
    {
      await using _more = await serveOne(
        gateway.bus,
        defineTool(loose("newcomer"), async () => "hello"),
      );
      await expect.poll(() => news, PATIENCE).toBeGreaterThan(0);
      expect(await names()).toContain("newcomer");
      expect((await client.call({ name: "newcomer" })).content).toEqual([{ type: "text", text: "hello" }]);
      news = 0;
    }
    await expect.poll(() => news, PATIENCE).toBeGreaterThan(0);
    expect(await names()).not.toContain("newcomer");
  });

  test("reads guides as prompts and as resources", async () => {
    await using gateway = await startTestGateway();
    await using client = await connect(gateway);
    const text = "# Test tools\n\nCall them.";

    expect(await client.listPrompts()).toMatchObject([{ name: "test-tools", description: "How to test." }]);
    expect(await client.getPrompt("test-tools")).toMatchObject({
      messages: [{ role: "user", content: { type: "text", text } }],
    });
    await expect(client.getPrompt("test-tool")).rejects.toThrow('did you mean "test-tools"?');
    const [resource] = await client.listResources();
    expect(resource).toMatchObject({ uri: "rockbot://guides/test-tools", mimeType: "text/markdown" });
    expect(await client.readResource(String(resource?.uri))).toMatchObject({
      contents: [{ mimeType: "text/markdown", text }],
    });
    await expect(client.readResource("rockbot://guides/none")).rejects.toThrow("There is no such resource");
  });

  test("reads in words why a call failed, with its code and when to come back", async () => {
    await using gateway = await startTestGateway();
    await using client = await connect(gateway);
    const limited = await client.call({ name: "fail", arguments: { code: "rate_limited", retryAfterMs: 1234 } });
    const crashed = await client.call({ name: "crash" });
    const sad = await client.call({ name: "sad" });

    expect(limited).toMatchObject({
      isError: true,
      content: [{ text: "Cannot do it: this tool always fails\n(rate_limited, try again in 1234 ms)" }],
      _meta: {
        "rockbot/error": {
          code: "rate_limited",
          isRetryable: true,
          retryAfterMs: 1234,
          toolName: "fail",
          toolCallId: expect.any(String),
        },
      },
    });
    expect(crashed).toMatchObject({ isError: true, _meta: { "rockbot/error": { code: "execution_failed" } } });
    expect(JSON.stringify(crashed)).not.toMatch(/node_modules|\.ts:\d/);
    expect(sad).toMatchObject({ isError: true, content: [{ text: "It did not work out." }] });
    await expect(client.call({ name: "ecko" })).rejects.toThrow('did you mean "echo"?');
  });

  test("lists and calls tools whose schemas refer to themselves, with an end or without", async () => {
    await using gateway = await startTestGateway();
    const schemas = {
      tree: { type: "object", properties: { child: { $ref: "#" } } },
      endless: { type: "object", allOf: [{ $ref: "#" }] },
    };
    await using _tree = await serveOne(
      gateway.bus,
      defineTool(loose("tree", schemas.tree), async () => "a tree"),
    );
    await using _endless = await serveOne(
      gateway.bus,
      defineTool(loose("endless", schemas.endless), async () => "no end"),
    );
    await using client = await connect(gateway);
    const listed = (await client.listTools()).filter(({ name }) => name in schemas);

    expect(listed.map(({ name, inputSchema }) => [name, inputSchema])).toEqual([
      ["endless", { ...schemas.endless, properties: {} }],
      ["tree", schemas.tree],
    ]);
    expect(await client.call({ name: "tree", arguments: { child: { child: {} } } })).toMatchObject({
      content: [{ text: "a tree" }],
    });
    expect(await client.call({ name: "endless" })).toMatchObject({ content: [{ text: "no end" }] });
  });

  test("lists all tools, whatever schemas one of them has: properties are named, be there none", async () => {
    await using gateway = await startTestGateway();
    const odd = { type: "object", $schema: 3, properties: { a: true, b: false, c: "text" }, required: "a" };
    const tools = [
      { ...loose("odd-input", odd), outputSchema: { type: "object", properties: [1], required: 7 } },
      { ...loose("odd-output", { type: "object", properties: null }), outputSchema: odd },
      { ...loose("list-output"), outputSchema: { type: "array" } },
    ];
    for (const tool of tools)
      await serveOne(
        gateway.bus,
        defineTool(tool, async () => "hello"),
      );
    await using client = await connect(gateway);
    const inputs = (await client.listTools())
      .filter(({ name }) => /odd|list-/.test(name))
      .map(({ name, inputSchema }) => [name, inputSchema]);
    expect(inputs).toEqual([
      ["list-output", { type: "object", properties: {} }],
      ["odd-input", { type: "object", properties: { a: {}, b: { not: {} }, c: {} } }],
      ["odd-output", { type: "object", properties: {} }],
    ]);
  });

  test("is told every fault of what it sends beside the arguments", async () => {
    await using gateway = await startTestGateway();
    await using client = await connect(gateway);
    const _meta = {
      "rockbot/idempotencyKey": "with blank",
      "rockbot/ageMs": -1,
      "rockbot/timeoutMs": 0,
      "rockbot/sessionId": "",
      "rockbot/onClose": "wait",
    };

    await expect(client.call({ name: "echo", _meta })).rejects.toThrow(
      /idempotencyKey.*ageMs.*timeoutMs.*sessionId.*onClose/s,
    );
    const timely = await client.call({ name: "wait", arguments: { id: "c" }, _meta: { "rockbot/timeoutMs": 50 } });
    expect(timely).toMatchObject({ isError: true, _meta: { "rockbot/error": { code: "timeout" } } });
  });

  test("sees blocks that are no text where they were, and whence they are", async () => {
    await using gateway = await startTestGateway();
    const image = { type: "image", data: "aGFsbG8=", mimeType: "image/png" };
    const picture = defineTool(loose("picture"), async () => ({
      content: "before\n[image image/png, 5 bytes: structured.$content[0]]\nafter",
      structured: { $content: [image] },
      trust: { level: "untrusted" as const, origin: "mcp:pictures" },
    }));
    await using _pictures = await serveOne(gateway.bus, picture);
    await using client = await connect(gateway);
    const result = await client.call({ name: "picture" });

    expect(result.content).toEqual([{ type: "text", text: "before" }, image, { type: "text", text: "after" }]);
    expect(result).not.toHaveProperty("structuredContent");
    expect(result._meta).toMatchObject({ "rockbot/trust": { level: "untrusted", origin: "mcp:pictures" } });
  });

  test("repeats a call by its key without a second effect", async () => {
    await using gateway = await startTestGateway();
    let runs = 0;
    const counting = defineTool({ ...loose("counting"), readOnly: false, idempotent: false }, async () => {
      if (runs++ > 0) throw new ToolError("execution_failed", "Cannot run twice");
      return "once";
    });
    await using _counting = await serveOne(gateway.bus, counting);
    await using client = await connect(gateway);
    const call = { name: "counting", _meta: { "rockbot/idempotencyKey": "order-1" } };
    const first = await client.call(call);
    const second = await client.call(call);

    expect([first.content, second.content]).toEqual([
      [{ type: "text", text: "once" }],
      [{ type: "text", text: "once" }],
    ]);
    expect([runs, second._meta?.["rockbot/toolCallId"]]).toEqual([1, first._meta?.["rockbot/toolCallId"]]);
    const lost = await client.call({
      name: "counting",
      _meta: { "rockbot/idempotencyKey": "order-2", "rockbot/ageMs": 600_000 },
    });
    expect(lost).toMatchObject({ isError: true, _meta: { "rockbot/error": { code: "outcome_unknown" } } });
    expect((await gateway.send({ path: "/v1/calls/order-1" })).json).toMatchObject({
      toolName: "counting",
      result: { content: "once" },
    });
  });
});
