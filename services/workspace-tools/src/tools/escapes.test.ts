import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { atScale } from "../../../../test/faults/figures.ts";
import { startTestWorkspace } from "../test-workspace.ts";

const SECRET = "SECRET-OF-SOMEBODY-ELSE";

type TestWorkspace = Awaited<ReturnType<typeof startTestWorkspace>>;

/** The root `work` with every way out of it that files can be, and beside it a folder that nobody may reach. */
async function startTrap() {
  const workspace = await startTestWorkspace();
  const work = workspace.folder("work");
  const outside = join(workspace.outside, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "secret.txt"), SECRET);
  mkdirSync(join(work, "a"));
  writeFileSync(join(work, "a", "own.txt"), "own");
  const links = {
    link: outside,
    linkfile: join(outside, "secret.txt"),
    rel: "../outside",
    "a/up": "../../outside",
    chain: "link",
    inside: "a",
    loop: "loop",
    etc: "/etc",
    everything: "/proc/self/root",
    files: "/proc/self/fd",
    cwd: "/proc/self/cwd",
    dangling: join(outside, "made-by-a-write.txt"),
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(work, name));
  execFileSync("mkfifo", [join(work, "fifo")]);
  return { workspace, work, outside };
}

const PATHS = (work: string, outside: string): readonly string[] => [
  ...[
    "..",
    "../outside",
    "../outside/secret.txt",
    "work/..",
    "work/../outside/secret.txt",
    "work/a/../../outside/secret.txt",
    "a/../../outside/secret.txt",
  ],
  ...[
    "/etc/passwd",
    "//etc/passwd",
    join(outside, "secret.txt"),
    join(work, "a", "own.txt"),
    "/proc/self/environ",
    "work/./.././outside/secret.txt",
  ],
  ...[
    "work/a\0/../../outside/secret.txt",
    "work/a/own.txt\0.png",
    "\0",
    "work/../work/../outside/secret.txt",
    `work/${"../".repeat(40)}etc/passwd`,
  ],
  ...[
    "work/link",
    "work/link/secret.txt",
    "work/linkfile",
    "work/rel/secret.txt",
    "work/a/up/secret.txt",
    "work/chain/secret.txt",
    "work/inside/own.txt",
  ],
  ...[
    "work/loop",
    "work/loop/x",
    "work/etc/passwd",
    "work/everything/etc/passwd",
    "work/files/0",
    "work/cwd/package.json",
    "work/dangling",
    "work/fifo",
    "work/fifo/x",
  ],
  ...[
    `work/${"x".repeat(256)}`,
    `work/${"x/".repeat(65)}x`,
    "work/\ud800",
    "work/a/own.txt/x",
    "file:///etc/passwd",
    "~/.ssh/id_rsa",
    "work/%2e%2e/outside/secret.txt",
  ],
  ...[
    "work/..%2foutside%2fsecret.txt",
    "work\\..\\outside\\secret.txt",
    "work/．．/outside/secret.txt",
    "work/.. /outside/secret.txt",
    "work/.../outside/secret.txt",
  ],
];

/** All that lies there, with its content. */
const contentOf = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));

/** What the tool answers or refuses, in one text. */
async function answerOf({ call }: Pick<TestWorkspace, "call">, tool: string, input: Record<string, unknown>) {
  try {
    const { content, structured } = await call(tool, input);
    return { isRefused: false, text: `${content} ${JSON.stringify(structured)}` };
  } catch (error) {
    return { isRefused: true, text: (error as Error).message };
  }
}

test("no path leads out of a root, however it is written, and whatever lies on the way", {
  timeout: 60_000,
}, async () => {
  const { workspace, work, outside } = await startTrap();
  await using _workspace = workspace;
  const before = contentOf(outside);
  const paths = PATHS(work, outside);
  let attempts = 0;
  for (const path of paths) {
    for (const [tool, rest] of [
      ["read_file", {}],
      ["list_files", { depth: 10 }],
      ["edit_file", { old_text: "e", new_text: "harm" }],
      ["write_file", { content: "harm" }],
    ] as const) {
      attempts++;
      const { isRefused, text } = await answerOf(workspace, tool, { path, ...rest });
      expect(text, `${tool} ${path}`).not.toContain(SECRET);
      expect(text, `${tool} ${path}`).not.toContain("root:x:0");
      // A file of an odd name may be made, as long as it is in the root.
      if (tool !== "write_file") expect([tool, path, isRefused]).toEqual([tool, path, true]);
    }
  }

  expect(attempts).toBeGreaterThanOrEqual(60);
  expect(contentOf(outside)).toEqual(before);
  expect(readFileSync(join(work, "a", "own.txt"), "utf8")).toBe("own");
});

const SWAP = `
const { renameSync, rmSync, symlinkSync } = require("node:fs");
const { parentPort, workerData: { work, outside } } = require("node:worker_threads");
let isOver = false;
parentPort.on("message", () => { isOver = true; });
let swaps = 0;
/** In the place of what is there, a folder that a write has made meanwhile, too. */
function put(name) {
  for (;;) {
    try {
      rmSync(work + "/way", { recursive: true, force: true }); // a tool may put something into it meanwhile
      return renameSync(work + name, work + "/way");
    } catch {}
  }
}
(function swap() {
  for (let i = 0; i < 50; i++, swaps++) {
    symlinkSync(outside, work + "/other");
    renameSync(work + "/way", work + "/kept");
    put("/other");
    put("/kept");
  }
  if (isOver) parentPort.postMessage(swaps), parentPort.close();
  else setImmediate(swap);
})();
`;

test("nothing is opened outside while a folder on the way becomes a symlink and a folder again all the time", {
  timeout: 600_000,
}, async () => {
  const { workspace, work, outside } = await startTrap();
  await using _workspace = workspace;
  mkdirSync(join(work, "way"));
  writeFileSync(join(work, "way", "secret.txt"), "own");
  const before = contentOf(outside);
  const changer = new Worker(SWAP, { eval: true, workerData: { work, outside } });
  const swapped = new Promise<number>((resolve, reject) => changer.once("message", resolve).once("error", reject));
  swapped.catch(() => {}); // it is asked for in the end
  const rounds = atScale(200, 10_000);
  const seen = { read: 0, written: 0, refused: 0 };
  for (let round = 0; round < rounds; round++) {
    const [read, written, listed] = await Promise.all([
      answerOf(workspace, "read_file", { path: "work/way/secret.txt" }),
      answerOf(workspace, "write_file", { path: `work/way/${round % 20}.txt`, content: `${round}` }),
      answerOf(workspace, "list_files", { path: "work", depth: 2 }),
    ]);
    expect(read.text + listed.text + written.text).not.toContain(SECRET);
    if (!read.isRefused) seen.read++;
    if (!written.isRefused) seen.written++;
    seen.refused += Number(read.isRefused) + Number(written.isRefused);
  }
  changer.postMessage("end");
  const swaps = await swapped;

  console.log(JSON.stringify({ rounds, swaps, ...seen }));
  expect(contentOf(outside)).toEqual(before);
  // Both had their turns, so that there was something to race for.
  expect(Math.min(seen.read, seen.written, seen.refused, swaps)).toBeGreaterThan(0);
});

test("a FIFO, a socket and a device are refused without being opened", async () => {
  const { workspace, work } = await startTrap();
  await using _workspace = workspace;
  using server = disposable(createServer().listen(join(work, "socket")));
  await expect.poll(() => server.listening).toBe(true);
  const hasDevice = spawnSync("mknod", [join(work, "zero"), "c", "1", "5"]).status === 0;

  for (const name of ["fifo", "socket", ...(hasDevice ? ["zero"] : [])]) {
    const refusal = {
      code: "denied",
      message: expect.stringContaining("a device, a FIFO or a socket, which is never opened"),
    };
    await expect(workspace.call("read_file", { path: `work/${name}` })).rejects.toMatchObject(refusal);
    await expect(workspace.call("write_file", { path: `work/${name}`, content: "x" })).rejects.toMatchObject(refusal);
  }
});

const mounted =
  spawnSync("unshare", ["--mount", "true"]).status === 0 ? undefined : "skipped: nothing can be mounted here";

test.runIf(mounted === undefined)(
  `what is mounted in a root is not opened, also from the same file system${mounted ? ` (${mounted})` : ""}`,
  async () => {
    const { workspace, work, outside } = await startTrap();
    await using _workspace = workspace;
    mkdirSync(join(work, "mount"));
    execFileSync("mount", ["--bind", outside, join(work, "mount")]);
    try {
      await expect(workspace.call("read_file", { path: "work/mount/secret.txt" })).rejects.toThrow(
        "on another mount, which is never opened",
      );
      await expect(workspace.call("list_files", { path: "work/mount" })).rejects.toMatchObject({ code: "denied" });
      await expect(workspace.call("write_file", { path: "work/mount/new.txt", content: "x" })).rejects.toMatchObject({
        code: "denied",
      });
      await expect(workspace.call("bash", { command: "ls work" })).rejects.toThrow("another file system is mounted");
      await expect(workspace.call("search_files", { pattern: "x" })).rejects.toThrow("another file system is mounted");
    } finally {
      execFileSync("umount", [join(work, "mount")]);
    }
    expect(Object.keys(contentOf(outside))).toEqual(["secret.txt"]);
  },
);

function disposable<T extends { close(): void }>(opened: T): T & Disposable {
  return Object.assign(opened, { [Symbol.dispose]: () => opened.close() });
}
