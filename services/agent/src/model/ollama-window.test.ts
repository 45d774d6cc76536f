import { startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { ollamaWindow } from "./ollama-window.ts";

const json = (body: unknown) => ({ headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
const little = (tokens: number) => ({
  tokens,
  warning: expect.stringMatching(new RegExp(`${tokens} tokens.*OLLAMA_CONTEXT_LENGTH=`)),
});

test.each([
  ["nothing says more", {}, {}, little(4_096)],
  ["the model was made with more", {}, { parameters: 'stop "x"\nnum_ctx                        8192' }, little(8_192)],
  [
    "it runs with enough",
    { models: [{ name: "qwen3:latest", context_length: 32_768 }] },
    {},
    { tokens: 32_768, warning: undefined },
  ],
])(
  "the room that an Ollama gives is known, and little room is a warning with the remedy: %s",
  async (_, running, shown, window) => {
    await using ollama = await startPageServer({ "/api/ps": json(running), "/api/show": json(shown) });
    const chosen = { url: `${ollama.url}/v1`, model: "qwen3", isFound: true };

    expect(await ollamaWindow(chosen, {})).toEqual(window);
    expect(await ollamaWindow(chosen, { qwen: { contextTokens: 64_000 } })).toBeUndefined();
    expect(await ollamaWindow({ ...chosen, isFound: false }, {})).toBeUndefined();
  },
);
