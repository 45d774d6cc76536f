import { costText } from "@rockbot/agent";
import {
  type AgentUsage,
  counted,
  type FamilyTurn,
  newId,
  printable,
  type ToolAgentChatOutput,
  ToolError,
  tools,
} from "@rockbot/contracts";
import { MAX_TIMEOUT_MS } from "@rockbot/tools";
import { busUrlFaults, chooseBusUrl } from "../bus-url.ts";
import { askAgent } from "../chat/ask-agent.ts";
import { jsonPrinter, textPrinter } from "../chat/turn-printer.ts";
import { callerFaults } from "../client/agents/caller-faults.ts";
import { askTool } from "../client/ask-tool.ts";
import { openToolClient } from "../client/open-tool-client.ts";
import { CommandError } from "../command-error.ts";
import { ExitCode } from "../exit-code.ts";
import { Interrupted } from "../interrupted.ts";
import { interruption } from "../terminal/interruption.ts";
import { readStdin } from "../terminal/read-stdin.ts";
import { UsageError } from "../usage-error.ts";

export interface AgentsRunOptions {
  readonly bus?: string;
  readonly session?: string;
  readonly json?: boolean;
  readonly timeout?: string;
  readonly policy?: string;
  /** The caller for whom all is asked. */
  readonly for?: string;
}

export type AgentsSessionOptions = Pick<AgentsRunOptions, "bus" | "json" | "policy" | "for">;

/** `rockbot agents run`: one task for an agent, in a session of its own. */
export async function runAgent(
  agent: string,
  task: string,
  { bus, session, json = false, timeout, policy, for: onBehalfOf }: AgentsRunOptions,
): Promise<void> {
  const faults = [...busUrlFaults(chooseBusUrl(bus, process.env)), ...callerFaults(onBehalfOf)];
  const timeoutMs = timeout === undefined ? MAX_TIMEOUT_MS : /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  if (timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS)
    faults.push(
      `--timeout: expected milliseconds, a whole number from 1 to ${MAX_TIMEOUT_MS}, got ${JSON.stringify(timeout)}`,
    );
  if (session !== undefined && !/^[\x21-\x7e]{1,128}$/.test(session))
    faults.push("--session: expected 1 to 128 visible ASCII characters");
  const message = faults.length > 0 ? "" : (task === "-" ? await readStdin() : task).trim();
  if (message === "" && faults.length === 0)
    faults.push("the task: it is empty. Give it as an argument, or - and on stdin");
  if (faults.length > 0) throw new UsageError(faults);

  using interrupted = interruption();
  const { signal, requested } = interrupted;
  await using client = await openToolClient({
    bus,
    allowAddress: [],
    mcpConfig: undefined,
    policy,
    onBehalfOf,
    requested,
    env: process.env,
  });
  const sessionId = session ?? `run-${newId().slice(0, 12)}`;
  const printer = json
    ? jsonPrinter({ out: process.stdout, err: process.stderr })
    : textPrinter({ out: process.stdout, err: process.stderr });
  let isAnswered = false;
  try {
    const turn = await askAgent(client, message, { agent, sessionId, timeoutMs, signal, onEvent: printer.event });
    printer.answer(turn);
    isAnswered = turn.output.finish === "stop" && turn.output.report?.status !== "failure";
    if (!json)
      for (const line of closingLines(
        agent,
        turn.output,
        `--session ${sessionId}${onBehalfOf === undefined ? "" : ` --for ${onBehalfOf}`}`,
      ))
        console.error(line);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    printer.failure(error);
  }
  process.exitCode = signal.aborted
    ? new Interrupted(await requested).exitCode
    : isAnswered
      ? ExitCode.Ok
      : ExitCode.Failed;
}

/** What stands below an answer. @param where the options that name the session */
export function closingLines(
  agent: string,
  { session_id: session, usage, report }: ToolAgentChatOutput,
  where: string,
): readonly string[] {
  return [
    ...(report?.status === "input-required"
      ? [`${printable(agent)} asks. To answer: rockbot agents run ${printable(agent)} ANSWER ${where}`]
      : []),
    `session ${session}, ${usageWords(usage)}. What it led to: rockbot agents show ${where}`,
  ];
}

/** `rockbot agents cancel`: ends what runs of a session, or one of its turns. */
export async function cancelAgent(
  sessionId: string,
  turnId: string | undefined,
  options: AgentsSessionOptions,
): Promise<void> {
  const input = { session_id: sessionId, ...(turnId === undefined ? {} : { turn_id: turnId }) };
  const { content, structured } = await askTool(tools.agentCancel, input, options);
  if (options.json) console.log(JSON.stringify(structured, undefined, 2));
  else console.error(printable(content ?? ""));
}

/** `rockbot agents show --session`: what a session has led to, as a tree. */
export async function showSession(sessionId: string, options: AgentsSessionOptions): Promise<void> {
  const { structured, where } = await askTool(tools.agentFamily, { session_id: sessionId }, options);
  const { turns } = structured as { readonly turns: readonly FamilyTurn[] };
  if (turns.length === 0)
    throw new CommandError(
      `Nothing is known of the session ${printable(sessionId)} in the last day, as ${where} has it. Name the conversation that the others stem from`,
    );
  if (options.json) console.log(JSON.stringify(turns, undefined, 2));
  else for (const line of familyLines(turns)) console.log(printable(line, MAX_LINE));
}

const MAX_LINE = 2_000;

/** A line for each turn, each below the one that has called it, and a line with all of them. */
export function familyLines(turns: readonly FamilyTurn[]): readonly string[] {
  const lines = turns.map((turn) => {
    const {
      agent = "agent",
      depth,
      state,
      finish,
      session_id,
      turn_id,
      calls,
      failed_calls: failed,
      usage,
      tools: used,
    } = turn;
    const how = finish === undefined || finish === "stop" ? state : `${state}: ${finish}`;
    const seconds =
      ((turn.ended_at === undefined ? Date.now() : Date.parse(turn.ended_at)) - Date.parse(turn.started_at)) / 1_000;
    const names = used.map(({ tool, count }) => (count === 1 ? tool : `${tool} ×${count}`)).join(", ");
    const facts = [
      how,
      `${seconds.toFixed(1)} s`,
      usageWords(usage),
      `${counted(calls, "call")}${failed === 0 ? "" : `, ${failed} failed`}${names === "" ? "" : ` (${names})`}`,
    ];
    return `${"  ".repeat(depth)}${agent}  ${session_id}  turn ${turn_id}  ${facts.join("  ")}`;
  });
  const roots = turns.filter(({ depth }) => depth === 0);
  const total = roots.map(({ usage }) => usage).reduce(addUsage, { input_tokens: 0, output_tokens: 0 });
  const calls = turns.reduce((sum, turn) => sum + turn.calls, 0);
  return [
    ...lines,
    `${counted(turns.length, "turn")}, ${usageWords(total)}, ${counted(calls, "call")}. The tokens of a turn are with those that it has called, once they have ended`,
  ];
}

const addUsage = (sum: AgentUsage, { input_tokens, output_tokens, cost, unpriced_tokens }: AgentUsage): AgentUsage => ({
  input_tokens: sum.input_tokens + input_tokens,
  output_tokens: sum.output_tokens + output_tokens,
  ...(cost === undefined && sum.cost === undefined ? {} : { cost: (sum.cost ?? 0) + (cost ?? 0) }),
  ...(unpriced_tokens === undefined && sum.unpriced_tokens === undefined
    ? {}
    : { unpriced_tokens: (sum.unpriced_tokens ?? 0) + (unpriced_tokens ?? 0) }),
});

function usageWords({ input_tokens, output_tokens, cost, unpriced_tokens: unpriced = 0 }: AgentUsage): string {
  const known = cost === undefined ? [] : [`cost ${costText(cost)}`];
  const unknown =
    unpriced === 0 ? [] : [`${cost === undefined ? "cost unknown" : `and what ${unpriced} tokens cost is unknown`}`];
  return [`${input_tokens} + ${output_tokens} tokens`, ...known, ...unknown].join(", ");
}
