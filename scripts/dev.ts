/**
 * `npm run dev -- OPTIONS`: `rockbot up` with these options, started again at each change of a source, a schema or the
 * file of `--config`. Running calls have 2 seconds to end, or SHUTDOWN_GRACE_MS; the rest end in a typed error.
 * Policies and files of MCP servers are read again without a restart.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const root = join(import.meta.dirname, "..");
const args = process.argv.slice(2);
const { config } = parseArgs({ args, options: { config: { type: "string" } }, strict: false }).values;
const watched = [
  join(root, "packages"),
  join(root, "services"),
  ...(typeof config === "string" ? [resolve(config)].filter(existsSync) : []),
];

const watch = ["--watch", "--watch-preserve-output", ...watched.map((path) => `--watch-path=${path}`)];
const child = spawn(process.execPath, [...watch, join(root, "scripts/dev/run-up.ts"), ...args], {
  stdio: "inherit",
  env: { SHUTDOWN_GRACE_MS: "2000", ...process.env },
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.once("exit", (code) => process.exit(code ?? 1));
