/**
 * `npm run measure -- [NAME [OPTION…]]`: runs what measures, trains or breaks something and is no test. Without a name
 * it prints those that there are.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { measurements } from "./measure/measurements.ts";

const [name, ...options] = process.argv.slice(2);
const list = [...measurements].map(([name, { about }]) => `  ${name.padEnd(14)}${about}`).join("\n");

const measurement = measurements.get(name ?? "");
if (name === undefined) console.log(`npm run measure -- NAME [OPTION…]\n${list}`);
else if (measurement !== undefined) {
  const { file, node = [] } = measurement;
  const program = join(dirname(import.meta.dirname), file);
  const run = spawn(process.execPath, [...node, program, ...options], { stdio: "inherit" });
  // A terminal signals both. Who signals this process alone means the other.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => run.kill(signal));
  const [code] = (await once(run, "exit")) as [number | null];
  process.exitCode = code ?? 1;
} else {
  console.error(`Cannot measure "${name}": there is no such measurement. There are:\n${list}`);
  process.exitCode = 2;
}
