import { createPublicFetch, type PublicFetch } from "@rockbot/edge/outbound";
import { startRecordingServer, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { ClientTokens } from "./credentials/client-tokens.ts";
import { readRestFile } from "./file/read-rest-file.ts";
import { call } from "./rest-tool.ts";

/** The example of the .NET original, word for word. */
const DOTNET = `{
  "RestTools": {
    "Endpoints": [
      {
        "Name": "get_weather",
        "Description": "Get current weather for a city",
        "UrlTemplate": "https://api.weather.com/v1/current?city={city}",
        "Method": "GET",
        "ParametersSchema": "{ \\"type\\": \\"object\\", \\"properties\\": { \\"city\\": { \\"type\\": \\"string\\" } } }",
        "AuthType": "api_key",
        "AuthEnvVar": "WEATHER_API_KEY",
        "ApiKeyHeader": "X-Api-Key"
      }
    ]
  }
}`;

/** The example of the other original, word for word, under a name and beside the list of variables. */
const INLINE = `{
  "environment": ["WEATHER_API_KEY"],
  "tools": {
    "weather_api": {
      "description": "Get weather data for a city",
      "method": "GET",
      "url": "https://api.weather.com/v1/\${parameters.city}",
      "headers": {
          "Authorization": "Bearer \${WEATHER_API_KEY}"
      },
      "parametersSchema": {
          "type": "object",
          "properties": {
              "city": { "type": "string", "description": "City name" }
          },
          "required": ["city"]
      }
    }
  }
}`;

const ENV = { WEATHER_API_KEY: "w-key-0123456789" };

/** Reads a file, and calls its one tool: what would go to api.weather.com goes to a server here. */
async function callSeed(text: string, args: Readonly<Record<string, unknown>>) {
  using folder = temporaryFolder();
  await using server = await startRecordingServer();
  await using real = createPublicFetch({ allowAddresses: [`127.0.0.1:${server.port}`] });
  const fetch: PublicFetch = (url, options) =>
    real(url.replace(/^https:\/\/api\.weather\.com(?=\/)/, server.url), options);
  const { operations, off } = readRestFile(folder.write("rest.json", text), ENV);
  expect(off).toEqual([]);
  const [operation] = operations;
  if (operation === undefined) throw new Error("there is no tool");
  const context = { caller: "tester", toolCallId: "one", signal: new AbortController().signal, progress: () => {} };
  const { content } = await call(operation, args, context, {
    fetch,
    policy: undefined,
    tokens: new ClientTokens(fetch),
    maxBytes: 1_000_000,
  });
  return {
    operation,
    content,
    requests: server.take().map(({ method, target, headers }) => ({ method, target, headers })),
  };
}

test("the .NET original's example calls as it does there", async () => {
  const { operation, requests } = await callSeed(DOTNET, { city: "São Paulo & more" });

  expect(operation).toMatchObject({
    toolName: "rest__get_weather",
    description: "Get current weather for a city",
    isReadOnly: true,
  });
  expect(requests).toMatchObject([
    {
      method: "GET",
      target: "/v1/current?city=S%C3%A3o%20Paulo%20%26%20more",
      headers: { "x-api-key": ENV.WEATHER_API_KEY },
    },
  ]);
});

test("the other original's example calls as it does there", async () => {
  const { operation, requests } = await callSeed(INLINE, { city: "São Paulo/../x" });

  expect(operation).toMatchObject({
    toolName: "rest__weather_api",
    isReadOnly: true,
    inputSchema: { required: ["city"] },
  });
  expect(requests).toMatchObject([
    {
      method: "GET",
      target: "/v1/S%C3%A3o%20Paulo%2F..%2Fx",
      headers: { authorization: `Bearer ${ENV.WEATHER_API_KEY}` },
    },
  ]);
});

test("a file gives its tools its own names where it says so", () => {
  using folder = temporaryFolder();
  const named = (text: string) =>
    readRestFile(folder.write("rest.json", text), ENV).operations.map(({ toolName }) => toolName);

  expect(named(DOTNET.replace('"Endpoints"', '"Naming": "own", "Endpoints"'))).toEqual(["get_weather"]);
  expect(named(INLINE.replace('"tools"', '"naming": "own", "tools"'))).toEqual(["weather_api"]);
});

test("without its variable a tool is not offered, and the file says what to set", () => {
  using folder = temporaryFolder();
  for (const text of [DOTNET, INLINE])
    expect(readRestFile(folder.write("rest.json", text), {})).toMatchObject({
      operations: [],
      off: [{ reason: expect.stringContaining("WEATHER_API_KEY") }],
    });
});
