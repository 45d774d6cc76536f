import { parseArgs } from "node:util";
import { contenders } from "./contenders.ts";

export interface BenchOptions {
  readonly contenders: readonly string[];
  readonly bytes: readonly number[];
  readonly concurrency: readonly number[];
  readonly rounds: number;
  readonly roundMs: number;
  readonly seed: number;
  /** The folder for a table and the figures, if they are to be kept. */
  readonly out: string | undefined;
  /** The folder for CPU profiles of all processes, if they are wanted. */
  readonly profiles: string | undefined;
}

export const usage = `Usage: npm run bench -- [options]
  --contenders A,B   some of: ${Object.keys(contenders).join(", ")} (all)
  --bytes N,M        lengths of a call's text (200,65536)
  --concurrency N,M  calls out at once (1,64,512)
  --rounds N         rounds of each contender in each case (10)
  --round-ms N       how long a round makes calls (1500)
  --seed N           of the order within a round (the time)
  --out FOLDER       keeps the figures there: bench.json, bench.md
  --profiles FOLDER  writes a CPU profile of each process there
`;

const defaults = { contenders: Object.keys(contenders).join(","), bytes: "200,65536", concurrency: "1,64,512" };

/** @throws {RangeError} in words if an option makes no sense */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      contenders: { type: "string", default: defaults.contenders },
      bytes: { type: "string", default: defaults.bytes },
      concurrency: { type: "string", default: defaults.concurrency },
      rounds: { type: "string", default: "10" },
      "round-ms": { type: "string", default: "1500" },
      seed: { type: "string", default: String(Math.floor(Date.now() / 1000)) },
      out: { type: "string" },
      profiles: { type: "string" },
    },
  });
  const chosen = values.contenders.split(",");
  const unknown = chosen.filter((name) => !Object.hasOwn(contenders, name));
  if (unknown.length > 0) throw new RangeError(`There is no contender "${unknown.join('", "')}": choose some of ${Object.keys(contenders).join(", ")}`);
  return {
    contenders: chosen,
    bytes: values.bytes.split(",").map((text) => wholeNumber("--bytes", text)),
    concurrency: values.concurrency.split(",").map((text) => wholeNumber("--concurrency", text)),
    rounds: wholeNumber("--rounds", values.rounds),
    roundMs: wholeNumber("--round-ms", values["round-ms"]),
    seed: wholeNumber("--seed", values.seed),
    out: values.out,
    profiles: values.profiles,
  };
}

/** What does such a run again, its turns in the same order. */
export function commandOf({ rounds, roundMs, seed, ...options }: Omit<BenchOptions, "out" | "profiles">): string {
  const chosen = (["contenders", "bytes", "concurrency"] as const).filter((name) => options[name].join(",") !== defaults[name]);
  return ["npm run bench --", ...chosen.map((name) => `--${name} ${options[name].join(",")}`), `--rounds ${rounds} --round-ms ${roundMs} --seed ${seed}`].join(
    " ",
  );
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new RangeError(`${option} is "${text}": expected a whole number of at least 1`);
  return Number(text);
}
