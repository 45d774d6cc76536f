import { join } from "node:path";
import { loadConfig } from "@rockbot/process/config";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { check, checkFiles, configSchema } from "./settings.ts";

const load = (env: Readonly<Record<string, string>>) => loadConfig(configSchema, { env, check });

test("an address needs a model beside it, and a key an address", () => {
  expect(() => load({ MODEL_URL: "https://models.example/v1" })).toThrow(
    "model: expected the name of a model, as modelUrl is set",
  );
  expect(() => load({ MODEL_API_KEY: "not printed" })).toThrow(/^(?!.*not printed).*modelApiKey/s);
  expect(load({ MODEL: "llama3.2" }).model).toBe("llama3.2"); // of a local Ollama
});

test("the files that settings name are read at the start, and their faults are told", () => {
  using folder = temporaryFolder();
  const behaviors = folder.write(
    "behaviors.yaml",
    "openai/gpt: { contextTokens: 400000 }\nqwen: { contextTokns: 1 }\n",
  );
  const prompt = folder.write("prompt.md", "\n");

  expect(() => checkFiles(load({ MODEL_BEHAVIORS: behaviors }))).toThrow(/contextTokns/);
  expect(() => checkFiles(load({ SYSTEM_PROMPT_FILE: prompt }))).toThrow(/got a blank file/);
  expect(() => checkFiles(load({ SYSTEM_PROMPT_FILE: join(folder.path, "none") }))).toThrow(/ENOENT/);
  folder.write("behaviors.yaml", "openai/gpt: { contextTokens: 400000 }\n");
  folder.write("prompt.md", "You are a librarian.\n");
  expect(() => checkFiles(load({ MODEL_BEHAVIORS: behaviors, SYSTEM_PROMPT_FILE: prompt }))).not.toThrow();
});
