import { reasonOf, within } from "@rockbot/base";
import { version } from "@rockbot/base/version";
import type { Bus } from "@rockbot/bus";
import type { Overview, Problem, ServiceState } from "@rockbot/console/api";
import type { PolicyHolder } from "@rockbot/policy";
import type { HeardService, ToolCaller } from "@rockbot/tools";
import type { ServiceFigures } from "../figures/service-figures.ts";
import type { HttpApp } from "../http/http-server.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";
import { busProblems, heldProblems, serviceProblems, toldProblems, type Waiting, waitingProblems } from "./problems.ts";

/** Where an operator reads how the system stands. */
export const OVERVIEW_PATH = "/operator/overview";

export interface OverviewParts {
  readonly bus: Pick<Bus, "isReady" | "isBlocked" | "inspect">;
  readonly caller: Pick<ToolCaller, "agent" | "services" | "heldFrom">;
  readonly policy: Pick<PolicyHolder, "current"> | undefined;
  /** The figures of the calls that services have had. @default nothing is known of them */
  readonly figures?: ServiceFigures | undefined;
  /** Services that may have dead letters, besides those that have been heard of. @default there are none */
  readonly lettersOf?: readonly string[] | undefined;
  /** The calls that wait for operators. @default none do */
  readonly waiting?: { list(): Promise<Waiting> } | undefined;
  /** What else the process knows. @default nothing */
  readonly further?: (() => Promise<Further>) | undefined;
}

/** Knowledge that only some processes have. */
export interface Further {
  readonly problems: readonly Problem[];
  /** How MCP servers stand, without what their programs wrote. */
  readonly servers?: readonly object[] | undefined;
}

/** An answer holds for so long: many viewers cost as one. */
const KEPT_MS = 500;
/** Dead letters are counted, and the rest of the process examined, less often: each asks for more. */
const SLOW_KEPT_MS = 5_000;
/** An overview waits for so long for the number of dead letters. */
const LETTERS_MS = 2_000;

/** `GET /operator/overview`: what is wrong, the services, and the calls of the last hour. */
export function createOverviewApp(parts: OverviewParts): HttpApp {
  const { bus, lettersOf = [], waiting, further } = parts;
  const letters = keptFor(SLOW_KEPT_MS, (services: readonly HeardService[]) =>
    letterProblems(bus, new Set([...lettersOf, ...services.map(({ service }) => service)])),
  );
  const parked = keptFor(SLOW_KEPT_MS, async () => waiting?.list());
  const more = keptFor(SLOW_KEPT_MS, async () => further?.());
  const overview = keptFor(KEPT_MS, async () => overviewOf(parts, { letters, parked, more }));
  return {
    async fetch({ url, method }) {
      if (method !== "GET" || new URL(url).pathname !== OVERVIEW_PATH) return noSuchOperatorPath();
      return Response.json(await overview(undefined));
    },
  };
}

/** The answer, asked for anew once the last one is so old. */
function keptFor<Of, T>(ms: number, ask: (of: Of) => Promise<T>): (of: Of) => Promise<T> {
  let kept: { until: number; readonly answer: Promise<T> } | undefined;
  return (of) => {
    if (kept !== undefined && performance.now() < kept.until) return kept.answer;
    const asked = { until: Number.POSITIVE_INFINITY, answer: ask(of) };
    kept = asked;
    asked.answer.then(
      () => {
        asked.until = performance.now() + ms;
      },
      () => {
        asked.until = 0;
      },
    );
    return asked.answer;
  };
}

interface Slow {
  readonly letters: (services: readonly HeardService[]) => Promise<readonly Problem[]>;
  readonly parked: (of: undefined) => Promise<Waiting | undefined>;
  readonly more: (of: undefined) => Promise<Further | undefined>;
}

async function overviewOf(
  { bus, caller, policy, figures }: OverviewParts,
  { letters, parked, more }: Slow,
): Promise<Overview> {
  const revision = policy?.current().revision;
  const [services, waiting, known] = await Promise.all([caller.services(), parked(undefined), more(undefined)]);
  return {
    at: Date.now(),
    version,
    bus: { isReady: bus.isReady },
    policy: revision === undefined ? null : { revision },
    problems: [
      ...busProblems(bus),
      ...services.flatMap((service) => serviceProblems(service, revision)),
      ...toldProblems(services),
      ...(known?.problems ?? heldProblems(caller)),
      ...waitingProblems(waiting),
      ...(bus.isReady ? await letters(services) : []), // else that is the problem
    ],
    waiting: countOf(waiting),
    services: services.map((service) => shownService(service, figures)),
    ...(known?.servers === undefined ? {} : { servers: known.servers }),
    calls: figures?.of() ?? null,
    minutes: figures?.lastHour ?? [],
  };
}

/** Nothing found, where something is missing, is not nothing. */
const countOf = (waiting: Waiting | undefined): number | null =>
  waiting === undefined || (waiting.runs.length === 0 && waiting.problems.length > 0) ? null : waiting.runs.length;

function shownService(
  { service, instances, tools, isServed, fault, backlog, reports }: HeardService,
  figures: ServiceFigures | undefined,
): ServiceState {
  const state = !isServed ? "gone" : fault !== undefined ? "unusable" : "ready";
  return {
    name: service,
    instances,
    tools,
    state,
    ...(fault === undefined ? {} : { reason: fault }),
    versions: [...new Set(reports.flatMap(({ version }) => version ?? []))].sort(),
    backlog: backlog ?? null,
    calls: (isServed ? figures?.of(service) : undefined) ?? null,
  };
}

/** The broker tells everybody how many messages a queue has: this needs no right to look at them. */
async function letterProblems(bus: Pick<Bus, "inspect">, services: ReadonlySet<string>): Promise<readonly Problem[]> {
  const count = async (service: string) => ({
    service,
    messages: (await bus.inspect(service, "parked"))?.messages ?? 0,
  });
  const isLate = () => new Error(`the broker did not answer within ${LETTERS_MS / 1_000} s`);
  try {
    const counts = await within(LETTERS_MS, Promise.all([...services].sort().map(count)), isLate);
    return counts.filter(({ messages }) => messages > 0).map(({ service, messages }) => parked(service, messages));
  } catch (error) {
    return [
      {
        level: "warning",
        what: `How many dead letters there are is unknown: ${reasonOf(error)}`,
        next: "Look at the broker. It is asked again by itself",
      },
    ];
  }
}

const parked = (service: string, count: number): Problem => ({
  level: "warning",
  what: `${count} dead letters of ${JSON.stringify(service)}: messages that it could not handle`,
  next: `Look at them, then replay or purge: "rockbot dlq list ${service}"`,
  page: "letters",
});
