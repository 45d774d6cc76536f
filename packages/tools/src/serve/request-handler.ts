import { metrics } from "@opentelemetry/api";
import { DeadLetterError, type Death, type Delivery } from "@rockbot/bus";
import { type Envelope, MAX_REQUEST_BYTES, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { CallSteps } from "../layers/call-steps.ts";
import type { CallTally } from "../layers/call-tally.ts";
import { unknownOutcome } from "../layers/claim.ts";
import { servingNames, UNKNOWN_TOOL } from "../layers/record.ts";
import { callerOf, type Identity, type Sender, type Stranger } from "../messages/identity.ts";
import { formOf, type RequestedCall, type RequestForm } from "../messages/request-form.ts";
import type { AnswerWriter } from "./answer-writer.ts";
import type { CallEntry, createCallAudit } from "./call-audit.ts";
import type { FastLane } from "./fast-lane.ts";
import type { Intake } from "./intake.ts";
import { type Address, addressOf, budgetMs, guessCall, readRequest } from "./read-request.ts";
import { type RequestLimit, tooMany } from "./request-limit.ts";
import { asAsked, maybeTakenSince, type ServedCalls } from "./served-calls.ts";
import type { ServedTools } from "./served-tools.ts";
import type { WaitingRequest, WaitingRequests } from "./waiting-requests.ts";

// Many because: a request meets each of them on its way, and each is a thing of its own.
export interface RequestHandlerOptions {
  readonly service: string;
  /** Taken besides tool requests. */
  readonly forms: readonly RequestForm[];
  /** The tools that come on this queue. */
  readonly served: Pick<ServedTools, "find">;
  readonly calls: ServedCalls;
  readonly identity: Identity;
  readonly intake: Intake;
  readonly limit: RequestLimit;
  readonly waiting: WaitingRequests;
  readonly tally: CallTally;
  readonly answers: AnswerWriter;
  readonly audited: ReturnType<typeof createCallAudit>;
  /** Says which tools take calls by the fast lane. */
  readonly lane: Pick<FastLane, "admits">;
}

/** A call as it came. */
interface Received {
  readonly sender: Sender;
  readonly message: Envelope;
  readonly delivery: Delivery;
  readonly address: Address;
  readonly form: RequestForm;
  readonly entry: CallEntry;
  readonly waiting: WaitingRequest;
  /** It came by the fast lane. */
  readonly isFast: boolean;
}

/** Handles each message on a service's topic. */
export class RequestHandler {
  readonly #options: RequestHandlerOptions;
  readonly #unreadable = metrics.getMeter("@rockbot/tools").createCounter("rockbot.tool.requests.unreadable", {
    description: "Requests that are not a ToolInvokeRequest, by outcome.",
  });
  readonly #invocations = metrics
    .getMeter("@rockbot/tools")
    .createCounter(servingNames.count, { description: "Calls that ended, by status." });

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
  }

  /**
   * Resolves once the request is answered, or is another's to answer.
   * @param lane the one that it came by
   * @throws {DeadLetterError} if nobody can be answered
   */
  async handle(message: Envelope, delivery: Delivery, lane?: "fast"): Promise<void> {
    const { forms, identity, intake, limit, waiting, answers } = this.#options;
    const form = formOf(message, forms);
    const sender = identity.senderOf(message);
    const caller = callerOf(message, sender);
    const isFast = lane === "fast";
    const address = addressOf(message, sender, form, isFast);
    if (address === undefined) return this.#giveUpUnanswerable(message, sender, form);
    const retryAfterMs = delivery.isRedelivered ? undefined : limit.retryAfterMs(caller, message.body.byteLength);
    if (retryAfterMs !== undefined && !limit.answersRefusal(caller)) return;
    using waits = waiting.add(message.timestamp, delivery.receivedAt);
    using _held = intake.hold(caller, message.body.byteLength);
    const entering = retryAfterMs === undefined ? intake.place(caller) : undefined; // few are refused in words, and at once
    using _place = entering instanceof Promise ? await entering : entering;
    if (delivery.signal.aborted) throw delivery.signal.reason; // the service stops: somebody else has it next
    const read = retryAfterMs === undefined ? readSent(message, sender, form) : tooMany(caller, retryAfterMs);
    const entry = this.#entryOf(message, sender, read, delivery.receivedAt);
    const refuse = async (refusal: ToolError, layer: string) => {
      const ids = guessCall(message);
      if (!(await isOurs(delivery))) return entry.end(ids, "superseded");
      const steps = new CallSteps(delivery.receivedAt, layer, delivery.isRedelivered);
      return answers.write(address, ids, refusal, delivery.receivedAt, { form, entry, steps });
    };
    if (read instanceof ToolError) {
      if (retryAfterMs === undefined) this.#unreadable.add(1, { outcome: "answered" });
      return refuse(read, retryAfterMs === undefined ? "read" : "messages");
    }
    if ("refusal" in sender) return refuse(sender.refusal, "sender");
    await this.#answer(read, { sender, message, delivery, address, form, entry, waiting: waits, isFast });
  }

  /** Answers a request that the bus has given up. */
  async answerDeadLetter(message: Envelope, death: Death): Promise<void> {
    const { forms, identity, answers, service } = this.#options;
    const form = formOf(message, forms);
    const sender = identity.senderOf(message);
    const address = addressOf(message, sender, form);
    const read = readRequest(message, form);
    const ids = read instanceof ToolError ? guessCall(message) : read.request;
    await this.#entryOf(message, sender, read, performance.now()).end(ids, "dead_lettered");
    if (address === undefined || death.reason === "rejected") return; // rejected: there was nobody to answer
    const error = new ToolError(
      ToolErrorCode.ExecutionFailed,
      `"${service}" gave up on the request after its handler ${death.reason} repeatedly. Do not repeat it unchanged.`,
      {
        details: { reason: death.reason, mayHaveRun: true },
      },
    );
    await answers.write(address, ids, error, performance.now(), { form });
  }

  /** Tells whether a request that crashed its services may be the cause: only its tool can know. */
  async isToBlame(message: Envelope): Promise<boolean> {
    const { forms, identity, served } = this.#options;
    const read = readRequest(message, formOf(message, forms));
    if (read instanceof ToolError) return true;
    const tool = served.find(read.request.toolName, message.headers);
    return (await tool?.isToBlame?.(read.request, callerOf(message, identity.senderOf(message)))) ?? true;
  }

  async #answer({ request, budgetMs: budget }: RequestedCall, received: Received): Promise<void> {
    const { calls, tally, answers, lane } = this.#options;
    const { sender, message, delivery, address, form, entry, isFast } = received;
    const deadline = delivery.receivedAt + budgetMs(message, budget);
    const steps = new CallSteps(delivery.receivedAt, "find", delivery.isRedelivered);
    const found = calls.find(request, message, sender.caller);
    if (found instanceof ToolError) {
      this.#invocations.add(1, { tool_name: UNKNOWN_TOOL, status: found.code });
      tally.refused(found.code);
      // A tool that is not available here now may have run in the instance that got the call before.
      const mayHaveRun = maybeTakenSince(delivery, message) !== undefined && found.code === ToolErrorCode.Unavailable;
      if (!(await isOurs(delivery))) return entry.end(request, "superseded");
      const refusal = mayHaveRun ? unknownOutcome(request) : found;
      return answers.write(address, request, refusal, deadline, { form, entry, steps });
    }
    // What may have been begun is run by the durable way, where a call that kills its service is tried alone.
    if (isFast && (delivery.isRedelivered || !lane.admits(found.definition))) {
      await entry.end(request, "superseded");
      return answers.askDurably(address, request, deadline);
    }
    const performed = await calls.perform(found, request, { ...received, deadline, steps });
    const { named, reply, decision, progress } = performed;
    // Somebody else has the call, and answers it.
    if (typeof reply === "string" || (reply instanceof ToolError && !(await isOurs(delivery))))
      return entry.end(named, reply === "parked" ? "parked" : "superseded", decision);
    const { toolName } = named;
    const notes = { form, entry, decision, toolName, progress, steps };
    await answers.write(address, request, asAsked(request, reply), deadline, notes);
  }

  #entryOf(
    message: Envelope,
    sender: Sender | Stranger,
    read: RequestedCall | ToolError,
    receivedAt: number,
  ): CallEntry {
    return this.#options.audited(
      message,
      "refusal" in sender ? { caller: callerOf(message, sender) } : sender,
      read instanceof ToolError ? undefined : (read.request.arguments ?? ""),
      receivedAt,
    );
  }

  /**
   * Keeps a request for an operator if no caller can get an answer to it. One that is too large is not worth that, nor
   * are many of one caller.
   */
  #giveUpUnanswerable(message: Envelope, sender: Sender | Stranger, form: RequestForm): void {
    const isTooLarge = message.body.byteLength > MAX_REQUEST_BYTES;
    if (!this.#options.limit.keepsUnanswerable(callerOf(message, sender), { isTooLarge })) return;
    this.#unreadable.add(1, { outcome: "dead_lettered" });
    const read = readSent(message, sender, form);
    if (read instanceof ToolError) throw new DeadLetterError(read.message);
    throw new DeadLetterError(
      `Cannot answer on ${JSON.stringify(message.replyTo?.slice(0, 80))}: the sender may not use it as its reply topic`,
    );
  }
}

const readSent = (message: Envelope, sender: Sender | Stranger, form: RequestForm): RequestedCall | ToolError =>
  "refusal" in sender ? sender.refusal : readRequest(message, form);

/** Tells whether this handler may refuse the request; see Delivery. */
const isOurs = async (delivery: Delivery): Promise<boolean> => (await delivery.isOurs?.()) ?? true;
