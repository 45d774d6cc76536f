import { pause } from "@rockbot/base";
import { printable, printableJson, type ToolErrorMessage, type ToolInvokeResponse } from "@rockbot/contracts";
import {
  type DlqEvent,
  type DlqFields,
  type DlqRequest,
  DlqRequestError,
  type ParkedRecord,
  type Replayed,
  readDlqRequest,
} from "@rockbot/gateway/dlq";
import { busUrlFaults, chooseBusUrl } from "../bus-url.ts";
import { openDlqClient } from "../client/dlq/open-dlq-client.ts";
import { ExitCode } from "../exit-code.ts";
import { interruption } from "../terminal/interruption.ts";
import { UsageError } from "../usage-error.ts";

export interface DlqCommandOptions {
  readonly bus?: string;
  readonly policy?: string;
  readonly json?: boolean;
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly limit?: string;
  readonly timeout?: string;
}

/** `rockbot dlq list | show | replay | purge`: the messages that no service could handle. */
export async function dlq(
  action: DlqRequest["action"],
  service: string | undefined,
  id: string | undefined,
  options: DlqCommandOptions,
): Promise<void> {
  const { bus, policy, json = false, all = false, yes = false, limit, timeout } = options;
  const faults = busUrlFaults(chooseBusUrl(bus, process.env));
  if (action === "replay" || action === "purge") {
    if (id === undefined && !all) faults.push("which messages: expected an id, or --all");
    if (id !== undefined && all) faults.push("which messages: expected an id or --all, not both");
    if (action === "purge" && !yes)
      faults.push("--yes: missing. What is purged is gone for good, and its call is never answered");
  }
  const request = readRequest(action, { service, id, limit, timeout }, faults);

  using interrupted = interruption();
  const { signal } = interrupted;
  await using client = await openDlqClient({ bus, policy }, process.env);
  const report = createReport(request, { json, where: client.where });
  try {
    await client.run(request, report.show, signal);
    process.exitCode = report.end();
  } catch (error) {
    if (!signal.aborted) throw error;
    console.error("rockbot: interrupted. Messages that were not reported as removed are still parked");
    process.exitCode = ExitCode.Interrupted;
  }
}

function readRequest(action: string, fields: DlqFields, faults: string[]): DlqRequest {
  try {
    const request = readDlqRequest(action, fields);
    if (faults.length === 0) return request;
  } catch (error) {
    if (!(error instanceof DlqRequestError)) throw error;
    faults.push(...error.faults);
  }
  throw new UsageError(faults);
}

/** Prints events as they come: results on stdout, all else on stderr. */
function createReport(request: DlqRequest, { json, where }: { readonly json: boolean; readonly where: string }) {
  let code: ExitCode = ExitCode.Ok;
  let listed = 0;
  let parked = 0;
  let removed = 0;
  let left = 0;

  function showOne(event: DlqEvent): void {
    switch (event.kind) {
      case "service":
        parked += event.parked ?? 0;
        return;
      case "parked":
        listed++;
        if (json) print(printableJson(event));
        else print(request.action === "show" ? describe(event) : line(event));
        return;
      case "replayed":
        if (event.isRemoved) removed++;
        else left++;
        if (hasFailed(event)) code = ExitCode.Failed;
        if (json) print(printableJson(event));
        else if (request.action === "replay" && request.id !== undefined) printAnswer(event);
        else print(replayedLine(event));
        return;
      case "purged":
        removed++;
        print(json ? printableJson(event) : printable(event.id, 255));
        return;
      case "refusal":
        console.error(`rockbot: ${printable(event.message, 2_000)}`);
        code = event.isUsage ? ExitCode.Usage : ExitCode.Failed;
        return;
      case "end":
        if (event.stopped !== undefined)
          console.error(`rockbot: stopped, and left the rest as it is: ${printable(event.stopped, 2_000)}`);
        console.error(summary());
    }
  }

  function summary(): string {
    switch (request.action) {
      case "list": {
        const more = parked > listed ? `; ${listed} of them are shown, --limit shows more` : "";
        const whose =
          request.service === undefined
            ? "for the services that run; name another to see its own"
            : `for ${request.service}`;
        return `${parked} parked, ${whose} (${where})${more}`;
      }
      case "show":
        return `One message: rockbot dlq replay ${request.service} ${printable(request.id, 255)}`;
      case "replay":
        return `${removed} answered and removed, ${left} still parked (${where})`;
      case "purge":
        return `${removed} removed (${where})`;
    }
  }

  return {
    /** Waits while the reader of stdout is slow, so that nothing piles up. */
    async show(event: DlqEvent): Promise<void> {
      showOne(event);
      while (process.stdout.writableNeedDrain && !process.stdout.destroyed) await pause(5);
    },
    end: (): ExitCode => code,
  };
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);

function line({ service, id, reason, parkedAt = "unknown", toolName, type, bytes, why }: ParkedRecord): string {
  const what = toolName ?? type;
  return `${parkedAt}  ${service}  ${printable(id, 64)}  ${reason}  ${printable(what, 80)}  ${bytes} bytes${why === undefined ? "" : `  ${printable(why, 120)}`}`;
}

function describe(record: ParkedRecord): string {
  const {
    service,
    id,
    reason,
    why,
    parkedAt,
    sentAt,
    topic,
    type,
    source,
    toolName,
    toolCallId,
    correlationId,
    replyTo,
    timeoutMs,
    headers,
    bytes,
    body,
  } = record;
  const shown = Buffer.byteLength(body);
  const fields: Record<string, string | undefined> = {
    service,
    id,
    reason,
    why,
    parked: parkedAt,
    sent: sentAt,
    from: source,
    topic,
    type,
    tool: toolName,
    "call id": toolCallId,
    correlation: correlationId,
    "reply to": replyTo,
    "time limit": timeoutMs === undefined ? undefined : `${timeoutMs} ms`,
    headers: headers.join(", ") || undefined,
    body: `${bytes} bytes${bytes > shown ? `, the first ${shown} of them:` : ":"}`,
  };
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name.padEnd(12)}${printable(value, 1_000)}`],
  );
  return [...lines, printable(body, body.length)].join("\n");
}

const isError = (answer: ToolInvokeResponse | ToolErrorMessage): answer is ToolErrorMessage => "code" in answer;

const hasFailed = ({ answer, trouble }: Replayed): boolean =>
  trouble !== undefined || (answer !== undefined && (isError(answer) || answer.isError === true));

function outcome({ answer, trouble }: Replayed): string {
  if (trouble !== undefined) return `not answered: ${trouble}`;
  if (answer === undefined) return "answered, but not as tools answer";
  return isError(answer) ? `${answer.code}: ${answer.message}` : `answered: ${answer.content ?? ""}`;
}

const replayedLine = (replayed: Replayed): string =>
  `${printable(replayed.id, 64)}  ${printable(replayed.toolName ?? "unknown", 80)}  ${replayed.isRemoved ? "removed" : "kept"}  ${printable(outcome(replayed))}`;

/** The output of `rockbot call`: the answer alone on stdout. */
function printAnswer(replayed: Replayed): void {
  const { answer } = replayed;
  if (answer === undefined || isError(answer)) console.error(`rockbot: ${printable(outcome(replayed), 2_000)}`);
  else if (answer.content) print(answer.content.replace(/\n$/, ""));
}
