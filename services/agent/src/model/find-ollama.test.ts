import { startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { findOllama } from "./find-ollama.ts";

const startOllama = (body: unknown) =>
  startPageServer({ "/api/tags": { headers: { "content-type": "application/json" }, body: JSON.stringify(body) } });

test("an Ollama that answers is found with its newest model, or the one that is wanted", async () => {
  await using ollama = await startOllama({ models: [{ name: "qwen3:8b" }, { name: "llama3.2:latest" }] });

  expect(await findOllama(ollama.url, undefined)).toEqual({ url: `${ollama.url}/v1`, model: "qwen3:8b" });
  expect(await findOllama(ollama.url, "llama3.2")).toEqual({ url: `${ollama.url}/v1`, model: "llama3.2:latest" });
  expect(await findOllama(ollama.url, "phi")).toBe(`the Ollama at ${ollama.url} has no model "phi"`);
});

test("what is no Ollama, has no models, or is silent is not taken for one", async () => {
  await using empty = await startOllama({ models: [] });
  await using other = await startPageServer({ "/api/tags": "<h1>hello</h1>" });
  await using silent = await startPageServer({ "/api/tags": () => {} });

  expect(await findOllama(empty.url, undefined)).toBe(`the Ollama at ${empty.url} has no models`);
  expect(await findOllama(other.url, undefined)).toBe(`the server at ${other.url} is not an Ollama`);
  expect(await findOllama(silent.url, undefined)).toBe(`no Ollama answers at ${silent.url}`);
});
