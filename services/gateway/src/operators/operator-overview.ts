import { version } from "@rockbot/base/version";
import type { Bus } from "@rockbot/bus";
import type { Overview, Problem, ServiceState } from "@rockbot/console/api";
import type { PolicyHolder } from "@rockbot/policy";
import { MAX_CALLS } from "@rockbot/records/journal";
import type { HeardService, ToolCaller } from "@rockbot/tools";
import type { HttpApp } from "../http/http-server.ts";
import { callStats } from "./call-stats.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";

/** Where an operator reads how the system stands. */
export const OVERVIEW_PATH = "/operator/overview";

export interface OverviewParts {
  readonly bus: Pick<Bus, "isReady" | "isBlocked" | "inspect">;
  readonly caller: Pick<ToolCaller, "agent" | "services" | "heldFrom">;
  readonly policy: Pick<PolicyHolder, "current"> | undefined;
  /** Of all callers whose calls are shown. */
  readonly journals: () => readonly ToolCaller["journal"][];
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

/** An answer holds for at least this long, and for so many times the time that it took: many viewers cost as one. */
const KEPT_MS = 1_000;
const KEPT_FOR_COST = 20;

/** `GET /operator/overview`: what is wrong, the services, and the calls of the last hour. */
export function createOverviewApp(parts: OverviewParts): HttpApp {
  let kept: { readonly until: number; readonly answer: Promise<Overview> } | undefined;
  const fresh = (): Promise<Overview> => {
    const start = performance.now();
    const answer = overviewOf(parts);
    const keep = { until: start + KEPT_MS, answer };
    kept = keep;
    const setEnd = () => {
      if (kept === keep) kept = { answer, until: performance.now() + Math.max(KEPT_MS, KEPT_FOR_COST * costMs(start)) };
    };
    answer.then(setEnd, () => {
      kept = undefined;
    });
    return answer;
  };
  return {
    async fetch({ url, method }) {
      if (method !== "GET" || new URL(url).pathname !== OVERVIEW_PATH) return noSuchOperatorPath();
      return Response.json(await (kept !== undefined && performance.now() < kept.until ? kept.answer : fresh()));
    },
  };
}

const costMs = (start: number): number => performance.now() - start;

async function overviewOf({
  bus,
  caller,
  policy,
  journals,
  hasLetters = false,
  further,
}: OverviewParts): Promise<Overview> {
  const now = Date.now();
  const revision = policy?.current().revision;
  const [services, records, more] = await Promise.all([
    caller.services(),
    Promise.all(journals().map((journal) => journal.recent(MAX_CALLS))),
    further?.(),
  ]);
  return {
    at: now,
    version,
    bus: { isReady: bus.isReady },
    policy: revision === undefined ? null : { revision },
    problems: [
      ...busProblems(bus),
      ...services.flatMap((service) => serviceProblems(service, revision)),
      ...(more?.problems ?? heldProblems(caller)),
      ...(hasLetters ? await letterProblems(bus, services) : []),
    ],
    services: services.map(shownService),
    ...(more?.servers === undefined ? {} : { servers: more.servers }),
    ...callStats(records.flat(), now),
  };
}

function shownService({ service, instances, tools, isServed, fault }: HeardService): ServiceState {
  const state = !isServed ? "gone" : fault !== undefined ? "unusable" : "ready";
  return { name: service, instances, tools, state, ...(fault === undefined ? {} : { reason: fault }) };
}

function busProblems({ isReady, isBlocked }: OverviewParts["bus"]): readonly Problem[] {
  if (!isReady)
    return [
      {
        level: "error",
        what: "The bus is away: calls wait for it, or fail. What follows is what was known before",
        next: "Look at the broker and the network to it. This process connects again by itself",
      },
    ];
  if (!isBlocked) return [];
  return [
    {
      level: "error",
      what: "The broker takes no messages, for want of memory or disk",
      next: "Give the broker room: its management page and its log name the alarm",
    },
  ];
}

function serviceProblems(
  { service, isServed, fault, policies }: HeardService,
  revision: string | undefined,
): readonly Problem[] {
  const name = JSON.stringify(service);
  if (!isServed)
    return [
      {
        level: "error",
        what: `${name} is gone: nobody takes its calls, which fail at once`,
        next: "Start it again, if it was not stopped on purpose. Its log says why it ended",
      },
    ];
  const others = policies.filter((each) => revision !== undefined && each !== revision);
  return [
    ...(fault === undefined
      ? []
      : [
          {
            level: "error",
            what: `${name} runs, and its tools cannot be used: ${fault}`,
            next: "Look whether its release fits this one, and at its log",
          } as const,
        ]),
    ...(others.length === 0
      ? []
      : [
          {
            level: "warning",
            what: `${name} goes by the policy of revision ${others.join(", ")}, and this gateway by ${revision}`,
            next: "A changed file is taken within seconds. If this stays, its log says why it refused the file",
          } as const,
        ]),
  ];
}

function heldProblems(caller: OverviewParts["caller"]): readonly Problem[] {
  const held = caller.heldFrom(caller.agent);
  if (held.length === 0) return [];
  return [
    {
      level: "warning",
      what: `${held.length} tools of MCP servers wait for an operator: ${held.slice(0, 5).join(", ")}`,
      next: 'Read their definitions and decide: "rockbot mcp approve"',
    },
  ];
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
    }));
}
