import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { programFile } from "@rockbot/testing";
import { copyRepository } from "../repository-copy.ts";
import type { Snippet } from "./read-snippets.ts";

const root = join(import.meta.dirname, "../..");
/** Far above what a step takes: it ends what hangs. */
const STEP_MS = 300_000;
/** Commands that go on until somebody ends them, with variables before and what stands behind. */
const GOES_ON = /^((?:\w+=\S+ )*)(?:\.\/rockbot up|npm start)(?: --(?= |$))?([^\n#|]*)(?:#.*)?$/;

/** What stands in for the places that pages name. */
export interface StandIns {
  /** A page, for https://example.com/. */
  readonly page: string;
  readonly amqp: string;
  readonly redis: string;
  /** The API of a model, for http://localhost:11434/v1, that of Ollama. */
  readonly model: string;
  /** The address and the key of the Brave Search API. */
  readonly brave: { readonly url: string; readonly apiKey: string };
}

/**
 * One page, read by somebody who types what it says: its blocks run in order in a folder that looks like the
 * repository. `rockbot up` runs from where the page starts it, or from the first command that asks a running one by
 * HTTP.
 */
export class Story implements AsyncDisposable {
  readonly #folder: string;
  readonly #standIns: StandIns;
  readonly #open: AsyncDisposableStack;
  #up: RunningUp | undefined;
  readonly #sources: string[] = [];

  private constructor(folder: string, standIns: StandIns, open: AsyncDisposableStack) {
    this.#folder = folder;
    this.#standIns = standIns;
    this.#open = open;
  }

  /** @param isCopy whether the page changes files of the repository, and so gets a copy of them */
  static async begin(standIns: StandIns, { isCopy }: { readonly isCopy: boolean }): Promise<Story> {
    await using open = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), "rockbot-page-"));
    open.defer(() => rm(folder, { recursive: true, force: true }));
    if (isCopy) copyRepository(folder);
    else await linkRepository(folder);
    await mkdir(join(folder, ".bin"));
    const program = (path: string, text: string) =>
      writeFile(join(folder, path), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    const command = programFile(join(isCopy ? folder : root, "packages/cli/src/main.ts"));
    await program("rockbot", `exec "${process.execPath}" "${command}" "$@"`);
    await program("scripts/with-tools", 'exec "$@"');
    // Whole test runs and builds are not for here: that there is such a script is. What a copy may run is what changes
    // it.
    const isScript = `"${process.execPath}" -e 'process.exit(process.argv[1] in require("./package.json").scripts ? 0 : 1)'`;
    const generate = isCopy
      ? `[ "$name" = generate ] && "${process.execPath}" scripts/generate-code.ts && exec "${process.execPath}" scripts/generate.ts\n`
      : "";
    await program(
      ".bin/npm",
      `name=$1; [ "$1" = run ] && name=$2\n${generate}${isScript} "$name" || { echo "there is no npm script \\"$name\\"" >&2; exit 1; }`,
    );
    await writeFile(join(folder, ".curlrc"), "fail-with-body\n");
    return new Story(folder, standIns, open.move());
  }

  /** @throws {Error} that names the place of what fails */
  async run(snippet: Snippet): Promise<void> {
    const { use, language, page, line, code } = snippet;
    try {
      if (use.kind === "file" || use.kind === "append" || use.kind === "edit")
        return await this.#write({ ...use, kind: use.kind }, snippet);
      if (language === "sh" || language === "bash") return await this.#runShell(snippet);
      const file = `${page.replaceAll(/\W+/g, "-")}-${line}.${language === "python" ? "py" : language}`;
      await writeFile(join(this.#folder, file), this.#inPlace(code));
      if (language === "python") await this.#execute("python3", [file], snippet);
      if (language !== "ts") return;
      this.#sources.push(file);
      await this.#execute(process.execPath, [file], snippet);
    } catch (error) {
      throw new Error(`${page}:${line}: ${(error as Error).message}`, { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#up?.[Symbol.asyncDispose]();
    await this.#open.disposeAsync();
  }

  async #runShell(snippet: Snippet): Promise<void> {
    const steps: string[] = [];
    for (const line of (await this.#withWords(snippet)).replaceAll("\\\n", "").split("\n")) {
      const goesOn = GOES_ON.exec(line.trim());
      if (goesOn === null) steps.push(line);
      else {
        await this.#runSteps(steps.splice(0), snippet);
        await this.#startUp(
          this.#inPlace(goesOn[2] ?? "")
            .split(/\s+/)
            .filter(Boolean),
          variablesIn(this.#inPlace(goesOn[1] ?? "")),
        );
      }
    }
    await this.#runSteps(steps, snippet);
  }

  async #runSteps(steps: readonly string[], snippet: Snippet): Promise<void> {
    const script = steps.join("\n");
    if (script.trim() === "") return;
    if (this.#up === undefined && script.includes("127.0.0.1:8480")) await this.#startUp([], {});
    await this.#type(this.#inPlace(script), snippet);
  }

  /** In the one shell of the page: variables stay, as for somebody who types. */
  #type(script: string, expected: Pick<Snippet, "exitCode">): Promise<string> {
    return this.#execute(
      "bash",
      [
        "--norc",
        "-eo",
        "pipefail",
        "-c",
        `[ ! -f .session ] || . ./.session; set -au\n${script}\nexport -p > .session`,
      ],
      expected,
    );
  }

  /** The code with each word of the marker replaced by what its command prints. */
  async #withWords(snippet: Snippet): Promise<string> {
    let { code } = snippet;
    for (const [word, command] of Object.entries(snippet.words)) {
      const printed = await this.#type(this.#inPlace(command), { exitCode: 0 });
      code = code.replaceAll(new RegExp(`\\b${word}\\b`, "g"), printed.trim());
    }
    return code;
  }

  async #write(
    { kind, path }: { readonly kind: "file" | "append" | "edit"; readonly path: string },
    { code, language }: Snippet,
  ): Promise<void> {
    const file = join(this.#folder, path);
    const before = kind === "file" ? "" : await readFile(file, "utf8");
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, kind === "edit" ? edited(before, code) : `${before}${this.#inPlace(code)}\n`);
    if (language === "ts" && kind === "file") this.#sources.push(path);
    // As `./rockbot` does by itself where a schema has changed.
    if (/\bschema\b/.test(path)) await this.#execute(process.execPath, ["scripts/generate-code.ts"], { exitCode: 0 });
  }

  async #startUp(args: readonly string[], variables: Readonly<Record<string, string>>): Promise<void> {
    await this.#up?.[Symbol.asyncDispose]();
    this.#up = undefined;
    const hasGateway = !args.includes("--only") || args.some((arg) => arg.includes("gateway"));
    this.#up = await startUp([...args, ...(hasGateway ? ["--port", "0"] : [])], {
      folder: this.#folder,
      env: { ...this.#env(), ...variables },
    });
  }

  /** The text with stand-ins for what is elsewhere. */
  #inPlace(text: string): string {
    const { page, amqp, redis, model } = this.#standIns;
    return text
      .replaceAll("http://localhost:11434/v1", model)
      .replaceAll("https://example.com/", `${page}/`)
      .replaceAll("http://127.0.0.1:8480", this.#up?.url ?? "http://127.0.0.1:8480")
      .replaceAll(/amqp:\/\/[\w.:@-]*(localhost|host)\b(?!\S*\/)/g, amqp)
      .replaceAll(/redis:\/\/[\w.:@-]*(localhost|host)\b/g, redis);
  }

  #env(): Record<string, string> {
    const { page, brave } = this.#standIns;
    return {
      PATH: [join(this.#folder, ".bin"), dirname(process.execPath), process.env["PATH"]].join(":"),
      HOME: this.#folder,
      ROCKBOT_RUNTIME_DIR: join(this.#folder, ".run"),
      ALLOW_ADDRESSES: new URL(page).host,
      BRAVE_API_KEY: brave.apiKey,
      BRAVE_BASE_URL: brave.url,
      NODE_COMPILE_CACHE: join(root, "node_modules/.cache/node-programs"),
      MCP_LOCK_FILE: join(this.#folder, "mcp.lock.json"),
    };
  }

  #execute(program: string, args: readonly string[], { exitCode }: Pick<Snippet, "exitCode">): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { cwd: this.#folder, env: this.#env(), timeout: STEP_MS, killSignal: "SIGKILL" as const };
      execFile(program, args, options, (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        if (code === exitCode) resolve(stdout);
        else
          reject(
            new Error(`${args.at(-1)}\nended with ${code ?? error?.signal}, not ${exitCode}:\n${stdout}${stderr}`),
          );
      });
    });
  }

  /**
   * Checks what the page has written in TypeScript, as strictly as the repository itself is checked.
   * @throws {Error} that names the places of faults
   */
  async checkTypes(): Promise<void> {
    if (this.#sources.length === 0) return;
    await writeFile(
      join(this.#folder, "tsconfig.page.json"),
      JSON.stringify({ extends: join(root, "tsconfig.json"), include: [], files: this.#sources }),
    );
    await this.#execute(join(root, "node_modules/.bin/tsc"), ["-p", "tsconfig.page.json"], { exitCode: 0 });
  }
}

/** Makes a folder look like the repository, but for what a story puts there itself. */
async function linkRepository(folder: string): Promise<void> {
  const own: ReadonlySet<string> = new Set([".git", ".rockbot", ".tools", "rockbot", "scripts"]);
  const entries = (await readdir(root)).filter((name) => !own.has(name) && !name.endsWith(".log"));
  const scripts = (await readdir(join(root, "scripts")))
    .filter((name) => name !== "with-tools")
    .map((name) => `scripts/${name}`);
  await mkdir(join(folder, "scripts"));
  for (const name of [...entries, ...scripts]) await symlink(join(root, name), join(folder, name));
}

const variablesIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(" ")
      .flatMap((part) =>
        part.includes("=") ? [[part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]] : [],
      ),
  );

/** Each line takes the place of the one that begins the same, up to its first `=`; an import goes to the top. */
function edited(before: string, code: string): string {
  let text = before;
  for (const line of code.split("\n")) {
    if (line.startsWith("import ")) text = `${line}\n${text}`;
    else {
      const start = line.slice(0, line.indexOf("=") + 1);
      const old = text.split("\n").find((other) => start !== "" && other.startsWith(start));
      if (old === undefined) throw new Error(`no line begins with "${start}"`);
      const same = [...old].findIndex((char, index) => char !== line[index]);
      if (same >= 0 && !line.endsWith(old.slice(same)))
        throw new Error(
          `the page shows "${line.trim()}", which is more than an addition to the source's "${old.trim()}"`,
        );
      text = text.replace(old, () => line);
    }
  }
  return text;
}

interface RunningUp extends AsyncDisposable {
  /** The address of its gateway, if it has one. */
  readonly url: string | undefined;
}

/** `rockbot up`, once it is ready. */
async function startUp(
  args: readonly string[],
  { folder, env }: { readonly folder: string; readonly env: Record<string, string> },
): Promise<RunningUp> {
  const command = '[ ! -f .session ] || . ./.session; exec ./rockbot up "$@"';
  const child: ChildProcess = spawn("bash", ["--norc", "-c", command, "up", ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const isReady = Promise.withResolvers<void>();
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (/^ready in \d+ ms$/m.test(said)) isReady.resolve();
  });
  const fail = (why: string): void => isReady.reject(new Error(`./rockbot up ${args.join(" ")} ${why}:\n${said}`));
  void ended.then(() => fail("has ended"));
  const timer = setTimeout(fail, STEP_MS, "is not ready");
  const up = {
    url: undefined as string | undefined,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), STEP_MS);
      await ended;
      clearTimeout(late);
    },
  };
  try {
    await isReady.promise;
  } catch (error) {
    await up[Symbol.asyncDispose]();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  up.url = /^ {2}gateway +(http:\/\/127\.0\.0\.1:\d+)/m.exec(said)?.[1];
  return up;
}
