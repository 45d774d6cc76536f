/**
 * An MCP server over stdio that misbehaves on request, one tool for each way. It speaks the protocol of 2025-11-25 by
 * itself, as no library would let it do this. Arguments say how it behaves at its start; the variable PIDS_FILE, where
 * it notes its id.
 */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

interface Request {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: Record<string, unknown>;
    readonly _meta?: Record<string, unknown>;
    readonly requestId?: number;
  };
}

const behaviours = new Set(process.argv.slice(2));
const cancelled: number[] = [];
const eaten: Buffer[] = [];
let counted = 0;

const write = (text: string): void => void process.stdout.write(text);
const send = (message: object): void => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (id: Request["id"], value: string): void =>
  send({ id, result: { content: [{ type: "text", text: value }] } });

function sleeper(detached: boolean): number {
  // Holds our output, as a program in the background does, and heeds no polite request.
  const child = spawn(process.execPath, ["-e", "process.on('SIGTERM',()=>{});setInterval(()=>{},1000)"], {
    detached,
    stdio: ["ignore", "inherit", "inherit"],
  });
  child.unref();
  return child.pid ?? 0;
}

/** What each tool does. */
const faults: Readonly<Record<string, (id: Request["id"], params: NonNullable<Request["params"]>) => void>> = {
  echo: (id, params) => text(id, JSON.stringify(params.arguments ?? {})),
  hang: () => {},
  /** Reads and says nothing for a time, in which it computes, or sleeps. */
  block(id, { arguments: { ms, isAsleep } = {} }) {
    const until = performance.now() + Number(ms);
    if (isAsleep === true) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms));
    while (performance.now() < until);
    text(id, "unblocked");
  },
  /** Notes in a file that it ran, and answers nothing. */
  note_and_hang: (_, params) => appendFileSync(String(params.arguments?.["file"]), "ran\n"),
  /** Notes in a file that it ran, and answers after a time. */
  note(id, { arguments: { file, line, holdMs } = {} }) {
    appendFileSync(String(file), `${line}\n`);
    setTimeout(() => text(id, String(line)), Number(holdMs ?? 0));
  },
  progress(id, { _meta }) {
    send({
      method: "notifications/progress",
      params: { progressToken: _meta?.["progressToken"], progress: 1, total: 2 },
    });
    setTimeout(() => text(id, "done"), 100);
  },
  /** How often it was called, and where it runs: what a server with state knows. */
  count: (id) => text(id, JSON.stringify({ count: ++counted, pid: process.pid })),
  whoami: (id) =>
    text(
      id,
      JSON.stringify({
        uid: process.getuid?.(),
        gid: process.getgid?.(),
        groups: process.getgroups?.(),
        cwd: process.cwd(),
      }),
    ),
  /** Takes so many MiB, and says nothing. */
  gorge: (_, params) => void eaten.push(Buffer.alloc(Number(params.arguments?.["mib"]) * 1024 * 1024, 1)),
  /** Crashes, unless the file says that it has. */
  crash_once(id, params) {
    const file = String(params.arguments?.["file"]);
    if (existsSync(file)) return text(id, "the second time");
    writeFileSync(file, "crashed\n");
    process.exit(3);
  },
  crash() {
    process.stderr.write("fault server: crashing as told\n");
    process.exit(3);
  },
  segfault: () => void process.kill(process.pid, "SIGSEGV"),
  garbage(id) {
    write('not json at all\n{"half":\n\u0000\u0001\u0002\n[]\n{"jsonrpc":"1.0"}\n');
    text(id, "after the garbage");
  },
  long_line: (id) => text(id, "x".repeat(11 * 1024 * 1024)),
  /** Answers with the lines that it is given, in which $ID stands for the id of the call. */
  say: (id, params) => write(`${String(params.arguments?.["lines"]).replaceAll("$ID", JSON.stringify(id))}\n`),
  wrong_id: () => text(987_654, "for somebody else"),
  twice(id) {
    text(id, "first");
    text(id, "second");
  },
  flood: () => flood(),
  grandchild: (id) => text(id, String(sleeper(false))),
  escaped: (id) => text(id, String(sleeper(true))),
  environment: (id) => text(id, JSON.stringify(process.env)),
  grow(id) {
    names.push(`grown_${names.length}`);
    text(id, "grown");
    send({ method: "notifications/tools/list_changed" });
  },
  /** What it says of one of its tools is something else from now on, its name included. */
  redefine(id, params) {
    const { tool, ...changes } = (params.arguments ?? {}) as { tool?: string };
    redefined.set(String(tool), changes);
    text(id, "redefined");
    send({ method: "notifications/tools/list_changed" });
  },
  cancelled: (id) => text(id, JSON.stringify(cancelled)),
};
const names = Object.keys(faults);
const redefined = new Map<string, object>();

const annotationsOf = (name: string): object =>
  name === "crash_once"
    ? { annotations: { idempotentHint: true } }
    : name === "whoami"
      ? { annotations: { readOnlyHint: true, title: "Who\u202e am\nI" } }
      : {};

function call({ id, params = {} }: Request): void {
  const fault = faults[params.name ?? ""];
  if (fault === undefined) send({ id, error: { code: -32602, message: `Unknown tool: ${params.name}` } });
  else fault(id, params);
}

/** Notifications without end, as fast as they are read. */
function flood(): void {
  const line =
    `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x".repeat(100) } })}\n`.repeat(
      100,
    );
  const pour = (): void => {
    while (process.stdout.write(line));
    process.stdout.once("drain", pour);
  };
  pour();
}

if (process.env["PIDS_FILE"] !== undefined) appendFileSync(process.env["PIDS_FILE"], `${process.pid}\n`);
if (behaviours.has("exit-at-start")) {
  process.stderr.write("fault server: refusing to start, token=canary-in-stderr\n");
  process.exit(2);
}
if (behaviours.has("heedless")) process.on("SIGTERM", () => {});

const answers: Readonly<Record<string, (request: Request) => void>> = {
  initialize: ({ id }) =>
    send({
      id,
      result: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "fault-server", version: "1.0.0" },
        instructions: "Misbehave.",
      },
    }),
  "tools/list": ({ id }) =>
    send({
      id,
      result: {
        tools: names.map((name) => ({
          name,
          description: `The fault ${name}.`,
          inputSchema: { type: "object" },
          ...annotationsOf(name),
          ...redefined.get(name),
        })),
      },
    }),
  "tools/call": call,
  "notifications/cancelled": ({ params }) => void cancelled.push(params?.requestId ?? -1),
  "notifications/initialized": () => {},
};

createInterface({ input: process.stdin }).on("line", (line) => {
  if (behaviours.has("silent")) return;
  const request = JSON.parse(line) as Request;
  const answer = answers[request.method];
  if (answer !== undefined) answer(request);
  else if (behaviours.has("exit-on-probe")) process.exit(4);
  else send({ id: request.id, error: { code: -32601, message: "Method not found" } });
});
if (behaviours.has("heedless")) setInterval(() => {}, 1_000);
else process.stdin.on("end", () => process.exit(0));
