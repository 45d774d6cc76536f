import type { Load } from "../closed-loop.ts";
import { PREFETCH, SERVICE_CONCURRENCY } from "../contender.ts";
import { contenders } from "../contenders.ts";
import { type BenchOptions, commandOf } from "../options.ts";
import { V8_FLAGS } from "../start-peer.ts";
import { aims } from "./aims.ts";
import { type Quartiles, type Round, type Summary, summarize } from "./summary.ts";

/** A run of the bench, as it is kept. */
export interface Run {
  readonly options: Omit<BenchOptions, "out" | "profiles">;
  readonly machine: Machine;
  /** The versions of the libraries that are installed for the bench alone. */
  readonly versions: Readonly<Record<string, string>>;
  /** Why contenders gave no figures from some case on, in their words. */
  readonly failures: Readonly<Record<string, string>>;
  readonly cases: readonly Case[];
}

export interface Machine {
  readonly node: string;
  readonly rabbitmq: string;
  readonly redis: string | undefined;
  readonly processor: string;
  /** Processes that wanted a processor in the last 15 minutes, on average; others' among them. */
  readonly load: string;
}

export interface Case extends Load {
  readonly summaries: Readonly<Record<string, Summary>>;
}

/** The rounds by case, each contender beside its reference, which has run in the same rounds. */
export function toCases(rounds: readonly Round[]): Case[] {
  const cases = Map.groupBy(rounds, ({ payload, bytes, concurrency, thinkMs }) =>
    [payload, bytes, concurrency, thinkMs].join(" "),
  );
  return [...cases.values()].map((ofCase) => {
    const byContender = Map.groupBy(ofCase, ({ contender }) => contender);
    const summaries: Record<string, Summary> = {};
    for (const [name, { reference }] of Object.entries(contenders)) {
      const own = byContender.get(name);
      if (own !== undefined) summaries[name] = summarize(own, byContender.get(reference) ?? []);
    }
    const { payload = "text", bytes = 0, concurrency = 0, thinkMs = 0 } = ofCase[0] ?? {};
    return { payload, bytes, concurrency, thinkMs, summaries };
  });
}

/** The page about a run, in markdown. */
export function toMarkdown({ options, machine, versions, failures, cases }: Run): string {
  const { contenders: chosen, seed, rounds, roundMs } = options;
  const libraries = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const { processor, load, node, rabbitmq, redis } = machine;
  return [
    "# What a call costs",
    `<!-- Written by \`${commandOf(options)} --out docs/measured\`. It also makes data/bench.json, which is not kept. Do not edit. -->`,
    `Each contender answers a call with what came: a text, or rows with members of several types. Caller and service are processes of their own, on one machine with the broker and with nothing
between. So calls/s are the figure of the whole machine, and other work on it makes them less. In each of ${rounds} rounds of ${roundMs} ms all contenders take their turn, in an order of chance (seed ${seed}).
A contender that has waited for its turn is slow at first, so each turn begins with calls that are not measured. All processes have V8's flags of our images: \`${V8_FLAGS.join(" ")}\`.
A service takes ${PREFETCH} messages at once, and ours runs ${SERVICE_CONCURRENCY} calls at once, as by default.
Contenders that publish to a topic exchange use topics of three words, as the protocol does: the broker takes longer over each further word.
A ratio is the median over the rounds of the contender's figure to its reference's *in the same round*, with quartiles. The reference is
\`amqplib-same\`; in one process it is \`function\`, and for additions of ours it is \`rockbot\`. CPU is user and system time per call. Where the load is well above the number of processors, all
figures are coarse, and CPU is the least so.`,
    `Machine: ${processor}, load ${load} at the end. Node ${node.replace("v", "")}, RabbitMQ ${rabbitmq}, Redis ${redis}.`,
    ...(libraries.length === 0 ? [] : [`Libraries: ${libraries.map((library) => `\`${library}\``).join(", ")}.`]),
    chosen.map((name) => `- **${name}**: ${contenders[name]?.about}${failureText(failures[name])}`).join("\n"),
    "## Aims",
    aimTable(cases, failures),
    ...partTable(cases),
    "## Figures",
    ...cases.flatMap((one) => [title(one), table(one, failures)]),
    "",
  ].join("\n\n");
}

/** What ours is to reach, beside what it has reached in this run. */
function aimTable(cases: readonly Case[], failures: Run["failures"]): string {
  const rows = aims.flatMap(
    ({
      contender,
      concurrency,
      isPaced = false,
      measure,
      atLeast = Number.NEGATIVE_INFINITY,
      atMost = Number.POSITIVE_INFINITY,
      about,
    }) => {
      const found = cases.find(
        (one) =>
          one.payload === "text" && one.bytes === 200 && one.concurrency === concurrency && one.thinkMs > 0 === isPaced,
      )?.summaries[contender];
      const aim = Number.isFinite(atMost) ? `≤ ${atMost}` : `≥ ${atLeast}`;
      if (found === undefined) return failures[contender] === undefined ? [] : [[about, aim, "failed", "no"]];
      const ratio = found.ratios[measure];
      const isMet = ratio.median >= atLeast && ratio.median <= atMost;
      return [[about, aim, ratioText(ratio), isMet ? "yes" : "no"]];
    },
  );
  return toTable(["ratio to the reference, 200 B", "aim", "measured", "met"], rows);
}

/** What each part of a deployed system costs: what is saved without it. */
function partTable(cases: readonly Case[]): string[] {
  const summaries = cases.find(({ summaries }) =>
    Object.keys(summaries).some((name) => contenders[name]?.isPart),
  )?.summaries;
  const whole = summaries?.["rockbot-deployed"];
  if (summaries === undefined || whole === undefined) return [];
  const usOf = ({ callerUs, serviceUs, brokerUs, redisUs }: Summary) => [callerUs, serviceUs, brokerUs, redisUs];
  const all = usOf(whole);
  const row = (name: string, us: readonly number[], { callsPerSecond }: Summary) => [
    name,
    ...us.map((each) => each.toFixed(0)),
    Math.round(callsPerSecond).toLocaleString("en"),
  ];
  const saved = Object.entries(summaries).filter(([name]) => contenders[name]?.isPart);
  return [
    "## What its parts cost",
    "A row of a part is what `rockbot-deployed` takes more than the same without that part. Times are µs of processor time a call, with 64 calls at once.",
    toTable(
      ["part", "caller", "service", "broker", "Redis", "calls/s without it"],
      [
        row("all", all, whole),
        ...saved.map(([name, summary]) => {
          const left = usOf(summary);
          return row(
            name.replace("no-", ""),
            all.map((us, at) => us - (left[at] ?? 0)),
            summary,
          );
        }),
      ],
    ),
  ];
}

function title({ payload, bytes, concurrency, thinkMs }: Load): string {
  const size = bytes < 1024 ? `${bytes} B` : `${bytes / 1024} KB`;
  const calls = `${concurrency} ${concurrency === 1 ? "call" : "calls"} at once`;
  return `### ${payload === "rows" ? "Rows of " : ""}${size}, ${calls}${thinkMs > 0 ? `, ${thinkMs} ms after the answer before` : ""}`;
}

function table({ summaries }: Case, failures: Run["failures"]): string {
  const rows = Object.entries(summaries).map(
    ([name, { callsPerSecond, p50Ms, callerUs, serviceUs, brokerUs, redisUs, ratios }]) => [
      name,
      Math.round(callsPerSecond).toLocaleString("en"),
      ratioText(ratios.callsPerSecond),
      p50Ms.toPrecision(3),
      ratioText(ratios.p50),
      [callerUs, serviceUs, brokerUs, redisUs].map((us) => us.toFixed(us < 10 ? 1 : 0)).join(" / "),
      ratioText(ratios.ownCpu),
      ratioText(ratios.allCpu),
    ],
  );
  for (const name in failures)
    if (summaries[name] === undefined) rows.push([name, "failed", ...Array<string>(6).fill("")]);
  const head = [
    "contender",
    "calls/s",
    "ratio",
    "p50 ms",
    "ratio",
    "caller / service / broker / Redis µs",
    "own CPU, ratio",
    "all CPU, ratio",
  ];
  return toTable(head, rows);
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = ["---", ...head.slice(1).map(() => "---:")];
  return [head, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** So many characters of what a contender said when it failed. */
const MAX_WORDS = 200;

const failureText = (words: string | undefined): string =>
  words === undefined
    ? ""
    : `. **It failed, and was not measured further:** ${words.replace(/\s+/g, " ").trim().slice(0, MAX_WORDS)}`;

const ratioText = ({ low, median, high }: Quartiles): string =>
  Number.isNaN(median) ? "–" : `${median.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
