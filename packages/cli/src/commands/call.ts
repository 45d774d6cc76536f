import {
  errorReply,
  isSessionId,
  MAX_REQUEST_BYTES,
  newId,
  parseArguments,
  ToolError,
  ToolErrorCode,
  type ToolInvokeResponse,
  tools,
} from "@rockbot/contracts";
import { MAX_TIMEOUT_MS } from "@rockbot/tools";
import { busUrlFaults, chooseBusUrl } from "../bus-url.ts";
import { argumentsFromPairs } from "../call-arguments/arguments-from-pairs.ts";
import { type ArgumentPair, isPair, readPairs } from "../call-arguments/read-pairs.ts";
import type { Schema } from "../call-arguments/schema.ts";
import { openToolClient } from "../client/open-tool-client.ts";
import type { ToolClient } from "../client/tool-client.ts";
import { ExitCode } from "../exit-code.ts";
import { Interrupted } from "../interrupted.ts";
import { interruption } from "../terminal/interruption.ts";
import { plainText } from "../terminal/plain-text.ts";
import { readStdin } from "../terminal/read-stdin.ts";
import { showProgress } from "../terminal/show-progress.ts";
import { terminalText } from "../terminal/terminal-text.ts";
import { UsageError } from "../usage-error.ts";

export interface CallCommandOptions {
  readonly bus?: string;
  readonly json?: boolean;
  readonly timeout?: string;
  readonly session?: string;
  readonly id?: string;
  readonly allowAddress?: readonly string[];
  readonly mcpConfig?: string;
  readonly policy?: string;
}

/** Codes that say the call was wrong, not that the tool failed: the same call again gives the same. */
const wrongUsage: ReadonlySet<string> = new Set([ToolErrorCode.ToolNotFound, ToolErrorCode.InvalidArguments]);

/** `rockbot call`: one tool call, its answer on stdout. */
export async function call(
  name: string,
  words: readonly string[],
  { bus, json = false, timeout, session, id, allowAddress = [], mcpConfig, policy }: CallCommandOptions,
): Promise<void> {
  const faults = busUrlFaults(chooseBusUrl(bus, process.env));
  const timeoutMs = timeout === undefined ? undefined : /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  if (timeoutMs !== undefined && (timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS))
    faults.push(
      `--timeout: expected milliseconds, a whole number from 1 to ${MAX_TIMEOUT_MS}, got ${JSON.stringify(timeout)}`,
    );
  if (session !== undefined && !isSessionId(session))
    faults.push("--session: expected 1 to 256 visible ASCII characters");
  if (id !== undefined && !/^[0-9a-f]{32}$/.test(id))
    faults.push("--id: expected the 32 hex digits that an earlier command has printed");
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
  args ??= argumentsFromPairs(given as readonly ArgumentPair[], await schemaOf(client, name), faults);
  if (faults.length > 0) throw new UsageError(faults);
  using progress = showProgress(process.stderr);
  const toolCallId = id ?? newId();
  try {
    const response = await client.call(name, args, {
      toolCallId,
      timeoutMs,
      sessionId: session,
      signal,
      onProgress: progress.show,
    });
    progress[Symbol.dispose]();
    print(response, json);
    process.exitCode = response.isError === true ? ExitCode.Failed : ExitCode.Ok;
  } catch (error) {
    progress[Symbol.dispose]();
    if (!(error instanceof ToolError)) throw error;
    if (json) console.log(JSON.stringify(errorReply({ toolCallId, toolName: name }, error)));
    console.error(plainText(`rockbot: ${error.code}: ${error.message}`));
    if (error.code === ToolErrorCode.Pending) console.error(afterPending(error, toolCallId));
    process.exitCode = signal.aborted
      ? new Interrupted(await requested).exitCode
      : wrongUsage.has(error.code)
        ? ExitCode.Usage
        : ExitCode.Failed;
  }
}

/** What the user does about a call that people have not decided about yet. */
function afterPending({ details }: ToolError, toolCallId: string): string {
  const id = plainText(String(details?.["runId"])).slice(0, 64);
  return details?.["isKept"] === true
    ? `It waits on. To decide: rockbot approvals approve ${id}. For its result: the same command with --id ${toolCallId}`
    : `It waited as ${id}, and is over. Make it again with a longer --timeout, and decide meanwhile: rockbot approvals ls`;
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

function print(response: ToolInvokeResponse, asJson: boolean): void {
  const content = asJson ? JSON.stringify(response) : terminalText(response.content ?? "", process.stdout);
  process.stdout.write(content === "" || content.endsWith("\n") ? content : `${content}\n`);
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
