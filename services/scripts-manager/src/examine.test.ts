import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { loadConfig } from "@rockbot/process/config";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { examine } from "./examine.ts";
import { configSchema, type ScriptsManagerConfig } from "./generated/config.ts";

test("an examination removes no container of the scripts manager whose settings it has", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "engine.sock");
  const labels = {
    "rockbot.dev/owner": "mine",
    "rockbot.dev/process": "the running one",
    "rockbot.dev/deadline": "9999999999",
  };
  const runs = [
    { Names: ["/runs"], State: "running", Created: 1, Labels: { "rockbot.dev/role": "script-sandbox", ...labels } },
  ];
  const asked: string[] = [];
  const engine = createServer(({ method, url = "" }, response) => {
    asked.push(`${method} ${url.split("?", 1)}`);
    if (url.startsWith("/containers/json")) response.end(JSON.stringify(runs));
    else response.writeHead(404).end(JSON.stringify({ message: "no such image" }));
  });
  await once(engine.listen(path), "listening");
  const config = loadConfig<ScriptsManagerConfig>(configSchema, {
    env: { RUNNER: "container", CONTAINER_SOCKET: path, CONTAINER_OWNER: "mine" },
  });

  expect(await examine(config, {})).toMatchObject([{ what: "scripts", state: "broken" }]); // the engine is set up, and lacks the image
  expect(asked).toContain("GET /containers/json");
  expect(asked).not.toContain("DELETE /containers/runs");
  engine.close();
});
