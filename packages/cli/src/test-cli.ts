import { type ChildProcess, spawn } from "node:child_process";
import { Console } from "node:console";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Writable } from "node:stream";
import { programFile } from "@rockbot/testing";

const main = join(import.meta.dirname, "main.ts");

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  /** Its socket lies in this folder. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * True to start it from its sources, also where the run of tests has a bundle.
   * @default false
   */
  readonly isFromSources?: boolean;
  readonly input?: string;
  /** True to keep stdin open until `endInput`. */
  readonly isInputOpen?: boolean;
}

/** How the command is started, for who starts it by itself. */
export function cliCommand(args: readonly string[], { folder, env = {}, isFromSources = false }: CliOptions) {
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE = "" } = process.env;
  return {
    command: process.execPath,
    args: [isFromSources ? main : programFile(main), ...args],
    env: {
      PATH,
      HOME,
      NODE_COMPILE_CACHE,
      ROCKBOT_RUNTIME_DIR: join(folder, "run"),
      DATA_DIRECTORY: join(folder, "data"),
      ...env,
    },
  };
}

/** The command as a real process. */
export function startCli(args: readonly string[], options: CliOptions) {
  const { input = "", isInputOpen = false } = options;
  const { command, env, ...started } = cliCommand(args, options);
  const child: ChildProcess = spawn(command, started.args, { env, stdio: ["pipe", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin?.write(input);
  if (!isInputOpen) child.stdin?.end();
  const ended = new Promise<CliResult>((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
  return {
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    endInput: () => void child.stdin?.end(),
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

export const runCli = (args: readonly string[], options: CliOptions): Promise<CliResult> =>
  startCli(args, options).ended;

interface HereOptions extends Pick<CliOptions, "folder" | "env"> {
  /** The width of a terminal that it writes to. @default none: a pipe */
  readonly columns?: number;
}

let lastRun: Promise<unknown> = Promise.resolve();

/**
 * The command in this process, which costs a tenth of a process: for what it prints and the code it returns, not for
 * stdin, signals and how a process ends. One runs after the other, since each has the environment and the console to
 * itself.
 */
export function runHere(args: readonly string[], options: HereOptions): Promise<CliResult> {
  const result = lastRun.then(() => runAlone(args, cliCommand(args, options).env, options));
  lastRun = result.catch(() => {});
  return result;
}

async function runAlone(args: readonly string[], env: NodeJS.ProcessEnv, { columns }: HereOptions): Promise<CliResult> {
  const { run } = await import("./run.ts");
  using kept = new DisposableStack();
  const replace = <T extends object, K extends keyof T>(object: T, key: K, value: T[K]): void => {
    const before = object[key];
    object[key] = value;
    kept.defer(() => {
      object[key] = before;
    });
  };
  const written = { stdout: "", stderr: "" };
  const sink = (stream: keyof typeof written): Writable =>
    new Writable({
      decodeStrings: false,
      write: (text, _encoding, done) => {
        written[stream] += String(text);
        done();
      },
    });
  const [stdout, stderr] = [sink("stdout"), sink("stderr")];
  replace(process, "env", env);
  replace(process, "exitCode", undefined);
  replace(globalThis, "console", new Console(stdout, stderr));
  for (const stream of [process.stdout, process.stderr] as { columns: number | undefined }[])
    replace(stream, "columns", columns);
  replace(process.stdout, "write", stdout.write.bind(stdout));
  replace(process.stderr, "write", stderr.write.bind(stderr));
  return { code: await run(args), ...written };
}

/** `rockbot up` on a free port, once it is ready. */
export async function startUp(options: CliOptions, args: readonly string[] = []) {
  const up = startCli(["up", "--port", "0", ...args], options);
  const isReady = Promise.withResolvers<void>();
  const poll = setInterval(() => {
    if (/^ready in \d+ ms$/m.test(up.stderr())) isReady.resolve();
  }, 20);
  void up.ended.then(({ code, stderr }) => isReady.reject(new Error(`rockbot up ended with code ${code}: ${stderr}`)));
  try {
    await isReady.promise;
  } finally {
    clearInterval(poll);
  }
  return Object.assign(up, { url: /^ {2}gateway +(http:\/\/127\.0\.0\.1:\d+)/m.exec(up.stderr())?.[1] ?? "" });
}

/** A page on loopback; `/slow` never answers, the text of `/escapes` would reset a terminal. */
export async function startPage() {
  const requests: string[] = [];
  const closed: string[] = [];
  const server = createServer((request, response) => {
    const path = String(request.url);
    requests.push(path);
    response.once("close", () => closed.push(path));
    if (path === "/slow") return;
    if (path === "/gone") response.writeHead(404, { "content-type": "text/html" }).end("<h1>Gone</h1>");
    else if (path === "/escapes")
      response.writeHead(200, { "content-type": "text/html" }).end("<main><p>before&#x1b;c&#x07;after</p></main>");
    else
      response
        .writeHead(200, { "content-type": "text/html; charset=utf-8" })
        .end("<!doctype html><title>A page</title><main><h1>Grüße</h1><p>From a page of our own.</p></main>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
    url: (path = "/") => `http://${address}${path}`,
    requests,
    closed,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
