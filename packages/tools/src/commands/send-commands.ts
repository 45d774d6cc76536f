import type { KeyObject } from "node:crypto";
import { type Bus, UnroutableError } from "@rockbot/bus";
import {
  createEnvelope,
  type Envelope,
  encodeMessage,
  messages,
  newId,
  ToolError,
  ToolErrorCode,
} from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { createIdentity } from "../messages/identity.ts";
import { decodeReply } from "../messages/reply.ts";
import { type Command, signCommand } from "./signed-command.ts";

/** The key of a commander, and the name under which it sends. */
export interface CommanderOptions {
  /** The private half of the key whose public half services have. */
  readonly key: KeyObject;
  /** The name under which it sends, where nobody is verified. */
  readonly source: string;
  readonly policy: Pick<PolicyHolder, "current"> | undefined;
}

/** How many instances are asked, and for how long their answers are waited for. */
export interface CommandOptions {
  readonly instances: number;
  /** Milliseconds. */
  readonly timeoutMs: number;
}

/** Gives services the commands of operators. */
export interface Commander extends AsyncDisposable {
  /**
   * Sends a command to every instance of its service.
   * @returns the answers that came in time: none if no instance runs, an error if the bus does not take the command
   */
  send(command: Command, options: CommandOptions): Promise<readonly (Readonly<Record<string, unknown>> | ToolError)[]>;
}

/** A command whose answers are waited for. */
interface Sent {
  readonly service: string;
  readonly answers: (Readonly<Record<string, unknown>> | ToolError)[];
  readonly onAnswer: () => void;
}

/** Subscribes for answers with the first command; the queue ends with the commander. */
export function createCommander(bus: Bus, { key, source, policy }: CommanderOptions): Commander {
  const identity = createIdentity(bus, policy);
  const address = `${bus.traits.user ?? source}.${newId().slice(0, 12)}`;
  const replyTo = `tool.result.${address}`;
  const sent = new Map<string, Sent>();
  let subscribed: Promise<AsyncDisposable> | undefined;

  const hear = () =>
    bus.subscribe({ name: `result.${address}`, topics: [replyTo], kind: "copy" }, async (reply: Envelope) => {
      const command = sent.get(reply.correlationId ?? "");
      if (command === undefined || !identity.isFrom(command.service, reply, "result")) return;
      command.answers.push(answerIn(reply));
      command.onAnswer();
    });

  return {
    async send(command, { instances, timeoutMs }) {
      const correlationId = newId();
      const { promise: isOver, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, timeoutMs);
      const answers: Sent["answers"] = [];
      sent.set(correlationId, {
        service: command.service,
        answers,
        onAnswer: () => answers.length >= instances && resolve(),
      });
      try {
        subscribed ??= hear().catch((error: unknown) => {
          subscribed = undefined;
          throw error;
        });
        await subscribed;
        const message = createEnvelope({
          topic: `tool.cancel.${command.service}`,
          type: messages.OperatorCommand.type,
          source,
          ttlMs: timeoutMs,
          replyTo,
          correlationId,
          body: encodeMessage("OperatorCommand", signCommand(key, command)),
        });
        await bus.publish(message, { mandatory: true, timeoutMs });
        await isOver;
        return [...answers];
      } catch (error) {
        if (error instanceof UnroutableError) return [];
        const why = error instanceof Error ? error.message : String(error);
        return [new ToolError(ToolErrorCode.Unavailable, `Cannot give "${command.service}" the command: ${why}`)];
      } finally {
        clearTimeout(timer);
        sent.delete(correlationId);
      }
    },
    async [Symbol.asyncDispose]() {
      await (await subscribed?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

function answerIn({ body, type }: Envelope): Readonly<Record<string, unknown>> | ToolError {
  const reply = decodeReply(body, type);
  if (reply instanceof ToolError) return reply;
  try {
    return JSON.parse(reply?.content ?? "") as Readonly<Record<string, unknown>>;
  } catch {
    return new ToolError(ToolErrorCode.ExecutionFailed, "The service's answer to the command cannot be read");
  }
}
