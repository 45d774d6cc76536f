import { ProblemCode, standingProblems } from "@rockbot/base";
import type { Bus } from "@rockbot/bus";
import type { Problem } from "@rockbot/console/api";
import { counted } from "@rockbot/contracts";
import type { HeardService, ToolCaller } from "@rockbot/tools";

/** A call that has waited for so long says that its service does not keep up. */
const LATE_MS = 10_000;
/** The most services and unknown codes that a problem names. */
const MAX_NAMED = 5;

export function busProblems({ isReady, isBlocked }: Pick<Bus, "isReady" | "isBlocked">): readonly Problem[] {
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

/** @param revision of the policy that the gateway goes by */
export function serviceProblems(service: HeardService, revision: string | undefined): readonly Problem[] {
  const name = JSON.stringify(service.service);
  if (!service.isServed)
    return [
      {
        level: "error",
        what: `${name} is gone: nobody takes its calls, which fail at once`,
        next: "Start it again, if it was not stopped on purpose. Its log says why it ended",
      },
    ];
  return [...unusable(name, service), ...otherPolicies(name, service, revision), ...late(name, service)];
}

function unusable(name: string, { fault }: HeardService): readonly Problem[] {
  if (fault === undefined) return [];
  return [
    {
      level: "error",
      what: `${name} runs, and its tools cannot be used: ${fault}`,
      next: "Look whether its release fits this one, and at its log",
    },
  ];
}

function otherPolicies(name: string, { policies }: HeardService, revision: string | undefined): readonly Problem[] {
  const others = policies.filter((each) => revision !== undefined && each !== revision);
  if (others.length === 0) return [];
  return [
    {
      level: "warning",
      what: `${name} goes by the policy of revision ${others.join(", ")}, and this gateway by ${revision}`,
      next: "A changed file is taken within seconds. If this stays, its log says why it refused the file",
    },
  ];
}

function late(name: string, { reports, backlog = 0 }: HeardService): readonly Problem[] {
  const oldestMs = Math.max(0, ...reports.map(({ calls }) => calls?.oldestMs ?? 0));
  if (oldestMs < LATE_MS) return [];
  return [
    {
      level: "warning",
      what: `${name} does not keep up: its oldest call has waited ${Math.round(oldestMs / 1_000)} s, and ${backlog} more are at the broker`,
      next: "Start another instance, or look which calls take long. CONCURRENCY says how many run at once",
    },
  ];
}

export function heldProblems(caller: Pick<ToolCaller, "agent" | "heldFrom">): readonly Problem[] {
  const held = caller.heldFrom(caller.agent);
  if (held.length === 0) return [];
  return [
    {
      level: "warning",
      what: `${held.length} tools of MCP servers wait for an operator: ${held.slice(0, 5).join(", ")}`,
      next: 'Read their definitions and decide, on the page Servers or by "rockbot mcp approve"',
      page: "servers",
    },
  ];
}

/** The calls that wait for operators, the oldest first. */
export interface Waiting {
  readonly runs: readonly { readonly createdAt: number }[];
  /** True if there are more. */
  readonly more: boolean;
  /** What is missing, in words. */
  readonly problems: readonly string[];
}

/** @param waiting undefined if it is not known */
export function waitingProblems(waiting: Waiting | undefined): readonly Problem[] {
  const [oldest] = waiting?.runs ?? [];
  if (waiting === undefined || oldest === undefined) return [];
  const count = `${waiting.more ? "More than " : ""}${counted(waiting.runs.length, "call")}`;
  return [
    {
      level: "warning",
      what: `${count} ${waiting.runs.length === 1 ? "waits" : "wait"} for an operator, the oldest since ${new Date(oldest.createdAt).toISOString()}`,
      next: 'Read and decide: "rockbot approvals ls", or the page Waiting, with the right decide',
      page: "waiting",
    },
  ];
}

/** The faults that processes tell of themselves, this one among them: one problem each, with the names of all who have it. */
export function toldProblems(services: readonly HeardService[]): readonly Problem[] {
  const whoByCode = new Map<string, string[]>();
  const tell = (code: string, who: string) => whoByCode.set(code, [...(whoByCode.get(code) ?? []), who]);
  for (const code of standingProblems()) tell(code, "this gateway");
  for (const { service, isServed, reports } of services)
    if (isServed)
      for (const code of new Set(reports.flatMap(({ problems = [] }) => problems))) tell(code, JSON.stringify(service));
  // Without Redis no journal is written either: once is enough.
  const away = new Set(whoByCode.get(ProblemCode.RedisAway));
  const unwritten = whoByCode.get(ProblemCode.JournalUnwritten)?.filter((who) => !away.has(who)) ?? [];
  if (unwritten.length > 0) whoByCode.set(ProblemCode.JournalUnwritten, unwritten);
  else whoByCode.delete(ProblemCode.JournalUnwritten);
  return [...whoByCode].map(([code, who]) => problemOf(code, named(who)));
}

function named(who: readonly string[]): string {
  if (who.length <= MAX_NAMED) return new Intl.ListFormat("en").format(who);
  return `${who.slice(0, MAX_NAMED).join(", ")} and ${who.length - MAX_NAMED} more`;
}

function problemOf(code: string, who: string): Problem {
  switch (code) {
    case ProblemCode.AuditUnwritten:
      return {
        level: "error",
        what: `The audit log of ${who} cannot be written: calls go without a line, or are refused where lines are required`,
        next: "Look at the disk of AUDIT_FILE there. The log of the process says what failed",
      };
    case ProblemCode.PolicyRefused:
      return {
        level: "error",
        what: `The changed policy file is refused by ${who}: the policy loaded before is in force`,
        next: 'Mend the file: "rockbot policy check FILE" names each fault, and the log does',
      };
    case ProblemCode.RedisAway:
      return {
        level: "error",
        what: `Redis cannot be reached from ${who}: what processes share is not shared`,
        next: "Look at Redis and the network to it. Processes connect again by themselves",
      };
    case ProblemCode.JournalUnwritten:
      return {
        level: "error",
        what: `The journal of ${who} cannot be written: after a restart it does not know its calls`,
        next: "Look at the memory and the rights of Redis: the log says what it refused",
      };
    case ProblemCode.BreakerOpen:
      return {
        level: "warning",
        what: `Calls of a tool are refused by ${who}, because its server had no answer in time again and again`,
        next: "Look at the server on the page Servers. One call is tried every 30 seconds",
        page: "servers",
      };
    case ProblemCode.NoticesDead:
      return {
        level: "warning",
        what: `Notices about calls that wait or have ended do not arrive, sent by ${who}`,
        next: 'Its log names each that was given up: "a notice about a call did not arrive". Look at the receivers in WEBHOOKS',
      };
    default:
      return { level: "warning", what: `A fault is told by ${who}: ${code}`, next: "Look at the log there" };
  }
}
