import type { Attributes } from "@opentelemetry/api";
import type { FileStore } from "@rockbot/records/files";
import type { RateStore } from "@rockbot/records/rates";
import type { Tool } from "../define/define-tool.ts";
import type { ToolExecutor, ToolLayer } from "../define/tool-executor.ts";
import type { RunKeeper } from "../runs/run-keeper.ts";
import { authorize } from "./authorize.ts";
import { boundInFlight } from "./bound-in-flight.ts";
import { boundRunning } from "./bound-running.ts";
import { cache } from "./cache.ts";
import { CLAIM, START } from "./call-steps.ts";
import type { CallTally } from "./call-tally.ts";
import type { CallClaims } from "./claim.ts";
import { deadline } from "./deadline.ts";
import { files as withFiles } from "./files.ts";
import { narrow } from "./narrow.ts";
import { park } from "./park.ts";
import { type PolicyTurns, queue } from "./queue.ts";
import { rate } from "./rate.ts";
import { callingNames, localNames, record, servingNames } from "./record.ts";
import type { ResultCache } from "./result-cache.ts";
import { start } from "./start.ts";
import { validate } from "./validate.ts";

// The order of the layers stands here and nowhere else, outermost first.

/** The parts that the tools of one process share. */
export interface Serving {
  /** How many calls run at once. */
  readonly concurrency: number;
  /** How many calls have a handler besides. */
  readonly waiting: number;
  /** Tells whether the calls of a tool run beside the others, and count among themselves. @default none does */
  readonly isAside?: (tool: string) => boolean;
  readonly claims: CallClaims;
  /** Parks calls. It is asked when a call comes, since it needs these layers itself. @default no call can wait */
  readonly keeper?: () => RunKeeper | undefined;
  readonly rates: RateStore;
  /** The files that calls name or leave. @default none */
  readonly files?: FileStore | undefined;
  readonly results: ResultCache;
  /** @default turns among these tools alone */
  readonly turns?: PolicyTurns | undefined;
  /** Counts the calls. @default nobody */
  readonly tally?: CallTally;
  /** The attributes of the messages that bring calls, for spans. */
  readonly hop?: Attributes;
}

/** Puts every layer of the serving side around tools that share claims, counts, limits and kept results. */
export function servingLayers({
  concurrency,
  waiting,
  isAside = () => false,
  claims,
  keeper = () => undefined,
  rates,
  files,
  results,
  turns,
  tally,
  hop,
}: Serving): (tool: Tool) => ToolExecutor {
  const inFlight = boundInFlight();
  const queued = queue(turns);
  const bounded = boundRunning({ concurrency, away: waiting });
  const aside = boundRunning({ concurrency, away: waiting });
  return ({ definition, executor, isResumable, waitsForClaims, leavesPlace, asks }) =>
    wrapTold(executor, {
      record: record(servingNames, hop, tally),
      authorize,
      "in-flight": inFlight,
      rate: rate(definition, rates, keeper),
      validate: validate(definition),
      narrow,
      park: park(definition, keeper, { isResumable, asks }),
      [CLAIM]: claims.layer(definition, { isResumable, waitsForClaims }),
      deadline: deadline(definition),
      cache: cache(definition, results),
      queue: queued,
      running: (isAside(definition.name) ? aside : bounded)({ leavesPlace }),
      files: withFiles(files),
      [START]: start,
    });
}

/**
 * Wraps a tool with the layers that a tool of the caller's own process needs. It claims, counts and keeps nothing, and
 * each delivery of a call runs the tool.
 */
export function withLocalLayers({ definition, executor }: Tool): ToolExecutor {
  return wrap(executor, [record(localNames), validate(definition), deadline(definition), start]);
}

/**
 * The executor with every layer of the calling side around it. It keeps the deadline itself, as remote executors do.
 */
export function withCallingLayers(executor: ToolExecutor): ToolExecutor {
  return wrap(executor, [record(callingNames), authorize]);
}

/** The executor, which keeps no deadline, in the place of one that does. */
export const withDeadline = (executor: ToolExecutor): ToolExecutor =>
  wrap(executor, [deadline({ readOnly: false, idempotent: false })]);

/** The same for layers with names, which it reports as a call reaches them. */
const wrapTold = (executor: ToolExecutor, layers: Readonly<Record<string, ToolLayer>>): ToolExecutor =>
  Object.entries(layers).reduceRight<ToolExecutor>((inner, [name, layer]) => {
    const wrapped = layer(inner);
    return {
      execute(request, context) {
        context.steps?.reached(name);
        return wrapped.execute(request, context);
      },
    };
  }, executor);

const wrap = (executor: ToolExecutor, layers: readonly ToolLayer[]): ToolExecutor =>
  layers.reduceRight((inner, layer) => layer(inner), executor);
