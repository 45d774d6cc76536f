import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { freePort, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { cliCommand } from "./test-cli.ts";

/** `script` of util-linux, which runs a command in a terminal. */
const hasTerminal = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") === true;

/** What `rockbot up` writes to its standard error, a terminal or a pipe, until it is ready. */
async function upLog(
  to: "terminal" | "pipe",
  env: Record<string, string>,
  { port = 0, whenReady }: { readonly port?: number; readonly whenReady?: () => Promise<unknown> } = {},
): Promise<string> {
  using folder = temporaryFolder();
  const up = cliCommand(["up", "--port", String(port)], {
    folder: folder.path,
    env: { TERM: "xterm-256color", ...env },
  });
  const line = [up.command, ...up.args].map((word) => `'${word}'`).join(" ");
  const child =
    to === "pipe"
      ? spawn(up.command, up.args, { env: up.env })
      : spawn("script", ["-qec", `stty cols 80; exec ${line}`, "/dev/null"], { env: up.env });
  const ended = once(child, "close");
  let text = "";
  let isReady = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (isReady || !/^ready in \d+ ms/m.test(text)) return;
      isReady = true;
      void Promise.resolve(whenReady?.()).finally(() => child.kill("SIGTERM"));
    });
  }
  await ended;
  return text;
}

const textLine = /^\d\d:\d\d:\d\d\.\d{3} WARN {2}rockbot there is no policy file/m;
const jsonLine = /^\{"level":"warn",.*there is no policy file.*\}\r?$/m;

test.skipIf(!hasTerminal)(
  "at a terminal up prints its summary alone, in lines that fit, with the call to try at its end",
  async () => {
    const shown = (await upLog("terminal", { NO_COLOR: "1", OLLAMA_URL: "http://127.0.0.1:1" })).replaceAll("\r", "");
    const [summary = ""] = /^[\s\S]*?\n {2}try .*\n/.exec(shown) ?? [];

    expect(summary).toMatch(/^ {2}console {3}http:\/\/127\.0\.0\.1:\d+\/console\/#code=[\w-]{22}$/m);
    expect(summary).toMatch(
      /^rockbot \S+: .*\n {2}gateway [\s\S]*\n {2}off .*\n(?:.*\n)*ready in \d+ ms\n {2}try .*\n$/,
    );
    expect(
      summary
        .split("\n")
        .filter((line) => line.length > 80 && !/^(rockbot| {2}(try|socket|gateway|console))/.test(line)),
    ).toEqual([]);
  },
);

test.skipIf(!hasTerminal)(
  "up logs text with colours at a terminal, and without them where NO_COLOR asks for it",
  async () => {
    const [coloured, plain] = await Promise.all([
      upLog("terminal", { LOG_LEVEL: "info" }),
      upLog("terminal", { LOG_LEVEL: "info", NO_COLOR: "1" }),
    ]);

    expect(coloured).toContain("\u001b[");
    expect(coloured.replaceAll(/\u001b\[\d+m/g, "")).toMatch(textLine);
    expect(plain).toMatch(textLine);
    expect(plain).not.toContain("\u001b");
  },
);

test.skipIf(!hasTerminal)("up logs JSON to a pipe, and LOG_FORMAT forces either form", async () => {
  const [piped, text, json] = await Promise.all([
    upLog("pipe", {}),
    upLog("pipe", { LOG_FORMAT: "text" }),
    upLog("terminal", { LOG_FORMAT: "json", LOG_LEVEL: "info" }),
  ]);

  for (const log of [piped, text, json]) {
    expect(log).toMatch(/^ {2}console {3}http:\/\/127\.0\.0\.1:\d+\/console\/ \("rockbot open" opens it\)/m);
    expect(log).not.toContain("#code=");
  }
  expect(piped).toMatch(jsonLine);
  expect(text).toMatch(textLine);
  expect(text).not.toContain("\u001b");
  expect(json).toMatch(jsonLine);
});

test("what a library writes to the console is a line of the log", async () => {
  const port = await freePort();
  const message = { role: "ROLE_USER", messageId: "1", parts: [] };
  const ask = () =>
    fetch(`http://127.0.0.1:${port}/a2a/agent/rpc`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message } }),
    }).then((response) => response.text());
  const log = await upLog("pipe", { A2A_URL: `http://127.0.0.1:${port}` }, { port, whenReady: ask });

  expect(log).toMatch(
    /^\{"level":"warn",.*"source":"console",.*"msg":"Pre-stream error for request 1: .*there is no text.*\}$/m,
  );
  expect(log).not.toMatch(/^Pre-stream error/m);
});

test("another LOG_FORMAT is refused in words", async () => {
  expect(await upLog("pipe", { LOG_FORMAT: "xml" })).toMatch(/logFormat, from the variable LOG_FORMAT: .*json.*text/);
});

test("without a model up says in one line that the agent is off, and what to set", async () => {
  expect(await upLog("pipe", { OLLAMA_URL: "http://127.0.0.1:1" })).toMatch(
    /^ {2}off {7}agent__\w+, agent__\w+, agent__\w+ and \d+ more\. There is no model: set MODEL_URL and MODEL, and MODEL_API_KEY if it needs one; no Ollama answers at \S+$/m,
  );
});
