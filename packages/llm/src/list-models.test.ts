import { startModelServer, startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { listModels } from "./list-models.ts";

test("the models of a server are listed, with the room that it gives them where it says so", async () => {
  await using server = await startModelServer([], { models: ["one", "two"] });
  const list = {
    data: [
      { id: "a", max_model_len: 8192 },
      { id: "b", context_length: 131_072 },
      { id: "c", context_window: 0 },
      {},
      null,
    ],
  };
  await using other = await startPageServer({
    "/v1/models": { headers: { "content-type": "application/json" }, body: JSON.stringify(list) },
  });

  expect(await listModels({ url: server.url, apiKey: server.apiKey })).toEqual([{ id: "one" }, { id: "two" }]);
  expect(await listModels({ url: server.url, apiKey: server.apiKey, protocol: "anthropic" })).toHaveLength(2);
  expect(await listModels({ url: other.url })).toEqual([
    { id: "a", contextTokens: 8192 },
    { id: "b", contextTokens: 131_072 },
    { id: "c" },
  ]);
});

test("no list is an error in words", async () => {
  await using server = await startModelServer([]);
  await using page = await startPageServer({
    "/v1/models": "<h1>Welcome</h1>",
    "/no-list/models": "{}",
    "/slow/models": () => {},
  });

  await expect(listModels({ url: server.url, apiKey: "wrong" })).rejects.toMatchObject({
    code: "unauthorized",
    message: expect.stringContaining("Check the API key"),
  });
  await expect(listModels({ url: page.url })).rejects.toThrow("the answer is not JSON");
  await expect(listModels({ url: `${page.url}/no-list` })).rejects.toThrow("the answer has no list");
  await expect(listModels({ url: `${page.url}/elsewhere` })).rejects.toThrow("status 404");
  await expect(listModels({ url: `${page.url}/slow`, timeoutMs: 20 })).rejects.toMatchObject({ code: "timeout" });
  await expect(listModels({ url: "http://127.0.0.1:1" })).rejects.toMatchObject({ code: "unavailable" });
  await expect(listModels({ url: `${page.url}/slow`, signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow(
    "enough",
  );
});
