import {
  isSessionId,
  Keep,
  MAX_REQUEST_BYTES,
  newId,
  parseArguments,
  ToolError,
  ToolErrorCode,
  tools,
} from "@rockbot/contracts";
import { isCallId } from "@rockbot/gateway";
import { MAX_TIMEOUT_MS } from "@rockbot/tools";
import { busUrlFaults, chooseBusUrl } from "../bus-url.ts";
import { argumentsFromPairs } from "../call-arguments/arguments-from-pairs.ts";
import { type ArgumentPair, isPair, readPairs } from "../call-arguments/read-pairs.ts";
import type { Schema } from "../call-arguments/schema.ts";
import { openToolClient } from "../client/open-tool-client.ts";
import type { ToolClient } from "../client/tool-client.ts";
import { CommandError } from "../command-error.ts";
import { Interrupted } from "../interrupted.ts";
import { interruption } from "../terminal/interruption.ts";
import { plainText } from "../terminal/plain-text.ts";
import { printAnswer, printFailure } from "../terminal/print-answer.ts";
import { readStdin } from "../terminal/read-stdin.ts";
import { showProgress } from "../terminal/show-progress.ts";
import { UsageError } from "../usage-error.ts";

export interface CallCommandOptions {
  readonly bus?: string;
  readonly json?: boolean;
  readonly timeout?: string;
  readonly session?: string;
  readonly allowAddress?: readonly string[];
  readonly mcpConfig?: string;
  readonly policy?: string;
  readonly detach?: boolean;
  readonly id?: string;
}

/** `rockbot call`: one tool call, its answer on stdout. */
export async function call(
  name: string,
  words: readonly string[],
  {
    bus,
    json = false,
    timeout,
    session,
    allowAddress = [],
    mcpConfig,
    policy,
    detach = false,
    id: toolCallId = newId(),
  }: CallCommandOptions,
): Promise<void> {
  const faults = busUrlFaults(chooseBusUrl(bus, process.env));
  const timeoutMs = timeout === undefined ? undefined : /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  if (timeoutMs !== undefined && (timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS))
    faults.push(
      `--timeout: expected milliseconds, a whole number from 1 to ${MAX_TIMEOUT_MS}, got ${JSON.stringify(timeout)}`,
    );
  if (session !== undefined && !isSessionId(session))
    faults.push("--session: expected 1 to 256 visible ASCII characters");
  if (!isCallId(toolCallId))
    faults.push(`--id: expected 32 hex digits in lower case, got ${JSON.stringify(toolCallId)}`);
  const known = Object.values(tools).find((tool) => tool.name === name)?.inputSchema as Schema | undefined;
  const given = await readWords(words, faults);
  let args = Array.isArray(given) ? known && argumentsFromPairs(given, known, faults) : given;
  if (faults.length > 0) throw new UsageError(faults);

  using interrupted = interruption();
  const { signal, requested } = interrupted;
  await using client = await openToolClient({
    bus,
    allowAddress,
    mcpConfig,
    tool: name,
    policy,
    requested,
    env: process.env,
  });
  if (detach && !client.keepsRuns)
    throw new CommandError(
      'Cannot detach the call: the tool would run in this command, and end with it. Start "rockbot up", or name a broker by --bus',
    );
  args ??= argumentsFromPairs(given as readonly ArgumentPair[], await schemaOf(client, name), faults);
  if (faults.length > 0) throw new UsageError(faults);
  using progress = showProgress(process.stderr);
  const asked = { toolCallId, toolName: name };
  try {
    const response = await client.call(name, args, {
      toolCallId,
      timeoutMs,
      sessionId: session,
      keep: detach ? Keep.Detached : client.keepsRuns ? Keep.IfParked : undefined,
      signal,
      onProgress: progress.show,
    });
    progress[Symbol.dispose]();
    process.exitCode = printAnswer(response, json);
    if (detach) console.error("rockbot: it has ended already: its service does not detach calls");
  } catch (error) {
    progress[Symbol.dispose]();
    if (!(error instanceof ToolError)) throw error;
    const isLeft = error.code === ToolErrorCode.Pending && error.details?.["isKept"] === true;
    if (detach && isLeft && !signal.aborted) console.log(json ? JSON.stringify(asked) : toolCallId);
    else {
      const exitCode = printFailure(error, asked, json);
      process.exitCode = signal.aborted ? new Interrupted(await requested).exitCode : exitCode;
    }
    if (error.code === ToolErrorCode.Pending) console.error(afterPending(error, toolCallId));
  }
}

/** What the user does about a call that has no end yet. */
function afterPending({ details }: ToolError, toolCallId: string): string {
  const id = plainText(String(details?.["runId"])).slice(0, 64);
  if (details?.["isKept"] !== true)
    return `It waited as ${id}, and is over. Make it again with a longer --timeout, and decide meanwhile: rockbot approvals ls`;
  const decide = details["state"] === "parked" ? ` To decide: rockbot approvals approve ${id}.` : "";
  return `It goes on.${decide} For its end: rockbot calls wait ${toolCallId}. To end it: rockbot calls cancel ${toolCallId}`;
}

/** A JSON object, or the words of `key=value` arguments, whose types the tool's schema says. */
async function readWords(words: readonly string[], faults: string[]): Promise<object | readonly ArgumentPair[]> {
  const [first, ...others] = words;
  if (others.length > 0 || (first !== undefined && isPair(first))) return readPairs(words, faults);
  return readArguments(first === "-" ? await readStdin() : first, faults);
}

/** The schema of a tool that only its owner knows; nothing if there is no such tool, as the call then says. */
async function schemaOf(client: ToolClient, name: string): Promise<Schema | undefined> {
  return (await client.listTools()).find((tool) => tool.name === name)?.parameters as Schema | undefined;
}

function readArguments(text: string | undefined, faults: string[]): object {
  if (text === undefined || text.trim() === "") return {};
  if (Buffer.byteLength(text) > MAX_REQUEST_BYTES) {
    faults.push(`the arguments: larger than ${MAX_REQUEST_BYTES} bytes`);
    return {};
  }
  const parsed = parseArguments(text);
  if (!parsed.ok)
    faults.push(
      `the arguments: ${parsed.fault.message}. Expected a JSON object such as '{"url":"https://example.com/"}' in single quotes, or key=value`,
    );
  else if (typeof parsed.value === "object" && parsed.value !== null && !Array.isArray(parsed.value))
    return parsed.value;
  else
    faults.push(
      `the arguments: expected a JSON object, got ${Array.isArray(parsed.value) ? "an array" : JSON.stringify(parsed.value).slice(0, 80)}`,
    );
  return {};
}
