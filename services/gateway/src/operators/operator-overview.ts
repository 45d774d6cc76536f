import { version } from "@rockbot/base/version";
import type { Bus } from "@rockbot/bus";
import type { Overview, Problem, ServiceState } from "@rockbot/console/api";
import type { PolicyHolder } from "@rockbot/policy";
import type { HeardService, ToolCaller } from "@rockbot/tools";
import type { ServiceFigures } from "../figures/service-figures.ts";
import type { HttpApp } from "../http/http-server.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";
import { busProblems, heldProblems, serviceProblems, toldProblems } from "./problems.ts";

/** Where an operator reads how the system stands. */
export const OVERVIEW_PATH = "/operator/overview";

export interface OverviewParts {
  readonly bus: Pick<Bus, "isReady" | "isBlocked" | "inspect">;
  readonly caller: Pick<ToolCaller, "agent" | "services" | "heldFrom">;
  readonly policy: Pick<PolicyHolder, "current"> | undefined;
  /** The figures of the calls that services have had. @default nothing is known of them */
  readonly figures?: ServiceFigures | undefined;
  /** True if the process may look at the queues of dead letters. @default false */
  readonly hasLetters?: boolean | undefined;
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

/** `GET /operator/overview`: what is wrong, the services, and the calls of the last hour. */
export function createOverviewApp(parts: OverviewParts): HttpApp {
  const { bus, hasLetters = false, further } = parts;
  const letters = keptFor(SLOW_KEPT_MS, (services: readonly HeardService[]) =>
    hasLetters ? letterProblems(bus, services) : Promise.resolve([]),
  );
  const more = keptFor(SLOW_KEPT_MS, async () => further?.());
  const overview = keptFor(KEPT_MS, async () => overviewOf(parts, { letters, more }));
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
  readonly more: (of: undefined) => Promise<Further | undefined>;
}

async function overviewOf({ bus, caller, policy, figures }: OverviewParts, { letters, more }: Slow): Promise<Overview> {
  const revision = policy?.current().revision;
  const [services, known] = await Promise.all([caller.services(), more(undefined)]);
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
      ...(await letters(services)),
    ],
    services: services.map((service) => shownService(service, figures)),
    ...(known?.servers === undefined ? {} : { servers: known.servers }),
    calls: figures?.of() ?? null,
    minutes: figures?.lastHour ?? [],
  };
}

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

async function letterProblems(
  bus: OverviewParts["bus"],
  services: readonly HeardService[],
): Promise<readonly Problem[]> {
  const counts = await Promise.all(
    services.map(async ({ service }) => ({
      service,
      count: (await bus.inspect(service, "parked").catch(() => undefined))?.messages ?? 0,
    })),
  );
  return counts
    .filter(({ count }) => count > 0)
    .map(({ service, count }) => ({
      level: "warning",
      what: `${count} dead letters of ${JSON.stringify(service)}: messages that it could not handle`,
      next: `Look at them, then replay or purge: "rockbot dlq list ${service}"`,
      page: "letters",
    }));
}
