import { createMemoryBus } from "@rockbot/bus";
import type { Embedder } from "@rockbot/llm";
import { createMemoryBlobStore } from "@rockbot/records/blobs";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { agentEmbed } from "./agent-embed.ts";

/** An answer by the bus has room for 26 vectors of so many numbers, one by a blob for 104. */
const LONG = 60_000;

/** The tool over a model that writes down how many texts it is asked about. */
async function start(numbers: number, { keepsDimensions = true, hasBlobs = false } = {}) {
  const asked: number[] = [];
  const embedder: Embedder = {
    id: "small",
    async embed(texts, { dimensions = numbers }) {
      asked.push(texts.length);
      const length = keepsDimensions ? dimensions : numbers;
      return { vectors: texts.map(() => Array<number>(length).fill(1)), inputTokens: texts.length };
    },
  };
  await using started = new AsyncDisposableStack();
  const bus = started.use(createMemoryBus());
  const tool = agentEmbed({ embedder, price: undefined, spending: undefined });
  const blobs = started.use(createMemoryBlobStore());
  started.use(await serveTools(bus, { tools: [tool] }, { service: "agent", blobs }));
  const caller = started.use(await createToolCaller(bus, { agent: "tester", blobs: hasBlobs ? blobs : undefined }));
  await caller.discovered();
  const parts = started.move();
  const embed = async (count: number, more: object = {}) => {
    const { structured } = await caller.call("agent__embed", { texts: Array<string>(count).fill("a"), ...more });
    return structured as { readonly embeddings: readonly string[]; readonly input_tokens: number };
  };
  return { asked, embed, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

test("more vectors than an answer carries are refused before the model makes them, with how many there may be", async () => {
  await using system = await start(LONG);
  const { asked, embed } = system;
  const refused = { code: "invalid_arguments", message: expect.stringContaining("Send at most 26 texts at once") };
  await expect(embed(100)).rejects.toMatchObject(refused);
  expect(asked).toEqual([1]); // how long a vector is was not known
  await expect(embed(27)).rejects.toMatchObject(refused);
  await expect(embed(27, { dimensions: LONG })).rejects.toMatchObject(refused);
  expect(asked).toEqual([1]);
  expect((await embed(26)).embeddings).toHaveLength(26);
  expect((await embed(100, { dimensions: 10 })).embeddings).toHaveLength(100);
});

test("a model that does not keep to the length that is asked for is an error, and no other vectors", async () => {
  await using system = await start(3, { keepsDimensions: false });
  await expect(system.embed(1, { dimensions: 2 })).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringContaining("have 3 numbers, and dimensions asks for 2"),
    details: { param: "dimensions" },
  });
  expect((await system.embed(1, { dimensions: 3 })).embeddings).toHaveLength(1);
});

test("what the first of many texts cost counts, and it is not asked about again", async () => {
  await using system = await start(10);
  const { embeddings, input_tokens } = await system.embed(30);
  expect([embeddings.length, input_tokens, system.asked]).toEqual([30, 30, [1, 29]]);
});

test("an answer has the room of the blob store only where its caller reads from that", async () => {
  await using system = await start(LONG, { hasBlobs: true });
  await expect(system.embed(200)).rejects.toMatchObject({ message: expect.stringContaining("at most 104 texts") });
});

test("a model that makes longer vectors than it was asked for is not paid for more than an answer carries", async () => {
  await using system = await start(LONG, { keepsDimensions: false });
  const saying = (words: string) => ({ message: expect.stringContaining(words) });
  await expect(system.embed(100, { dimensions: 10 })).rejects.toMatchObject(saying("dimensions asks for 10"));
  await expect(system.embed(100, { dimensions: 10 })).rejects.toMatchObject(saying("Send at most 26 texts at once"));
  expect(system.asked).toEqual([1]);
});
