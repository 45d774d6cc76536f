import { counted, printable, ToolErrorCode } from "@rockbot/contracts";
import { MAX_LISTED_CALLS, type ShownCall } from "@rockbot/gateway";
import { type CallRecord, isOpen } from "@rockbot/records/journal";
import type { CallSource, FoundCall } from "../client/calls/call-source.ts";
import { openCallSource } from "../client/calls/open-call-source.ts";
import { CommandError } from "../command-error.ts";
import { type Column, printTable } from "../terminal/print-table.ts";
import { UsageError } from "../usage-error.ts";

export interface CallsOptions {
  readonly redis?: string;
  readonly json?: boolean;
  readonly limit?: string;
}

const DEFAULT_LIMIT = 20;
const COLUMNS: readonly Column[] = [
  { title: "started", least: 17 },
  { title: "state", least: 8 },
  { title: "took", isRight: true },
  { title: "attempts" },
  { title: "tool", least: 8 },
  { title: "caller", least: 8 },
  { title: "id", least: 8, isId: true },
];

/** `rockbot calls`: the newest calls, one a line. */
export async function listCalls({ redis, json = false, limit = String(DEFAULT_LIMIT) }: CallsOptions): Promise<void> {
  const count = /^\d{1,4}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > MAX_LISTED_CALLS)
    throw new UsageError([
      `--limit: expected a whole number from 1 to ${MAX_LISTED_CALLS}, got ${JSON.stringify(limit)}`,
    ]);
  await using source = await openCallSource({ redis, env: process.env });
  const calls = await source.recent(count);
  if (json) {
    console.log(JSON.stringify(calls, undefined, 2));
    return;
  }
  printTable(
    COLUMNS,
    calls.map((call) => [startOf(call), stateOf(call), durationOf(call), attemptsOf(call), ...namesOf(call)]),
  );
  console.error(
    `${counted(calls.length, "call")}, the newest first, from ${source.where}. One in full: rockbot calls show ID, also by the beginning of the id`,
  );
}

/** `rockbot calls show`: what happened to one call, step by step. */
export async function showCall(toolCallId: string, { redis, json = false }: CallsOptions): Promise<void> {
  await using source = await openCallSource({ redis, env: process.env });
  const found = (await source.find(toolCallId)) ?? (await findByBeginning(source, toolCallId));
  if (found === undefined)
    throw new CommandError(
      `Cannot find the call ${JSON.stringify(toolCallId)} in ${source.where}: "rockbot calls" lists what is there`,
    );
  const { call, inner } = found;
  if (json) {
    console.log(JSON.stringify({ ...call, inner }, undefined, 2));
    return;
  }
  const startAt = call.steps[0]?.at ?? call.deadlineAt;
  const [toolName, caller, id] = namesOf(call);
  const lines = [
    `${toolName} for ${caller}, call ${id}`,
    `${stateOf(call)} after ${durationOf(call)}, ${attemptsOf(call)}; deadline ${new Date(call.deadlineAt).toISOString()}`,
    ...(call.policy === undefined ? [] : [`decided by policy revision ${call.policy}`]),
    ...(call.service === undefined ? [] : [`answered by ${call.service}${layerOf(call)}`]),
    ...(call.lane === undefined
      ? []
      : [`asked by the fast lane${call.lane === "fast" ? "" : ", then by the durable way"}`]),
    ...(call.isRedelivered ? ["delivered to the service more than once"] : []),
    ...call.steps.map(
      ({ step, at }) =>
        `${new Date(at).toISOString()}  ${`+${at - startAt} ms`.padStart(12)}  ${step === call.state ? stateOf(call) : step}`,
    ),
    ...innerLines(call.toolCallId, inner),
  ];
  for (const line of lines) console.log(printable(line, Number.POSITIVE_INFINITY));
}

/** The one of the newest calls whose id begins so. @throws {UsageError} if there are several */
async function findByBeginning(source: CallSource, beginning: string): Promise<FoundCall | undefined> {
  const found =
    beginning === ""
      ? []
      : (await source.recent(MAX_LISTED_CALLS)).filter(({ toolCallId }) => toolCallId.startsWith(beginning));
  if (found.length > 1)
    throw new UsageError([`the id: ${found.length} calls begin with ${JSON.stringify(beginning)}. Give more of it`]);
  return found[0] && source.find(found[0].toolCallId);
}

/** The calls that one led to, as a tree. */
function innerLines(parent: string, inner: readonly CallRecord[], depth = 1): readonly string[] {
  return inner
    .filter((call) => call.parent === parent)
    .flatMap((call) => [
      `${"  ".repeat(depth)}led to ${call.toolName}, call ${call.toolCallId}: ${stateOf(call)} after ${durationOf(call)}`,
      ...innerLines(call.toolCallId, inner, depth + 1),
    ]);
}

const startOf = ({ steps, deadlineAt }: CallRecord): string => new Date(steps[0]?.at ?? deadlineAt).toISOString();

const namesOf = ({ toolName, caller, onBehalfOf, toolCallId }: CallRecord): readonly string[] => [
  toolName,
  onBehalfOf === undefined ? caller : `${onBehalfOf} by ${caller}`,
  toolCallId,
];

/** A call that was left to a run is as that is, if it is known here. */
function stateOf({ run, state, code }: ShownCall): string {
  if (run?.waitsFor !== undefined) return `waits for ${run.waitsFor}`;
  if (run?.state === "ready") return "waits for its turn";
  if (run?.state === "running") return "runs detached";
  if (run === undefined && code === ToolErrorCode.Pending) return "waits, or runs detached";
  const ended = run ?? { state, code };
  return ended.code === undefined || ended.code === ended.state ? ended.state : `${ended.state}: ${ended.code}`;
}

/** Says what answered in the tool's place. */
const layerOf = ({ state, layer, reason }: CallRecord): string =>
  layer === undefined
    ? ""
    : `, ${state === "answered" ? "from" : "refused by"} its layer "${layer}"${reason === undefined ? "" : `: ${reason}`}`;

const attemptsOf = ({ attempts }: CallRecord): string => counted(attempts, "attempt");

/** Until its end, or until now. Later steps are not counted. */
function durationOf(call: CallRecord): string {
  const startAt = call.steps[0]?.at ?? call.deadlineAt;
  const endAt = isOpen(call) ? Date.now() : (call.steps.findLast(({ step }) => step === call.state)?.at ?? startAt);
  return `${endAt - startAt} ms`;
}
