import { startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { createEmbedder } from "./create-embedder.ts";

test.each([
  ["counts", { usage: { prompt_tokens: 7 } }, 7],
  ["does not count", {}, 3],
])("embeddings of a provider that %s tokens cost tokens", async (_, usage, inputTokens) => {
  const body = JSON.stringify({ data: [{ embedding: [1, 2] }], ...usage });
  await using server = await startPageServer({
    "/v1/embeddings": { headers: { "content-type": "application/json" }, body },
  });
  const embedder = createEmbedder({ url: server.url, model: "small" });
  expect(await embedder.embed(["It is noon."], { signal: new AbortController().signal })).toEqual({
    vectors: [[1, 2]],
    inputTokens,
  });
});
