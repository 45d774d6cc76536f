/**
 * One run of `rockbot up` between two changes: its wrapper brings dependencies and generated files up to date first.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";

const up = spawn(join(import.meta.dirname, "../../rockbot"), ["up", ...process.argv.slice(2)], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => up.kill(signal));
up.once("exit", (code) => process.exit(code ?? 1));
