import { metrics } from "@opentelemetry/api";
import { type Bus, DEFAULT_CONCURRENCY, DEFAULT_DRAIN_MS, DeadLetterError, type Death, type Delivery, type Logger, silentLogger } from "@rockbot/bus";
import {
  checkName,
  createEnvelope,
  decodeMessage,
  type Envelope,
  Header,
  MAX_REQUEST_BYTES,
  nearestName,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
} from "@rockbot/contracts";
import { createPolicy, type Decision, defaultPolicySource, holdPolicy, type PolicyHolder } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import { type ClaimStore, createMemoryClaimStore } from "@rockbot/records/claims";
import { createMemoryRateStore, type RateStore } from "@rockbot/records/rates";
import type { ToolExecutor } from "../define/tool-executor.ts";
import type { ToolSet } from "../define/tool-set.ts";
import { type AnnouncedList, announceTools, RESERVED_SERVICE } from "../discover/announce-tools.ts";
import { CallClaims, unknownOutcome } from "../layers/claim.ts";
import { servingLayers } from "../layers/layers.ts";
import { servingNames, UNKNOWN_TOOL } from "../layers/record.ts";
import { ResultCache } from "../layers/result-cache.ts";
import { SupersededError } from "../layers/superseded-error.ts";
import { MAX_RESULT_BYTES } from "../limits.ts";
import { callerOf, createIdentity, type Sender, type Stranger } from "../messages/identity.ts";
import { METERED, MessageMeter } from "../messages/message-meter.ts";
import type { EncodedReply } from "../messages/reply.ts";
import { formOf, type RequestedCall, type RequestForm, toolRequestForm } from "../messages/request-form.ts";
import { toToolError } from "../to-tool-error.ts";
import { AnswerPublisher } from "./answer-publisher.ts";
import { type CallEntry, createCallAudit } from "./call-audit.ts";
import { Intake } from "./intake.ts";
import { type ProgressReporter, progressReporter } from "./progress-reporter.ts";
import { type Address, addressOf, budgetMs, depthOf, guessCall, readRequest } from "./read-request.ts";
import { RunningCalls } from "./running-calls.ts";
import { mayHaveEffects, type ServedTool, ServedTools } from "./served-tools.ts";

export interface ServeToolsOptions {
  /** The service's name: its subscription, and its word in `tool.announce.{service}`. */
  readonly service: string;
  /** Where its requests come: `tool.invoke` for web-tools, `tool.invoke.{service}` for others. @default `tool.invoke.{service}` */
  readonly topic?: string | undefined;
  /** How many calls run at once. @default 32 */
  readonly concurrency?: number | undefined;
  /**
   * How many further calls are looked at, refused, answered from what is kept, or wait for their turn, which callers have in rotation: who has
   * more waiting than that has his calls in the queue of the bus, which knows no callers, before those of others. @default as many as run
   */
  readonly waiting?: number | undefined;
  /** Requests that are taken besides ToolInvokeRequests. @default none */
  readonly forms?: readonly RequestForm[] | undefined;
  /** How long disposal waits for running calls, in milliseconds. @default 20_000 */
  readonly drainMs?: number | undefined;
  /**
   * Keeps calls of tools with effects from running twice: a store that all instances of the service share, or what opens one, which is
   * asked only where there are such tools. Without one a call that is delivered again ends in `outcome_unknown` unless this very process
   * has had it. @default claims of this process alone
   */
  readonly claims?: ClaimStore | OpenClaims | undefined;
  /** Who may do what, how often, and who may speak for whom. @default every caller may use every tool but the dangerous ones */
  readonly policy?: PolicyHolder | undefined;
  /** What callers have used up. Shared by all instances of the service: else a limit holds for each. @default counts of this process alone */
  readonly rates?: RateStore | undefined;
  /** Whose tools they are, if not the service's own: then answers say so, and that what is in them comes from a tool. @default nobody else's */
  readonly provider?: string | undefined;
  /** Gets a line for each call that ends here, answered or not. @default nobody */
  readonly audit?: AuditLog | undefined;
  /** Whether calls are refused while the audit log cannot be written. @default false */
  readonly isAuditRequired?: boolean | undefined;
  readonly log?: Logger | undefined;
}

/** Opens the claims that all instances share, if it is said where they are. Who opens them closes them, after the service. */
export type OpenClaims = () => Promise<ClaimStore | undefined>;

type Reply = ToolInvokeResponse | ToolError;
type Ids = Pick<ToolInvokeRequest, "toolCallId" | "toolName">;

/** A call as it came. */
interface Received {
  readonly sender: Sender;
  readonly message: Envelope;
  readonly delivery: Delivery;
  readonly deadline: number;
  readonly decision: Decision;
  readonly progress: ProgressReporter;
}

/** What is known of a call beside its answer. */
interface AnswerNotes {
  /** Of the request. @default that of tool requests */
  readonly form?: RequestForm | undefined;
  /** Gets its line. */
  readonly entry?: CallEntry | undefined;
  readonly decision?: Decision | undefined;
  /** The name it is announced with. @default as the request has it */
  readonly toolName?: string | undefined;
  /** How many updates went before it. @default none */
  readonly progress?: number | undefined;
}

/** The part of a service's handlers that may hold answers of one caller. */
const HELD_PART = 1 / 4;
/** How many requests are taken besides those that have a handler, while one caller has most of these: some callers' worth. */
const LINE = 2_048;
/** A guess, for who has as many requests here as it may have. */
const FULL_RETRY_MS = 1_000;

/**
 * Serves tools from the bus: a fixed set, or those of a ToolProvider, which are announced anew whenever they
 * change. Each request is answered exactly once by this service, with a response or a ToolError; a
 * request that cannot be read and names nobody to answer is dead-lettered and counted. Resolves once calls are taken and
 * the tools are announced. Disposal says so, takes no new calls, and waits for the running ones; those that outlast the
 * drain time are aborted, unanswered, and go back to the bus.
 * @throws {RangeError} if the service's name is not one that we may create
 * @throws {TypeError} if the set has no guide or two tools of one name
 */
export async function serveTools(
  bus: Bus,
  set: ToolSet,
  {
    service,
    topic = `tool.invoke.${service}`,
    concurrency = DEFAULT_CONCURRENCY,
    waiting = concurrency,
    forms = [],
    drainMs = DEFAULT_DRAIN_MS,
    claims: sharedClaims,
    policy = holdPolicy(createPolicy(defaultPolicySource())),
    rates: rateStore,
    provider,
    audit,
    isAuditRequired = false,
    log = silentLogger,
  }: ServeToolsOptions,
): Promise<AsyncDisposable> {
  if (checkName("a service's name", service) === RESERVED_SERVICE) throw new RangeError(`Cannot serve as "${service}": the name is reserved`);
  await using started = new AsyncDisposableStack();
  const hasEffects = mayHaveEffects(set);
  const claimStore = typeof sharedClaims !== "function" ? sharedClaims : hasEffects ? await sharedClaims() : undefined;
  const seesAll = claimStore !== undefined || !bus.traits.isDurable;
  const claims = new CallClaims(claimStore ?? started.use(createMemoryClaimStore()), { seesAll });
  const rates = rateStore ?? started.use(createMemoryRateStore());
  const served = new ServedTools(set, { service, withLayers: servingLayers({ concurrency, claims, rates, results: new ResultCache() }) });
  if (hasEffects && !seesAll) {
    log.warn(
      { service },
      "claims are kept in this process only: a call with effects that comes again ends in outcome_unknown unless this process knows it, and the same id asked of another process is another call. Share a claim store (REDIS_URL)",
    );
  }
  const meter = metrics.getMeter("@rockbot/tools");
  const unreadable = meter.createCounter("rockbot.tool.requests.unreadable", {
    description: "Requests that are no ToolInvokeRequest, by what became of them.",
  });
  const unrouted = meter.createCounter("rockbot.tool.results.unrouted", { description: "Answers whose caller has no queue any more." });
  const invocations = meter.createCounter(servingNames.count, { description: "Calls that ended, by status." });
  const labels = provider === undefined ? {} : { [Header.ContentTrust]: "tool-output", [Header.ToolProvider]: provider };
  const handlers = concurrency + waiting; // a refusal holds one until the broker has confirmed it: no call that may run waits for that
  const answers = new AnswerPublisher(bus, { maxHeldPerCaller: Math.ceil(handlers * HELD_PART), onUnrouted: () => unrouted.add(1) });
  const running = new RunningCalls();
  const identity = createIdentity(bus, policy);
  const messageMeter = new MessageMeter({ policy, log });
  const subscribe = (places: number, { isFurther = false } = {}) =>
    bus.subscribe({ name: service, topics: [topic], concurrency: places, prefetch: places, isFurther, drainMs, onDeadLetter: answerDeadLetter }, handle);
  const intake = new Intake({ handlers, concurrency, takeMore: () => subscribe(LINE, { isFurther: true }), log });
  const audited = createCallAudit({ audit, isRequired: isAuditRequired, service });

  function entryOf(message: Envelope, sender: Sender | Stranger, read: RequestedCall | ToolError, receivedAt: number): CallEntry {
    return audited(message, callerOf(message, sender), read instanceof ToolError ? undefined : (read.request.arguments ?? ""), receivedAt);
  }

  async function handle(message: Envelope, delivery: Delivery): Promise<void> {
    const form = formOf(message, forms);
    const sender = identity.senderOf(message);
    const caller = callerOf(message, sender);
    const address = addressOf(message, sender, form);
    if (address === undefined) return giveUpUnanswerable(message, caller, () => readSent(message, sender, form));
    const retryAfterMs = delivery.isRedelivered ? undefined : tooManyFor(caller, message.body.byteLength);
    if (retryAfterMs !== undefined && !messageMeter.takeExtra("refusal", caller)) return drop("invoke", caller);
    using _held = intake.hold(caller, message.body.byteLength);
    const entering = retryAfterMs === undefined ? intake.turn(caller) : undefined; // few are refused in words, and at once
    using _turn = entering instanceof Promise ? await entering : entering;
    if (delivery.signal.aborted) throw delivery.signal.reason; // the service stops: somebody else has it next
    const read = retryAfterMs === undefined ? readSent(message, sender, form) : tooMany(caller, retryAfterMs);
    const entry = entryOf(message, sender, read, delivery.receivedAt);
    const refuse = (refusal: ToolError) => answer(address, guessCall(message), refusal, delivery.receivedAt, { form, entry });
    if (read instanceof ToolError) {
      if (retryAfterMs === undefined) unreadable.add(1, { outcome: "answered" });
      return refuse(read);
    }
    if ("refusal" in sender) return refuse(sender.refusal);
    const { request } = read;
    const deadline = delivery.receivedAt + budgetMs(message, read.budgetMs);
    const found = find(request, message, sender.caller);
    if (found instanceof ToolError) {
      invocations.add(1, { tool_name: UNKNOWN_TOOL, status: found.code });
      // What cannot be had here now may have been run by whoever got the call before.
      const mayHaveRun = maybeTakenSince(delivery) !== undefined && found.code === ToolErrorCode.Unavailable;
      return answer(address, request, mayHaveRun ? unknownOutcome(request) : found, deadline, { form, entry });
    }
    // Policy, limits and records know the tool by the name it is announced with, however the request names it.
    const { name, dangerous: isDangerous } = found.definition;
    const named = name === request.toolName ? request : { ...request, toolName: name };
    const decision = policy.current().decide({ caller: sender.caller, tool: name, isDangerous });
    const progress = progressReporter(bus, service, named, Header.Progress in message.headers ? address.topic : undefined);
    const reply = entry.refusal() ?? (await run(found.executor, named, { sender, message, delivery, deadline, decision, progress }));
    if (reply === undefined) return entry.end(named, "superseded", decision);
    const asAsked = named === request || reply instanceof ToolError ? reply : { ...reply, toolName: request.toolName };
    await answer(address, request, asAsked, deadline, { form, entry, decision, toolName: name, progress: progress.sent });
  }

  /** @returns when there is room for more, if a request is too many of its caller's */
  const tooManyFor = (caller: string, bytes: number): number | undefined =>
    intake.hasRoom(caller, bytes, policy.current().inFlightOf(caller)) ? messageMeter.take("invoke", caller, bytes) : FULL_RETRY_MS;

  function drop(kind: "invoke" | "unanswerable", caller: string): void {
    messageMeter.drop(kind, caller);
    intake.drop(caller);
  }

  const readSent = (message: Envelope, sender: Sender | Stranger, form: RequestForm): RequestedCall | ToolError =>
    "refusal" in sender ? sender.refusal : readRequest(message, form);

  /** Keeps a request that nobody can be told about for an operator. One that is too large is not worth that, nor are many of one caller. */
  function giveUpUnanswerable(message: Envelope, caller: string, readNow: () => RequestedCall | ToolError): void {
    if (message.body.byteLength > MAX_REQUEST_BYTES || !messageMeter.takeExtra("unanswerable", caller)) {
      drop("unanswerable", caller);
      return;
    }
    unreadable.add(1, { outcome: "dead_lettered" });
    const read = readNow();
    if (read instanceof ToolError) throw new DeadLetterError(read.message);
    throw new DeadLetterError(`Cannot answer on ${JSON.stringify(message.replyTo?.slice(0, 80))}: it is no topic for results of its sender`);
  }

  /** @returns undefined if somebody else answers @throws only when the service is stopping: then the bus gives the call to somebody else */
  async function run(
    executor: ToolExecutor,
    request: ToolInvokeRequest,
    { sender: { caller }, message, delivery, deadline, decision, progress }: Received,
  ): Promise<Reply | undefined> {
    const call = running.start(caller, request.toolCallId, delivery.signal);
    const { isRedelivered } = delivery;
    const taken = { isRedelivered, maybeTakenSince: maybeTakenSince(delivery) };
    try {
      const { signal } = call;
      return await executor.execute(request, { signal, deadline, caller, decision, depth: depthOf(message), progress: progress.report, log, ...taken });
    } catch (error) {
      if (delivery.signal.aborted) throw error;
      if (error instanceof SupersededError) return undefined;
      const toolError = toToolError(error, request.toolName);
      if (toolError !== error) log.error({ toolName: request.toolName, toolCallId: request.toolCallId, error }, "tool failed unexpectedly");
      return toolError;
    } finally {
      progress.end();
      call.end();
    }
  }

  function find({ toolName }: ToolInvokeRequest, { headers }: Envelope, caller: string): ServedTool | ToolError {
    try {
      return served.find(toolName, headers) ?? unknownTool(toolName, caller);
    } catch (error) {
      return toToolError(error, toolName);
    }
  }

  function unknownTool(name: string, caller: string): ToolError {
    const { decide } = policy.current();
    const nearest = nearestName(
      name,
      served.names.filter((tool) => decide({ caller, tool }).isAllowed),
    );
    return new ToolError(
      ToolErrorCode.ToolNotFound,
      `"${service}" has no tool "${name.slice(0, 80)}"${nearest === undefined ? "" : `; did you mean "${nearest}"?`}`,
    );
  }

  /** The line of the audit log comes first: no answer is known that it does not know. */
  async function answer(
    address: Address,
    request: Ids,
    reply: Reply,
    deadline: number,
    { form = toolRequestForm, entry, decision, toolName = request.toolName, progress = 0 }: AnswerNotes = {},
  ): Promise<void> {
    let sent = reply;
    let encoded: EncodedReply;
    try {
      encoded = form.write(request, reply);
      if (encoded.body.byteLength > MAX_RESULT_BYTES) {
        const found = `a result of ${encoded.body.byteLength} bytes, more than the ${MAX_RESULT_BYTES} that are carried`;
        throw new ToolError(ToolErrorCode.TooLarge, `"${request.toolName}" gave ${found}. Ask for less.`);
      }
    } catch (error) {
      sent = toToolError(error, request.toolName);
      encoded = form.write(request, sent);
    }
    const noted = entry?.end({ toolCallId: request.toolCallId, toolName }, sent, decision);
    if (noted !== undefined) await noted;
    const headers: Record<string, string> = { ...labels };
    if (decision !== undefined) headers[Header.Policy] = decision.revision;
    if (progress > 0) headers[Header.Progress] = String(progress);
    const { topic, correlationId, caller } = address;
    const { type, body } = encoded;
    await answers.publish(createEnvelope({ topic, type, source: service, correlationId, headers, body }), caller, deadline);
  }

  async function answerDeadLetter(message: Envelope, death: Death): Promise<void> {
    const form = formOf(message, forms);
    const sender = identity.senderOf(message);
    const address = addressOf(message, sender, form);
    const read = readRequest(message, form);
    const ids = read instanceof ToolError ? guessCall(message) : read.request;
    await entryOf(message, sender, read, performance.now()).end(ids, "dead_lettered");
    if (address === undefined || death.reason === "rejected") return; // rejected: there was nobody to answer
    const error = new ToolError(
      ToolErrorCode.ExecutionFailed,
      `"${service}" gave up on the request after its handler ${death.reason} repeatedly. Do not repeat it unchanged.`,
      {
        details: { reason: death.reason, mayHaveRun: true },
      },
    );
    await answer(address, ids, error, performance.now(), { form });
  }

  started.use(
    await bus.subscribe({ name: `cancel.${service}`, topics: [`tool.cancel.${service}`], kind: "copy", ...METERED }, async (message) => {
      const sender = identity.senderOf(message);
      if (!messageMeter.admits("cancel", callerOf(message, sender), message.body.byteLength) || "refusal" in sender) return;
      const cancel = decodeMessage("ToolCancel", message.body);
      if (!cancel.ok) return;
      const key = { caller: sender.caller, toolCallId: cancel.value.toolCallId };
      running.cancel(key.caller, key.toolCallId, cancel.value.reason ?? "the caller gave it up");
      if (hasEffects)
        await claims
          .cancel(key)
          .catch((error: unknown) => log.warn({ toolCallId: key.toolCallId, error: String(error) }, "a cancelled call could not be noted as such"));
    }),
  );
  const requests = await subscribe(handlers);
  started.defer(async () => void (await Promise.all([intake, requests].map((each) => each[Symbol.asyncDispose]()))));
  const list = (): AnnouncedList => ({ tools: served.announced({ service, topic }), guides: set.guides });
  const announcer = started.use(await announceTools(bus, { service, list: list(), identity, log }));
  started.defer(served.onChange(() => announcer.update(list())));
  announcer.update(list()); // what changed while the first announcement was on its way
  return started.move();
}

/** See ToolContext. */
const maybeTakenSince = ({ isRedelivered, maybeHandledSince }: Delivery): number | undefined =>
  maybeHandledSince ?? (isRedelivered ? Number.NEGATIVE_INFINITY : undefined);

function tooMany(caller: string, retryAfterMs: number): ToolError {
  return new ToolError(
    ToolErrorCode.RateLimited,
    `The request was not read: "${caller}" sends more than is taken of it. Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
    {
      retryAfterMs,
      details: { reason: "messages" },
    },
  );
}
