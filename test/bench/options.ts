import { parseArgs } from "node:util";
import { contenders } from "./contenders.ts";
import { type PayloadKind, payloadKinds } from "./payload.ts";

/** What calls carry in a case, and about how many bytes of it. */
export interface PayloadSize {
  readonly payload: PayloadKind;
  readonly bytes: number;
}

export interface BenchOptions {
  readonly contenders: readonly string[];
  readonly payloads: readonly PayloadSize[];
  readonly concurrency: readonly number[];
  readonly rounds: number;
  readonly roundMs: number;
  /** How long a lone caller thinks between its calls, in a case of its own; without it there is no such case. */
  readonly thinkMs: number | undefined;
  readonly seed: number;
  /** The folder for a table and the figures, if they are to be kept. */
  readonly out: string | undefined;
  /** The folder for CPU profiles of all processes, if they are wanted. */
  readonly profiles: string | undefined;
}

export const usage = `Usage: npm run measure -- bench [options]
  --contenders A,B   some of: ${Object.keys(contenders).join(", ")} (all)
  --payloads K:N,…   kinds of payload (text or rows) and their bytes (text:200,text:65536,rows:65536)
  --concurrency N,M  calls out at once (1,64,512)
  --rounds N         rounds of each contender in each case (10)
  --round-ms N       how long a round makes calls (1500)
  --think-ms N       how long a lone caller thinks between calls, in a further case; 0 leaves it out (200)
  --seed N           of the order within a round (the time)
  --out FOLDER       keeps the figures there: bench.md, data/bench.json
  --profiles FOLDER  writes a CPU profile of each process there
`;

const THINK_MS = 200;
const defaults = {
  contenders: Object.keys(contenders).join(","),
  payloads: "text:200,text:65536,rows:65536",
  concurrency: "1,64,512",
};

/** @throws {RangeError} in words if an option makes no sense */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      contenders: { type: "string", default: defaults.contenders },
      payloads: { type: "string", default: defaults.payloads },
      concurrency: { type: "string", default: defaults.concurrency },
      rounds: { type: "string", default: "10" },
      "round-ms": { type: "string", default: "1500" },
      "think-ms": { type: "string", default: String(THINK_MS) },
      seed: { type: "string", default: String(Math.floor(Date.now() / 1000)) },
      out: { type: "string" },
      profiles: { type: "string" },
    },
  });
  const chosen = values.contenders.split(",");
  const unknown = chosen.filter((name) => !Object.hasOwn(contenders, name));
  if (unknown.length > 0)
    throw new RangeError(
      `There is no contender "${unknown.join('", "')}": choose some of ${Object.keys(contenders).join(", ")}`,
    );
  return {
    contenders: chosen,
    payloads: values.payloads.split(",").map(payloadSize),
    concurrency: values.concurrency.split(",").map((text) => wholeNumber("--concurrency", text)),
    rounds: wholeNumber("--rounds", values.rounds),
    roundMs: wholeNumber("--round-ms", values["round-ms"]),
    thinkMs: values["think-ms"] === "0" ? undefined : wholeNumber("--think-ms", values["think-ms"]),
    seed: wholeNumber("--seed", values.seed),
    out: values.out,
    profiles: values.profiles,
  };
}

/** What does such a run again, its turns in the same order. */
export function commandOf({
  contenders,
  payloads,
  concurrency,
  rounds,
  roundMs,
  thinkMs,
  seed,
}: Omit<BenchOptions, "out" | "profiles">): string {
  const values = {
    contenders: contenders.join(","),
    payloads: payloads.map(({ payload, bytes }) => `${payload}:${bytes}`).join(","),
    concurrency: concurrency.join(","),
  };
  const chosen = (["contenders", "payloads", "concurrency"] as const).flatMap((name) =>
    values[name] === defaults[name] ? [] : `--${name} ${values[name]}`,
  );
  const thinking = thinkMs === THINK_MS ? [] : [`--think-ms ${thinkMs ?? 0}`];
  return [
    "npm run measure -- bench",
    ...chosen,
    `--rounds ${rounds} --round-ms ${roundMs}`,
    ...thinking,
    `--seed ${seed}`,
  ].join(" ");
}

function payloadSize(text: string): PayloadSize {
  const [kind = "", bytes = ""] = text.split(":");
  const payload = payloadKinds.find((known) => known === kind);
  if (payload === undefined)
    throw new RangeError(
      `--payloads has "${text}": expected ${payloadKinds.join(" or ")}, a colon, and a number of bytes`,
    );
  return { payload, bytes: wholeNumber("--payloads", bytes) };
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text))
    throw new RangeError(`${option} is "${text}": expected a whole number of at least 1`);
  return Number(text);
}
