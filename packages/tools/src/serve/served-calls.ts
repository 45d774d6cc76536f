import type { Bus, Delivery, Logger } from "@rockbot/bus";
import {
  type Envelope,
  Header,
  hasReadUntrusted,
  nearestTools,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
} from "@rockbot/contracts";
import { type Decision, forScript, type PolicyHolder, peersOf } from "@rockbot/policy";
import type { HeldCall, ProgressUpdate } from "../define/tool-executor.ts";
import type { CallSteps } from "../layers/call-steps.ts";
import type { Sender } from "../messages/identity.ts";
import type { RequestForm } from "../messages/request-form.ts";
import { ParkedError, SupersededError } from "../superseded-error.ts";
import { toToolError } from "../to-tool-error.ts";
import type { AnswerWriter, Reply } from "./answer-writer.ts";
import type { CallEntry } from "./call-audit.ts";
import { progressReporter } from "./progress-reporter.ts";
import { type Address, depthOf, sentSince } from "./read-request.ts";
import type { RunningCalls } from "./running-calls.ts";
import type { ServedTool, ServedTools } from "./served-tools.ts";
import type { WaitingRequest } from "./waiting-requests.ts";

export interface ServedCallsOptions {
  readonly bus: Bus;
  readonly service: string;
  readonly served: Pick<ServedTools, "names" | "find">;
  readonly policy: PolicyHolder;
  readonly running: RunningCalls;
  readonly answers: Pick<AnswerWriter, "mostBytes">;
  readonly log: Logger;
}

/** A call as it came, or as its record has it. */
export interface ReceivedCall {
  readonly sender: Pick<Sender, "caller" | "operator">;
  readonly message: Envelope;
  readonly delivery: Delivery;
  /** Where its caller waits; undefined if nobody does. */
  readonly address: Address | undefined;
  readonly form: RequestForm;
  readonly entry: CallEntry;
  readonly waiting: Pick<WaitingRequest, "started">;
  /** When it ends at the latest, on the clock of `performance.now()`. */
  readonly deadline: number;
  readonly steps: CallSteps;
  /** The record that brings it. @default a message does */
  readonly run?: HeldCall | undefined;
}

/** What became of a call. */
export interface PerformedCall {
  /** The request by the name that the tool is announced with. */
  readonly named: ToolInvokeRequest;
  readonly decision: Decision;
  /** How it ended; `superseded` if somebody else answers it, `parked` if its record does. */
  readonly reply: Reply | "superseded" | "parked";
  /** How many updates its caller was sent. */
  readonly progress: number;
}

/** Brings calls of one service to its tools, whatever brings the calls. */
export class ServedCalls {
  readonly #options: ServedCallsOptions;

  constructor(options: ServedCallsOptions) {
    this.#options = options;
  }

  /** The tool that a request means, or the answer to the request. */
  find({ toolName }: ToolInvokeRequest, { headers }: Envelope, caller: string): ServedTool | ToolError {
    try {
      return this.#options.served.find(toolName, headers) ?? this.#unknownTool(toolName, caller);
    } catch (error) {
      return toToolError(error, toolName);
    }
  }

  /**
   * Has the policy decide about a call, and brings it through all layers.
   * @throws only when the service is stopping: then somebody else gets the call
   */
  async perform(found: ServedTool, request: ToolInvokeRequest, received: ReceivedCall): Promise<PerformedCall> {
    const { bus, service, policy } = this.#options;
    const { sender, message, address, entry, steps } = received;
    // Policy, limits and records know the tool by the name it is announced with, however the request names it.
    const { name, dangerous: isDangerous, readOnly: isReadOnly } = found.definition;
    const named = name === request.toolName ? request : { ...request, toolName: name };
    const current = policy.current();
    const use = {
      caller: sender.caller,
      tool: name,
      isDangerous,
      isReadOnly,
      hasReadUntrusted: hasReadUntrusted(message),
    };
    const isFromScript = (message.userId ?? message.source) === peersOf(current.document).scriptsUser;
    const decision = isFromScript ? forScript(current, use, message.headers[Header.Grant]) : current.decide(use);
    const topic = Header.Progress in message.headers ? address?.topic : undefined;
    const progress = progressReporter(bus, service, named, topic);
    steps.reached("audit");
    try {
      const reply = entry.refusal() ?? (await this.#run(found, named, received, { decision, report: progress.report }));
      progress.end();
      return { named, decision, reply, progress: progress.sent };
    } finally {
      progress.end();
    }
  }

  async #run(
    { executor }: ServedTool,
    request: ToolInvokeRequest,
    { sender: { caller, operator }, message, delivery, address, form, waiting, deadline, steps, run }: ReceivedCall,
    {
      decision,
      report,
    }: { readonly decision: Decision; readonly report: ReturnType<typeof progressReporter>["report"] },
  ): Promise<Reply | "superseded" | "parked"> {
    const { running, answers, log } = this.#options;
    const call = running.start(caller, request.toolCallId, delivery.signal);
    try {
      const { signal } = call;
      const context = {
        signal,
        deadline,
        caller,
        operator,
        decision,
        steps,
        depth: depthOf(message),
        maxResultBytes: address === undefined ? undefined : answers.mostBytes(address, form),
        progress:
          run === undefined
            ? report
            : (update: ProgressUpdate) => {
                report(update);
                run.note(update);
              },
        onStarted: waiting.started,
        log,
        ...(run === undefined ? deliveredBefore(delivery, message) : { run }),
        arrival: run === undefined && address !== undefined ? { message, address } : undefined,
        grant: message.headers[Header.Grant],
        fileKeys: message.headers[Header.Files],
      };
      return await executor.execute(
        request,
        hasReadUntrusted(message) ? { ...context, hasReadUntrusted: true } : context,
      );
    } catch (error) {
      if (delivery.signal.aborted) throw error;
      if (error instanceof SupersededError) return error instanceof ParkedError ? "parked" : "superseded";
      const toolError = toToolError(error, request.toolName);
      if (toolError !== error)
        log.error({ toolName: request.toolName, toolCallId: request.toolCallId, error }, "a tool failed unexpectedly");
      return toolError;
    } finally {
      call.end();
    }
  }

  #unknownTool(name: string, caller: string): ToolError {
    const { service, served, policy } = this.#options;
    const { decide } = policy.current();
    const isAllowed = (tool: string): boolean => decide({ caller, tool }).isAllowed;
    const { help } = nearestTools(name, served.names.filter(isAllowed), { isDenied: !isAllowed(name) });
    return new ToolError(
      ToolErrorCode.ToolNotFound,
      `"${service}" has no tool "${name.slice(0, 80)}"${help === undefined ? "" : `; ${help}`}`,
    );
  }
}

/** The answer under the name that the request has for the tool. */
export const asAsked = ({ toolName }: ToolInvokeRequest, reply: Reply): Reply =>
  reply instanceof ToolError || reply.toolName === toolName ? reply : { ...reply, toolName };

const deliveredBefore = (delivery: Delivery, message: Envelope) => ({
  isRedelivered: delivery.isRedelivered,
  maybeTakenSince: maybeTakenSince(delivery, message),
});

/** See ToolContext. The bus knows of its own deliveries, and the sender of an earlier message. */
export function maybeTakenSince(
  { isRedelivered, maybeHandledSince, receivedAt }: Delivery,
  message: Envelope,
): number | undefined {
  const byBus = maybeHandledSince ?? (isRedelivered ? Number.NEGATIVE_INFINITY : undefined);
  const bySender = sentSince(message, receivedAt);
  return byBus === undefined || bySender === undefined ? (byBus ?? bySender) : Math.min(byBus, bySender);
}
