import { type AgentEvent, newId, ToolError } from "@rockbot/contracts";
import { MAX_TIMEOUT_MS } from "@rockbot/tools";
import { busUrlFaults, chooseBusUrl } from "../bus-url.ts";
import { askAgent } from "../chat/ask-agent.ts";
import { lastConversation, listConversations } from "../chat/conversations.ts";
import { converse } from "../chat/converse.ts";
import { showUnasked } from "../chat/show-unasked.ts";
import { jsonPrinter, type PrinterStreams, textPrinter } from "../chat/turn-printer.ts";
import { openToolClient } from "../client/open-tool-client.ts";
import { ExitCode } from "../exit-code.ts";
import { Interrupted } from "../interrupted.ts";
import { interruption } from "../terminal/interruption.ts";
import { readStdin } from "../terminal/read-stdin.ts";
import { UsageError } from "../usage-error.ts";

export interface ChatCommandOptions {
  readonly bus?: string;
  readonly prompt?: string;
  readonly session?: string;
  readonly continue?: boolean;
  readonly list?: boolean;
  readonly json?: boolean;
  readonly timeout?: string;
  readonly mcpConfig?: string;
  readonly policy?: string;
}

/** `rockbot chat`: one question to the agent, or a conversation at the terminal. */
export async function chat({ continue: goesOn = false, list = false, ...options }: ChatCommandOptions): Promise<void> {
  const { bus, prompt, session, json = false, timeout, mcpConfig, policy } = options;
  if (list && (goesOn || [prompt, session, timeout, mcpConfig].some((option) => option !== undefined)))
    throw new UsageError(["--list: asks the agent nothing. It goes with --json, --bus and --policy alone"]);
  if (list) return await listConversations(json, options);
  const isConversation = prompt === undefined && process.stdin.isTTY === true;
  const faults = busUrlFaults(chooseBusUrl(bus, process.env));
  const timeoutMs = timeout === undefined ? MAX_TIMEOUT_MS : /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  if (timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS)
    faults.push(
      `--timeout: expected milliseconds, a whole number from 1 to ${MAX_TIMEOUT_MS}, got ${JSON.stringify(timeout)}`,
    );
  if (session !== undefined && !/^[\x21-\x7e]{1,128}$/.test(session))
    faults.push("--session: expected 1 to 128 visible ASCII characters");
  if (goesOn && session !== undefined)
    faults.push("--continue: --session names the conversation already. Leave one out");
  if (json && isConversation) faults.push("--json: needs a question, by -p or on stdin");
  const question =
    isConversation || faults.length > 0
      ? ""
      : (prompt === undefined || prompt === "-" ? await readStdin() : prompt).trim();
  if (question === "" && !isConversation && faults.length === 0)
    faults.push("the question: it is empty. Give it by -p, or on stdin");
  if (faults.length > 0) throw new UsageError(faults);

  using interrupted = interruption();
  const { signal, requested } = interrupted;
  await using client = await openToolClient({ bus, allowAddress: [], mcpConfig, policy, requested, env: process.env });
  const given = goesOn ? await lastConversation(client) : session;
  const streams: PrinterStreams = { out: process.stdout, err: process.stderr };
  const asked = new Set<string>();
  /** @returns whether there is an answer, and it is complete */
  const say = async (message: string, sessionId: string | undefined, cancel: AbortSignal): Promise<boolean> => {
    const printer = json ? jsonPrinter(streams) : textPrinter(streams);
    try {
      const onEvent = (event: AgentEvent): void => {
        asked.add(event.turnId);
        printer.event(event);
      };
      const turn = await askAgent(client, message, { sessionId, timeoutMs, signal: cancel, onEvent });
      printer.answer(turn);
      return turn.output.finish === "stop";
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      printer.failure(error);
      return false;
    }
  };
  if (!isConversation) {
    const isAnswered = await say(question, given, signal);
    process.exitCode = signal.aborted
      ? new Interrupted(await requested).exitCode
      : isAnswered
        ? ExitCode.Ok
        : ExitCode.Failed;
    return;
  }
  const sessionId = given ?? `chat-${newId().slice(0, 12)}`;
  console.error(
    `session ${sessionId} of the agent in ${client.where}. Ctrl-C cancels an answer, twice ends; Ctrl-D ends. "--session ${sessionId}" comes back to it.`,
  );
  const left = new AbortController();
  const isAsked = (turnId: string): boolean => asked.has(turnId);
  void showUnasked(client, sessionId, {
    isAsked,
    out: process.stdout,
    signal: AbortSignal.any([signal, left.signal]),
  }).catch(() => {}); // it has no session to follow, and the history has the answers
  await converse(async (message, cancel) => void (await say(message, sessionId, cancel)), {
    input: process.stdin,
    output: process.stdout,
    signal,
  });
  left.abort();
  if (signal.aborted) throw new Interrupted(await requested);
}
