import { PassThrough } from "node:stream";
import { silentLogger } from "@rockbot/bus";
import { describe, expect, test } from "vitest";
import { serveToolsOverStdio } from "./serve-stdio.ts";
import { serveMcpStdio } from "./standalone/serve-mcp-stdio.ts";
import type { ToolSource } from "./tool-source.ts";

const PATIENCE = { timeout: 20_000 };

interface Answer {
  readonly id: unknown;
  readonly result?: { readonly content: readonly { readonly text: string }[] };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: object };
}

interface Conversation extends AsyncDisposable {
  readonly input: PassThrough;
  readonly answers: () => readonly Answer[];
  readonly text: () => string;
  readonly isEnded: () => boolean;
}

const say = { name: "say", description: "Says.", parameters: { type: "object" }, readOnly: true, idempotent: true };
const source: ToolSource = {
  maxTimeoutMs: 1_000,
  listTools: async () => [say],
  findTool: async (name) => (name === say.name ? say : undefined),
  getGuides: async () => [],
  toolCallIdOf: () => "id",
  call: async (toolName, args) => ({ toolCallId: "id", toolName, content: JSON.stringify(args) }),
};

/** The doors that read standard input, each with a tool that says the arguments that have arrived. */
const doors = {
  "mcp serve": () =>
    conversation((streams) =>
      serveToolsOverStdio(source, { ...streams, onChange: () => () => {}, version: "1.0.0", log: silentLogger }),
    ),
  "a server of ours": () =>
    conversation((streams) => {
      const tool = {
        name: "say",
        description: "Says.",
        inputSchema: { type: "object" },
        isReadOnly: true,
        run: async (args: object) => JSON.stringify(args),
      } as const;
      return serveMcpStdio({ name: "served", version: "1.0.0", tools: [tool] }, streams);
    }),
};

async function conversation(
  serve: (streams: { input: PassThrough; output: PassThrough }) => AsyncDisposable & { readonly ended: Promise<void> },
): Promise<Conversation> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = serve({ input, output });
  let text = "";
  let isEnded = false;
  void server.ended.then(() => (isEnded = true));
  output.setEncoding("utf8").on("data", (part: string) => (text += part));
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id: "hello", method: "initialize", params: hello })}\n`);
  const answers = () => text.split("\n").slice(0, -1).map((line) => JSON.parse(line) as Answer); // biome-ignore format: one line
  await expect.poll(() => answers().length, PATIENCE).toBe(1);
  return {
    input,
    answers,
    text: () => text,
    isEnded: () => isEnded,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const call = (id: number, args: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"say","arguments":${args}}}\n`;

describe.each(Object.entries(doors))("over stdio %s", (_, open) => {
  test.each([
    ["a key that reaches for the prototype", '{"__proto__":{"a":1}}', /forbidden key/],
    ["a number too large", '{"a":1e999}', /1e999/],
    ["an integer beyond 2^53", '{"a":9007199254740993}', /9007199254740993/],
    ["the same key twice", '{"a":1,"a":2}', /same key twice/],
    ["more levels than are taken", `${'{"a":'.repeat(100)}1${"}".repeat(100)}`, /nested deeper/],
  ])("refuses in words a call whose arguments hold %s, and answers the next", async (__, args, words) => {
    await using door = await open();
    door.input.write(call(1, args) + call(2, '{"a":1}'));

    await expect
      .poll(() => door.answers().find(({ id }) => id === 2)?.result?.content[0]?.text, PATIENCE)
      .toBe('{"a":1}');
    const refused = door.answers().find(({ id }) => id === 1);
    expect(refused?.error).toMatchObject({
      code: -32_600,
      message: expect.stringMatching(words),
      data: { code: "invalid_arguments", isRetryable: false },
    });
  });

  test("answers what is no message by an error, with its id if it has one", async () => {
    await using door = await open();
    door.input.write(
      '{"jsonrpc":\n{"jsonrpc":"2.0","id":1,"method":5}\n[{"jsonrpc":"2.0","id":2,"method":"ping"}]\n\n \r\n',
    );
    door.input.write(Buffer.from([0xff, 0xfe, 0x0a]));
    door.input.write('{"jsonrpc":"2.0","id":3,"method":"ping"}\r\n');

    await expect
      .poll(() => door.answers().map(({ id, error }) => [id, error?.code]), PATIENCE)
      .toEqual([
        ...[["hello", undefined], [null, -32_700], [1, -32_600], [null, -32_600], [null, -32_700], [3, undefined]], // biome-ignore format: a table
      ]);
  });

  test("answers one message that is too large by too_large, in pieces as it comes, and goes on", async () => {
    await using door = await open();
    const large = call(1, JSON.stringify({ a: "x".repeat(1024 * 1024) }));
    for (let from = 0; from < large.length; from += 50_000) door.input.write(large.slice(from, from + 50_000));
    for (let mib = 0; mib < 17; mib++) door.input.write("y".repeat(1024 * 1024)); // one without an end, almost
    door.input.write(`\n${call(3, "{}")}`);

    await expect.poll(() => door.answers().map(({ id }) => id), PATIENCE).toEqual(["hello", 1, null, 3]);
    const [, first, second] = door.answers();
    const tooLarge = {
      code: -32_600,
      message: expect.stringContaining("larger than 1048576 bytes"),
      data: { code: "too_large", isRetryable: false },
    };
    expect([first?.error, second?.error]).toMatchObject([tooLarge, tooLarge]);
    expect(door.isEnded()).toBe(false);
  });

  test("writes no line that readers of text take for several", async () => {
    await using door = await open();
    door.input.write(call(1, '{"a":"\u2028\u2029\u0085"}'));

    await expect
      .poll(() => door.answers().find(({ id }) => id === 1)?.result?.content[0]?.text, PATIENCE)
      .toBe('{"a":"\u2028\u2029\u0085"}');
    expect(door.text()).not.toMatch(/[\u2028\u2029\u0085]/);
  });

  test("ends with its client", async () => {
    await using door = await open();
    door.input.end();
    await expect.poll(door.isEnded, PATIENCE).toBe(true);
  });
});
