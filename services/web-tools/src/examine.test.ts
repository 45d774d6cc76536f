import { loadConfig } from "@rockbot/process/config";
import { expect, test } from "vitest";
import { examine } from "./examine.ts";
import { configSchema } from "./generated/config.ts";

const look = (env: Readonly<Record<string, string>>) => examine(loadConfig(configSchema, { env }));

test("doctor says which search service is asked, and without one what to set", () => {
  expect(look({ BRAVE_API_KEY: "brave-key-0123456789" })).toEqual([
    { what: "BRAVE_API_KEY", state: "ok", message: "set" },
  ]);
  expect(look({ SEARCH_PROVIDER: "searxng", SEARXNG_BASE_URL: "https://search.example" })).toMatchObject([
    { what: "SEARXNG_BASE_URL", state: "ok", message: "web_search asks https://search.example" },
  ]);
  const off = (what: string) => [
    {
      what,
      state: "off",
      message: expect.stringMatching(/^not set, so web_search is off\. .+ web_browse needs none$/),
    },
  ];
  expect(look({})).toMatchObject(off("BRAVE_API_KEY"));
  expect(look({ SEARCH_PROVIDER: "searxng" })).toMatchObject(off("SEARXNG_BASE_URL"));
});
