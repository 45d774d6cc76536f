import { createMemoryBus } from "@rockbot/bus";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { testPolicy, testSet, testTool } from "../test-tools.ts";

test("arguments that the policy does not take from a caller are refused with all their faults, and not changed", async () => {
  const policy = await testPolicy(`
everyone:
  allow: ["*"]
  rules: [{ tools: ["web_*"], arguments: { properties: { count: { maximum: 5, default: 1 } } } }]
callers:
  docs-reader:
    rules: [{ tools: [web_browse], arguments: { properties: { url: { type: string, pattern: "^https://docs[.]example/" } }, required: [url] } }]
`);
  await using bus = createMemoryBus();
  const browse = testTool("web_browse", async (input) => JSON.stringify(input));
  await using _service = await serveTools(bus, testSet(browse), { service: "web", policy });
  await using reader = await createToolCaller(bus, { agent: "docs-reader" });
  await using other = await createToolCaller(bus, { agent: "other" });
  await expect(reader.call("web_browse", { url: "https://elsewhere.example/", count: 6 })).rejects.toMatchObject({
    code: "denied",
    isRetryable: false,
    message:
      '"docs-reader" may use "web_browse" only with arguments that the policy allows: count: expected at most 5, got the number 6; ' +
      'url: expected text that matches ^https://docs[.]example/, got the text "https://elsewhere.example/". Change them.',
    details: { reason: "arguments", faults: [{ path: "/count" }, { path: "/url" }] },
  });
  await expect(reader.call("web_browse", {})).rejects.toMatchObject({
    message: expect.stringContaining("url: is required and missing"),
  });
  expect(await reader.call("web_browse", { url: "https://docs.example/a" })).toMatchObject({
    content: '{"url":"https://docs.example/a"}',
  });
  expect(await other.call("web_browse", { url: "https://elsewhere.example/" })).toMatchObject({
    content: '{"url":"https://elsewhere.example/"}',
  });
});
