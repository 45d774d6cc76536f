import type { KeyObject } from "node:crypto";
import { isRecord } from "@rockbot/base";
import type { Bus, Logger } from "@rockbot/bus";
import { createEnvelope, decodeMessage, type Envelope, printable, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { AuditLog } from "@rockbot/records/audit";
import { isSignedDecision } from "@rockbot/runs";
import type { Identity, Sender } from "../messages/identity.ts";
import { encodeReply } from "../messages/reply.ts";
import { toToolError } from "../to-tool-error.ts";
import { type Command, CommandCheck } from "./signed-command.ts";

/** The kind of command that brings an operator's decision about a call. */
export const DECIDE = "run.decide";
/** The kind of command that brings a person's answer to the question of a call. */
export const ANSWER = "run.answer";
/** The same of the person behind the call's own caller. It counts for calls only whose caller said that it asks. */
export const ANSWER_OF_CALLER = "run.answer.caller";

/**
 * Obeys a command of one kind.
 * @returns the answer for the operator
 * @throws {ToolError} in words
 */
export type CommandHandler = (body: Command["body"], operator: string) => Promise<object>;

export interface TakeCommandsOptions {
  readonly service: string;
  /** The public half of the key of the operators' door. @default no command is obeyed */
  readonly key: KeyObject | undefined;
  /** The handlers, by the kind of command. */
  readonly handlers: Readonly<Record<string, CommandHandler>>;
  readonly identity: Pick<Identity, "forged">;
  readonly audit: AuditLog | undefined;
  readonly log: Logger;
}

/**
 * Handles messages that claim to be commands of operators. A command is obeyed if the operators' door has signed it for
 * this service in the last minute, and once. A right to publish here makes no difference. Each command that is obeyed
 * has a line in the audit log.
 */
export function createCommandTaker(
  bus: Bus,
  { service, key, handlers, identity, audit, log }: TakeCommandsOptions,
): (message: Envelope, sender: Sender) => Promise<void> {
  const check = key === undefined ? undefined : new CommandCheck(service, key);

  function read(message: Envelope): Command {
    if (check === undefined)
      throw refused(
        `"${service}" knows no key of operators. Set OPERATOR_PUBLIC_KEY there to the public half of the gateway's`,
      );
    const read = decodeMessage("OperatorCommand", message.body);
    const command = read.ok ? check.take(read.value) : read.fault.message;
    if (typeof command !== "string") return command;
    identity.forged("command");
    throw refused(command);
  }

  async function obey({ kind, operator, body }: Command): Promise<object> {
    const handler = Object.hasOwn(handlers, kind) ? handlers[kind] : undefined;
    let outcome = "ok";
    try {
      if (handler === undefined) throw refused(`"${service}" knows no command "${kind}"`);
      return await handler(body, operator);
    } catch (error) {
      outcome = toToolError(error, kind).code;
      throw error;
    } finally {
      await audit?.write({ event: "operator", service, operator, action: kind, outcome, ...subjectOf(body) });
    }
  }

  return async (message, sender) => {
    const { replyTo, correlationId, messageId } = message;
    const ids = { toolCallId: messageId, toolName: "operator" };
    const obeyed = async (): Promise<object> => obey(read(message));
    const answer = await obeyed().then(
      (told) => ({ ...ids, content: JSON.stringify(told) }),
      (error: unknown) => toToolError(error, "operator"),
    );
    if (answer instanceof ToolError)
      log.warn({ sender: sender.name, why: answer.message }, "did not obey what came as an operator's command");
    if (replyTo === undefined || !sender.mayHear(replyTo)) return;
    const reply = createEnvelope({ topic: replyTo, source: service, correlationId, ...encodeReply(ids, answer) });
    await bus.publish(reply).catch(() => {}); // the operator is told that not all have answered
  };
}

const refused = (why: string): ToolError => new ToolError(ToolErrorCode.Denied, `Cannot obey the command: ${why}`);

/** The most that a line of the audit log says of what was decided, in characters. */
const MAX_SUBJECT = 4_000;

/** What a command is about, for the audit log: a call, a question, or definitions and servers, each with its hash. */
function subjectOf({ toolCallId, asked, tools, servers, note, decision }: Command["body"]) {
  const said = decision === undefined ? undefined : statementIn(decision);
  const decided = [tools, servers].flatMap((list) => (Array.isArray(list) ? list : [])).map(decidedIn);
  const named = [toolCallId, asked].find((one) => typeof one === "string") ?? decided.join(", ");
  const of = said === undefined ? named : `${named}: ${said["verdict"]} ${said["tool"]} for ${said["caller"]}`;
  const words = said === undefined ? note : said["note"];
  const hash = said?.["argumentsHash"];
  return {
    of: of === "" ? undefined : printable(of, MAX_SUBJECT),
    ...(typeof words === "string" ? { note: printable(words, MAX_SUBJECT) } : {}),
    ...(typeof hash === "string" ? { arguments: hash } : {}),
  };
}

/** A signed decision's content. It counts only if the service takes it, which is the line's outcome. */
function statementIn(decision: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isSignedDecision(decision)) return undefined;
  try {
    const statement: unknown = JSON.parse(decision.statement);
    return isRecord(statement) ? statement : undefined;
  } catch {
    return undefined;
  }
}

function decidedIn(one: unknown): string {
  const { server, tool, hash, digest } = one as Readonly<Record<string, unknown>>;
  return `${[server, tool].filter((name) => name !== undefined).join(": ")} ${hash ?? digest}`;
}
