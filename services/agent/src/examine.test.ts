import { loadConfig } from "@rockbot/process/config";
import { startModelServer, startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { examine } from "./examine.ts";
import { configSchema } from "./generated/config.ts";

const look = async (url: string, model: string, key = "sk-test-0123456789abcdef") =>
  (await examine(loadConfig(configSchema, { env: { MODEL_URL: url, MODEL: model, MODEL_API_KEY: key } })))[0];

test("a model is looked for where it should be", async () => {
  await using server = await startModelServer([], { models: ["one"] });

  expect(await look(server.url, "one", server.apiKey)).toEqual({
    what: "model",
    state: "ok",
    message: `one at ${server.url}`,
  });
  expect(await look(server.url, "two", server.apiKey)).toMatchObject({
    state: "ok",
    message: expect.stringContaining("which does not list it"),
  });
  expect(await look(server.url, "one", "sk-wrong-key")).toMatchObject({
    state: "broken",
    message: expect.stringContaining("Check the API key"),
  });
  expect(await look("http://127.0.0.1:1/v1", "one")).toMatchObject({
    state: "broken",
    message: expect.stringContaining("Cannot list the models"),
  });
});

test("a server that gives a model less room than we think says so, and one without a list may have the model", async () => {
  const list = {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ data: [{ id: "small", max_model_len: 8192 }] }),
  };
  await using server = await startPageServer({ "/v1/models": list });

  expect(await look(`${server.url}/v1`, "small")).toMatchObject({
    message: expect.stringContaining("It has room for 8192 tokens there, not 128000"),
  });
  expect(await look(`${server.url}/v2`, "small")).toMatchObject({
    state: "ok",
    message: expect.stringContaining("which has no list of models"),
  });
});

test("without a model the agent is off, and what to set is said", async () => {
  const config = loadConfig(configSchema, { env: { OLLAMA_URL: "http://127.0.0.1:1" } });

  expect(await examine(config)).toMatchObject([
    { state: "off", message: expect.stringContaining("the agent is off. There is no model: set MODEL_URL") },
  ]);
});

test("an Ollama is asked about each model of the settings, and each with little room is a warning", async () => {
  const json = (body: unknown) => ({ headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const running = [{ name: "large", context_length: 32_768 }];
  const paths = { "/api/tags": { models: [{ name: "small" }] }, "/api/ps": { models: running }, "/api/show": {} };
  const pages = Object.entries(paths).map(([path, body]) => [path, json(body)] as const);
  await using ollama = await startPageServer(Object.fromEntries(pages));
  const env = { OLLAMA_URL: ollama.url, AGENT_MODELS: "large,other", SUMMARY_MODEL: "cheap" };

  const [model] = await examine(loadConfig(configSchema, { env }));
  const warned = [...(model?.message ?? "").matchAll(/Ollama gives (\w+) by default 4096 tokens/g)];
  expect(warned.map(([, name]) => name)).toEqual(["small", "other", "cheap"]);
});
