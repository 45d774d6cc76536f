import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

/** Runs a service whose tool set is the expression `set`, in a process of its own. */
async function runToolSet(set: string, service = "tests") {
  const main = `
    import { runBusService } from ${JSON.stringify(import.meta.resolve("./run-bus-service.ts"))};
    import { defineTool, serveTools } from ${JSON.stringify(import.meta.resolve("@rockbot/tools"))};
    const tool = (name) => defineTool({ name, description: "d", inputSchema: {}, readOnly: true, idempotent: true, validateInput: () => true }, async () => "ok");
    const config = { busUrl: "memory:", shutdownGraceMs: 5000, logLevel: "error", healthHost: "127.0.0.1" };
    await runBusService({
      service: "tests",
      load: () => config,
      start: ({ bus, log }) => serveTools(bus, ${set}, { service: ${JSON.stringify(service)}, log }),
    });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", main], { stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code, stderr, lines: stdout.trim().split("\n") };
}

test("a signal while the broker is away ends a service that starts, with code 0, and without waiting for the broker", async () => {
  const main = `
    import { runBusService } from ${JSON.stringify(import.meta.resolve("./run-bus-service.ts"))};
    const bus = { busUrl: "amqp://guest:guest@127.0.0.1:1", busHeartbeatSeconds: 5, busSilenceMs: 2000 };
    const config = { ...bus, shutdownGraceMs: 600_000, logLevel: "info", healthHost: "127.0.0.1" };
    await runBusService({ service: "tests", load: () => config, start: async () => { throw new Error("it has started"); } });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", main], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (!stdout.includes("no connection") && text.includes("no connection")) child.kill("SIGTERM");
    stdout += text;
  });
  const [code] = await once(child, "close");

  expect(code).toBe(0);
  expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({ msg: "stopped before it was ready" });
});

test.each([
  [
    "two tools of one name",
    `{ tools: [tool("a"), tool("a")] }`,
    undefined,
    'Cannot serve "tests": two of its tools have the same name, "a"',
  ],
  [
    "a tool's name that no model's API takes, and a guide that is too long",
    `{ tools: [tool("no name")], guides: [{ name: "g", summary: "s", document: "x".repeat(20_000) }] }`,
    undefined,
    /^Cannot serve "tests": the tool "no name": name: .*; the guide "g": document: .*16384/,
  ],
  ["a name that is not a service's", `{ tools: [tool("a")] }`, "Not A Name", /a service's name/],
])(
  "a service that cannot start, as for %s, ends with code 1 and one line in words",
  async (_what, set, service, words) => {
    const { code, stderr, lines } = await runToolSet(set, service);

    expect({ code, stderr, count: lines.length }).toEqual({ code: 1, stderr: "", count: 1 });
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      msg: "the service cannot start",
      err: { message: expect.stringMatching(words) },
    });
  },
);
