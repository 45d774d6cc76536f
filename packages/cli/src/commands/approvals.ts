import type { WaitingCall } from "@rockbot/console/api";
import { printable, withHiddenShown } from "@rockbot/contracts";
import { openWaitingClient, type WaitingClient } from "../client/waiting-client.ts";
import { CommandError } from "../command-error.ts";
import { askLine } from "../terminal/ask-line.ts";
import { type Column, printTable } from "../terminal/print-table.ts";
import { UsageError } from "../usage-error.ts";

export interface DecideOptions {
  readonly note?: string;
  readonly json?: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: "since", least: 17 },
  { title: "until", least: 17 },
  { title: "for" },
  { title: "tool", least: 8 },
  { title: "caller", least: 8 },
  { title: "id", least: 8, isId: true },
];
const MAX_LINE = 2_000;

/** `rockbot approvals ls`: the calls that wait for people, one a line. */
export async function listWaiting({ json = false }: { readonly json?: boolean }): Promise<void> {
  await using client = await openWaitingClient(process.env);
  const waiting = await client.list();
  if (json) {
    console.log(jsonText(waiting));
    return;
  }
  const { calls, more, problems } = waiting;
  printTable(
    COLUMNS,
    calls.map(({ createdAt, expiresAt, kind, tool, caller, id }) => [
      timeOf(createdAt),
      timeOf(expiresAt),
      kind,
      tool,
      caller,
      id,
    ]),
  );
  for (const problem of problems) console.error(printable(problem, MAX_LINE));
  console.error(
    `Calls that wait for people: ${more ? "more than " : ""}${calls.length}. One in full: rockbot approvals show ID`,
  );
}

/** `rockbot approvals show`: one of them, with its arguments. */
export async function showWaiting(id: string, { json = false }: { readonly json?: boolean }): Promise<void> {
  await using client = await openWaitingClient(process.env);
  const call = await find(client, id);
  if (json) console.log(jsonText(call));
  else for (const line of described(call)) console.log(line);
}

/** `rockbot approvals approve` and `reject`: shows a call, and decides about exactly what it has shown. */
export async function decideWaiting(
  verdict: "approve" | "reject",
  id: string,
  { note, json = false }: DecideOptions,
): Promise<void> {
  await using client = await openWaitingClient(process.env);
  const call = await find(client, id);
  for (const line of described(call)) console.error(line);
  if (call.question !== undefined)
    throw new CommandError(
      "Cannot decide: the call asks a question, and waits for its answer. Answer it: rockbot approvals answer ID JSON",
    );
  if (call.mayDecide !== true) throw new CommandError(`Cannot decide: ${call.mayDecide}`);
  const code = await askCode(verdict);
  const { state } = await client.decide(call.id, {
    verdict,
    shown: call.shown ?? "",
    code,
    ...(note === undefined ? {} : { note }),
  });
  if (json) console.log(JSON.stringify({ id: call.id, state }));
  else console.error(state === "parked" ? "approved: further operators have to" : OUTCOMES[verdict]);
}

/** `rockbot approvals answer`: shows the question of a call, and answers exactly that one. */
export async function answerWaiting(
  id: string,
  json: string,
  { json: isJson = false }: { readonly json?: boolean },
): Promise<void> {
  const value = valueIn(json);
  await using client = await openWaitingClient(process.env);
  const call = await find(client, id);
  for (const line of described(call)) console.error(line);
  if (call.question === undefined)
    throw new CommandError("Cannot answer: the call waits for a decision. Decide: rockbot approvals approve ID");
  if (call.mayDecide !== true) throw new CommandError(`Cannot answer: ${call.mayDecide}`);
  const { state } = await client.answer(call.id, { hash: call.question.hash, value, code: await askCode("answer") });
  if (isJson) console.log(JSON.stringify({ id: call.id, state }));
  else console.error("answered: the tool goes on, and asks again if the answer does not fit");
}

/** @throws {UsageError} */
function valueIn(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    throw new UsageError([`the answer: expected JSON, such as '{"count": 3}' or '"a text"', got ${json.slice(0, 80)}`]);
  }
}

/** @throws {CommandError} without a terminal */
async function askCode(verb: string): Promise<string> {
  const code = await askLine(
    `To ${verb} this, type the code that "rockbot up" has printed at its terminal, beside the console: `,
  );
  if (code !== undefined) return code;
  throw new CommandError(
    "Nothing is decided: the command asks for a code, and runs without a terminal. Run it at one, or name operators with tokens in the policy, who decide at the gateway",
  );
}

const OUTCOMES = {
  approve: "approved: the call runs",
  reject: "rejected: the call ends, and its caller is told",
} as const;

/** @throws {UsageError} if several ids begin so */
async function find(client: WaitingClient, id: string): Promise<WaitingCall> {
  const { calls } = await client.list();
  const found = id === "" ? [] : calls.filter((call) => call.id.startsWith(id) || call.toolCallId === id);
  if (found.length > 1)
    throw new UsageError([`the id: ${found.length} calls begin with ${JSON.stringify(id)}. Give more of it`]);
  return await client.show(found[0]?.id ?? id);
}

/** Lines for a terminal: what others have chosen is escaped, and of the arguments all is there. */
function described(call: WaitingCall): readonly string[] {
  const { tool, caller, service, id, toolCallId, operator, asked, decisions, createdAt, expiresAt } = call;
  const { question } = call;
  const names = asked.map(({ by, needed }) => `${needed} of ${by.join(", ")}`).join(", and ");
  const lines = [
    `${tool} for ${caller}, at ${service}: ${id}`,
    `call ${toolCallId}${operator === undefined ? "" : `, made by the operator "${operator}"`}`,
    `waits since ${timeOf(createdAt)} for ${question === undefined ? names : "an answer"}, until ${timeOf(expiresAt)}${call.isKept ? "" : ", or until its caller has left"}`,
    ...(call.hasReadUntrusted ? ["! untrusted content led to it"] : []),
    ...decisions.map(
      ({ operator: by, verdict, at, note }) =>
        `${timeOf(at)}  ${by}: ${verdict}${note === undefined ? "" : `, ${JSON.stringify(note)}`}`,
    ),
    ...(call.mayDecide === true ? [] : [`! you cannot decide: ${call.mayDecide}`]),
    ...(call.visible === undefined ? [] : ["! the arguments have invisible characters, which stand here as \\uXXXX"]),
  ].map((line) => printable(line, MAX_LINE));
  const given = call.arguments;
  return [
    ...lines,
    ...questionLines(call),
    given === undefined ? `arguments of ${call.given.bytes} bytes, for other operators to see` : withHiddenShown(given),
  ];
}

/** JSON that parses to the same value, and shows a terminal all that is hidden in it. */
const jsonText = (value: object): string =>
  JSON.stringify(value, undefined, 2).split("\n").map(withHiddenShown).join("\n");

/** What a tool asks, each line of it marked: a stranger may have written it. */
function questionLines({ question }: WaitingCall): readonly string[] {
  if (question === undefined) return [];
  const { message, schema, origin, faults } = question;
  return [
    origin === undefined ? "its tool asks:" : printable(`! a stranger asks, who gets the answer, ${origin}:`, MAX_LINE),
    ...message.split("\n").map((line) => `  | ${withHiddenShown(line)}`),
    ...(faults === undefined ? [] : [printable(`! the last answer did not fit: ${faults}`, MAX_LINE)]),
    `for an answer of the schema ${withHiddenShown(JSON.stringify(schema))}`,
    "The arguments of the call:",
  ];
}

const timeOf = (at: number): string => new Date(at).toISOString();
