import { isRecord } from "@rockbot/base";
import type { AuditLines, AuditLogState, AuditLogs as AuditStates } from "@rockbot/console/api";
import { type AuditFound, type AuditLog, type AuditSearch, MAX_FOUND } from "@rockbot/records/audit";
import type { ToolCaller } from "@rockbot/tools";
import { AuditCommand, type Commander, isPlaces } from "@rockbot/tools/commands";
import { askServices, type ServiceAnswer } from "../operators/ask-services.ts";
import { type FoundPart, mergeLines, type Places } from "./merge-lines.ts";

/** A search of an operator in all logs. */
export interface LogsSearch extends Omit<AuditSearch, "from"> {
  readonly limit: number;
  readonly from: Places;
}

/** The lines of all logs, and where the search goes on. */
export interface LogsFound extends Pick<AuditLines, "lines" | "more" | "problems"> {
  readonly places: Places;
}

/** Reads audit logs for operators. Each question leaves a line in each log. */
export interface AuditLogs {
  search(search: LogsSearch, operator: string): Promise<LogsFound>;
  state(operator: string): Promise<AuditStates>;
}

export interface AuditLogsParts {
  /** The log of this process. */
  readonly audit: AuditLog | undefined;
  /** The way to those of services elsewhere. @default all services are in this process, and it has one log */
  readonly elsewhere?:
    | { readonly caller: Pick<ToolCaller, "services">; readonly commander: Pick<Commander, "send"> | undefined }
    | undefined;
}

/** The name under which this process tells of its own log. */
const SELF = "gateway";
/** How long the instances of a service have to answer, in milliseconds: more than a log takes to say it cannot. */
const ANSWER_MS = 6_000;

/** Reads the log of this process, and by signed commands those of services elsewhere. */
export function createAuditLogs(parts: AuditLogsParts): AuditLogs {
  return {
    async search({ limit, from, ...asked }, operator) {
      const told = Object.entries(asked).filter(([, value]) => value !== undefined);
      const bodyOf = (service: string) => ({
        ...asked,
        from: placesOf(from, service),
        asked: told.map(([name, value]) => `${name}=${value}`).join(" "),
      });
      const { answers, problems } = await ask(parts, AuditCommand.Search, { bodyOf, operator }, (audit) =>
        audit.reader?.search({ ...asked, from: placesOf(from, SELF) }),
      );
      const found = read(answers, isFound);
      const logs = found.known.map(({ service, answer }): FoundPart => {
        const { log, lines, next, unreadable } = answer as unknown as AuditFound;
        const begun = placesOf(from, service)?.[log];
        return { service, log, lines: lines.slice(0, MAX_FOUND), next, unreadable, from: begun };
      });
      const unreadable = logs.flatMap(({ service, unreadable: count }) =>
        count > 0 ? [`${count} lines of the log of "${service}" cannot be read: its state says more`] : [],
      );
      return { ...mergeLines(logs, limit), problems: [...problems, ...found.problems, ...unreadable] };
    },
    async state(operator) {
      const bodyOf = () => ({});
      const { answers, problems } = await ask(parts, AuditCommand.State, { bodyOf, operator }, (audit) =>
        audit.reader?.state(),
      );
      const { known, problems: further } = read(answers, isState);
      const logs = new Map<string, AuditLogState>();
      for (const { service, answer } of known) {
        const state = answer as unknown as Omit<AuditLogState, "services">;
        const key = JSON.stringify([state.log, state.host, state.file]);
        const before = logs.get(key);
        const faults = [...(before?.faults ?? []), ...state.faults];
        logs.set(key, { ...state, services: [...(before?.services ?? []), service], faults: withoutTwins(faults) });
      }
      return { logs: [...logs.values()], problems: [...problems, ...further] };
    },
  };
}

const placesOf = (from: Places, service: string) => (Object.hasOwn(from, service) ? from[service] : undefined);

interface Question {
  readonly bodyOf: (service: string) => { readonly asked?: string };
  readonly operator: string;
}

/** Asks this process's log and all services, with what is missing in words. */
async function ask(
  { audit, elsewhere }: AuditLogsParts,
  kind: string,
  { bodyOf, operator }: Question,
  readOwn: (audit: AuditLog) => Promise<object> | undefined,
): Promise<{ readonly answers: readonly ServiceAnswer[]; readonly problems: readonly string[] }> {
  const of = bodyOf(SELF).asked || undefined;
  await audit?.write({ event: "operator", service: SELF, operator, action: kind, of, outcome: "ok" });
  const own = audit === undefined ? undefined : readOwn(audit);
  const told = own?.then(
    (answer) => ({ answers: [{ service: SELF, answer: answer as ServiceAnswer["answer"] }], problems: [] }),
    (error: Error) => ({ answers: [], problems: [`"${SELF}": ${error.message}`] }),
  );
  if (elsewhere === undefined)
    return (
      (await told) ?? {
        answers: [],
        problems: ["No audit log is kept here. Start with --audit FILE, or set AUDIT_FILE"],
      }
    );
  const { caller, commander } = elsewhere;
  const gone = (await caller.services()).filter(({ isServed }) => !isServed);
  const heard =
    commander === undefined
      ? { answers: [], problems: [NO_KEY] }
      : await askServices({ caller, commander }, { kind, operator, bodyOf, timeoutMs: ANSWER_MS });
  const here = (await told) ?? { answers: [{ service: SELF, answer: { isKept: false } }], problems: [] };
  const all = [...here.answers, ...heard.answers];
  const without = new Set(all.flatMap(({ service, answer }) => (answer["isKept"] === false ? [`"${service}"`] : [])));
  const names = new Intl.ListFormat("en").format(without);
  return {
    answers: all.filter(({ answer }) => answer["isKept"] !== false),
    problems: [
      ...(without.size === 0 ? [] : [`No audit log is kept by ${names}. Set AUDIT_FILE there`]),
      ...gone.map(({ service }) => `"${service}" does not run, so its audit log is not asked`),
      ...here.problems,
      ...heard.problems,
    ],
  };
}

const NO_KEY =
  "The services cannot be asked for their audit logs. Set OPERATOR_KEY of the gateway, and OPERATOR_PUBLIC_KEY of the services";

/** The answers that are what was asked for. */
function read(answers: readonly ServiceAnswer[], isIt: (answer: ServiceAnswer["answer"]) => boolean) {
  const known = answers.filter(({ answer }) => isIt(answer));
  const others = answers.filter(({ answer }) => !isIt(answer)).map(({ service }) => service);
  return {
    known,
    problems: [...new Set(others)].map((name) => `The answer of "${name}" about its audit log cannot be read`),
  };
}

const isFound = ({ log, lines, next }: ServiceAnswer["answer"]): boolean =>
  typeof log === "string" && Array.isArray(lines) && lines.every(isLine) && (next === undefined || isTimed(next));

const isLine = (line: unknown): boolean =>
  isTimed(line) && isRecord(line) && typeof line["hash"] === "string" && isRecord(line["fields"]);

const isTimed = (place: unknown): boolean =>
  isRecord(place) && isPlaces({ place }) && typeof place["time"] === "string";

const isState = ({ log, host, file, faults, furtherFaults, checked, first, last }: ServiceAnswer["answer"]): boolean =>
  [log, host, file].every((text) => typeof text === "string") &&
  typeof furtherFaults === "number" &&
  Array.isArray(faults) &&
  faults.every((fault) => isRecord(fault) && typeof fault["message"] === "string") &&
  [checked, first, last].every((part) => part === undefined || isRecord(part));

const withoutTwins = <T>(values: readonly T[]): readonly T[] => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
];
