import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ownVirtualHost, startNodeProgram, startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const page = "<!doctype html><title>Page</title><main><h1>A page</h1><p>With some text.</p></main>";

test("rockbot conformance finds nothing that web-tools breaks, and says what it cannot try with tools that only read", async () => {
  await using pages = await startPageServer({
    "/": page,
    "/slow": async (_, response) => {
      await sleep(1_500);
      response.setHeader("content-type", "text/html").end(page);
    },
  });
  await using host = await ownVirtualHost();
  const browse = (path: string) => JSON.stringify({ url: `${pages.url}${path}` });
  const service = `BUS_URL='${host.url}' ALLOW_ADDRESSES=127.0.0.1:${pages.port} exec '${process.execPath}' '${join(root, "services/main.ts")}' web-tools`;
  await using cli = startNodeProgram(join(root, "packages/cli/src/main.ts"), {
    args: [
      "conformance",
      "--bus",
      host.url,
      "--topic",
      "tool.invoke",
      "--service",
      "web-tools",
      "--json",
      "--command",
      service,
    ].concat(["--tool", "web_browse", "--arguments", browse("/")], ["--slow-arguments", browse("/slow")]),
  });

  const code = await cli.ended;
  const results = cli
    .stdout()
    .trim()
    .split("\n")
    .map(
      (line) =>
        JSON.parse(line) as {
          readonly clause: string;
          readonly outcome: string;
          readonly contract: string;
          readonly why?: string;
        },
    );
  expect(results.filter(({ outcome }) => outcome === "broken")).toEqual([]);
  expect(code, cli.stderr()).toBe(0);
  expect(
    results.filter(({ outcome }) => outcome === "not tried").map(({ clause, why }) => `${clause}: ${why}`),
  ).toEqual(
    ["join", "kept-reply", "conflict"].map((clause) =>
      expect.stringMatching(new RegExp(`^${clause}: "web_browse" is read-only`)),
    ),
  );
  expect(results.find(({ clause }) => clause === "answer-correlation")?.contract).toContain(
    "`correlation-id` is the request's",
  );
});

test("rockbot conformance names what is wrong with its options, all at once", async () => {
  const options = [
    "--topic",
    "tool.invoke.x",
    "--tool",
    "t",
    "--arguments",
    "no json",
    "--slow-tool",
    "s",
    "--service",
    "No Name",
    "--bus",
    "memory:",
  ];
  await using cli = startNodeProgram(join(root, "packages/cli/src/main.ts"), { args: ["conformance", ...options] });

  expect(await cli.ended).toBe(2);
  for (const fault of [
    /the bus: missing/,
    /--service: "No Name"/,
    /--arguments: expected a JSON object/,
    /--slow-arguments: missing/,
  ])
    expect(cli.stderr()).toMatch(fault);
});
