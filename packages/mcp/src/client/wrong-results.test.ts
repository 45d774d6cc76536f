import { type Logger, silentLogger } from "@rockbot/bus";
import { type RawAnswers, startRawHttpServer } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { callTool, startServer, until } from "./test-servers.ts";

const tools = [{ name: "act", inputSchema: { type: "object" } }];
const text = { type: "text", text: "readable" };

async function answerOf(answers: RawAnswers, log: Logger = silentLogger): Promise<unknown> {
  await using peer = await startRawHttpServer({ tools, ...answers });
  await using server = startServer(
    { type: "http", url: peer.url, headers: {} },
    { secrets: ["canary-secret"] },
    { log },
  );
  await until(server, "ready");
  return await callTool(server, "act", {}, { timeoutMs: 5_000 }).catch((error: unknown) => error);
}

/** Results that are slightly wrong, or more than text, and what becomes of them. */
const results: readonly (readonly [string, unknown, object])[] = [
  [
    "a block of an unknown type",
    { content: [text, { type: "video", url: "https://v.example/1" }, text] },
    {
      content: "readable\n[content of the type video: structured.$content[0]]\nreadable",
      structured: { $content: [{ type: "video", url: "https://v.example/1" }] },
    },
  ],
  [
    "text in a block of an unknown type",
    { content: [{ type: "markdown", text: "# T" }] },
    { content: "[content of the type markdown: structured.$content[0]]\n# T" },
  ],
  [
    "a block without a type",
    { content: [text, {}] },
    { content: "readable\n[content of the type undefined: structured.$content[0]]" },
  ],
  [
    "a block that is null",
    { content: [text, null] },
    { content: "readable\n[content of the type undefined: structured.$content[0]]", structured: { $content: [null] } },
  ],
  ["a block that is a text", { content: ["bare", text] }, { content: "bare\nreadable" }],
  [
    "an image that is none",
    { content: [text, { type: "image", data: "§", mimeType: "image/png" }] },
    { content: "readable\n[content of the type image: structured.$content[0]]" },
  ],
  [
    "an image without data",
    { content: [text, { type: "image" }] },
    { content: "readable\n[content of the type image: structured.$content[0]]" },
  ],
  [
    "a resource that is null",
    { content: [text, { type: "resource", resource: null }] },
    { content: "readable\n[content of the type resource: structured.$content[0]]" },
  ],
  ["content that is a text", { content: "bare" }, { content: "bare", isError: false }],
  ["content that is one block", { content: text }, { content: "readable" }],
  ["content null", { content: null, structuredContent: { a: 1 } }, { content: '{"a":1}', structured: { a: 1 } }],
  ["no content", { structuredContent: { a: 1 } }, { content: '{"a":1}' }],
  ["nothing of what a result has", { temperature: 21 }, { content: '{"temperature":21}' }],
  ["isError null", { content: [text], isError: null }, { content: "readable", isError: false }],
  ["isError a text", { content: [text], isError: "true" }, { content: "readable", isError: true }],
  ["_meta a text", { content: [text], _meta: "x" }, { content: "readable", structured: { $meta: { value: "x" } } }],
  ["_meta null", { content: [text], _meta: null }, { content: "readable" }],
  ["_meta", { content: [text], _meta: { trace: 7 } }, { content: "readable", structured: { $meta: { trace: 7 } } }],
  [
    "annotations",
    { content: [{ ...text, annotations: { audience: ["user"], priority: 1 }, _meta: { n: 1 } }] },
    {
      content: "readable",
      structured: { $annotations: [{ block: 0, annotations: { audience: ["user"], priority: 1 }, _meta: { n: 1 } }] },
    },
  ],
  [
    "annotations that are none",
    { content: [text, { ...text, annotations: { priority: 7 } }] },
    { content: "readable\nreadable", structured: { $annotations: [{ block: 1, annotations: { priority: 7 } }] } },
  ],
  ["annotations null", { content: [{ ...text, annotations: null }] }, { content: "readable", isError: false }],
];

describe.each(["older", "newer"] as const)("a server of the %s era", (era) => {
  test.each(results)("gives %s: nothing that can be read is lost", async (_, result, expected) => {
    const answer = await answerOf({ era, calls: { act: { result } } });
    expect(answer).not.toBeInstanceOf(Error);
    expect(answer).toMatchObject(expected);
  });

  test.each<readonly [string, unknown, object]>([
    ["is missing", undefined, { structured: undefined }],
    ["is null", null, { structured: undefined }],
    ["does not fit", { degrees: "warm" }, { structured: { degrees: "warm" } }],
    ["is a list", [1, 2], { structured: { $value: [1, 2] } }],
  ])(
    "has a text beside structured content that %s: the text is kept, and the fault said beside it",
    async (_, structuredContent, expected) => {
      const outputSchema = { type: "object", required: ["degrees"], properties: { degrees: { type: "number" } } };
      const promised = [{ ...tools[0], outputSchema }];
      const result = { content: [text], ...(structuredContent === undefined ? {} : { structuredContent }) };
      const found = await answerOf({ era, tools: promised, calls: { act: { result } } });
      expect(found).toMatchObject({
        isError: true,
        content: expect.stringMatching(
          /^readable\n\n\[The tool has run, and its result breaks the tool's own schema: /,
        ),
      });
      expect((found as { structured?: unknown }).structured).toEqual((expected as { structured: unknown }).structured);
    },
  );

  test("wants its user to open an address: the model learns which, and nothing was run", async () => {
    const elicitations = [
      { mode: "url", elicitationId: "e1", url: "https://auth.example/connect?id=1", message: "Connect." },
    ];
    const answer = await answerOf({
      era,
      calls: { act: { error: { code: -32042, message: "Authorization is needed", data: { elicitations } } } },
    });
    expect(answer).toMatchObject({
      code: "unavailable",
      isRetryable: false,
      message: expect.stringMatching(
        /wants its user to open https:\/\/auth\.example\/connect\?id=1 first.*The server says: Authorization is needed/,
      ),
      details: { mayHaveRun: false, reason: "url_elicitation_required", urls: ["https://auth.example/connect?id=1"] },
    });
  });

  test.each([
    null,
    "x",
    [],
    { elicitations: null },
    { elicitations: [null, { url: 7 }, { url: "javascript:alert(1)" }] },
  ])("wants that and names no address but %j", async (data) => {
    const answer = await answerOf({ era, calls: { act: { error: { code: -32042, message: "Needed", data } } } });
    expect(answer).toMatchObject({ code: "unavailable", details: { urls: [] } });
  });

  test("says more of an error than its words: that is told, without secrets", async () => {
    const answer = await answerOf({
      era,
      calls: { act: { error: { code: -32000, message: "No luck", data: { row: 7, key: "canary-secret" } } } },
    });
    expect(answer).toMatchObject({
      code: "execution_failed",
      message: expect.stringMatching(/The server says: No luck\. It adds: \{"row":7/),
    });
    expect(answer).toMatchObject({ details: { serverData: expect.stringContaining('"row":7') } });
    expect(JSON.stringify(answer) + String((answer as Error).message)).not.toContain("canary");
  });
});

test("what a server says for a log is in ours, without secrets, and a flood of it is counted", async () => {
  const lines: { readonly level: string; readonly fields: object; readonly message: string }[] = [];
  const note = (level: string) => (fields: object, message: string) => void lines.push({ level, fields, message });
  const log: Logger = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
  const said = (params: unknown) => ({ method: "notifications/message", params });
  const flood = Array.from({ length: 40 }, (_, i) => said({ level: "debug", data: i }));
  const before = [
    said({ level: "error", logger: "db", data: { key: "canary-secret" } }),
    said({}),
    said({ level: 7 }),
    ...flood,
  ];
  expect(await answerOf({ before }, log)).toMatchObject({ content: "fine" });
  const heard = lines.filter(({ message }) => message === "MCP server says");
  expect(heard.slice(0, 4)).toMatchObject([
    { level: "warn", fields: { server: "tested", logger: "db", said: expect.stringContaining('"key"') } },
    { level: "info", fields: { said: "nothing" } },
    { level: "info", fields: { said: "nothing" } },
    { level: "debug", fields: { said: "0" } },
  ]);
  expect(heard).toHaveLength(20);
  expect(JSON.stringify(lines)).not.toContain("canary");
});
