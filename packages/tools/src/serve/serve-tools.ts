import type { KeyObject } from "node:crypto";
import { metrics } from "@opentelemetry/api";
import { standingProblems } from "@rockbot/base";
import { version } from "@rockbot/base/version";
import {
  type Bus,
  DEFAULT_CONCURRENCY,
  DEFAULT_DRAIN_MS,
  type Logger,
  messagingSpan,
  silentLogger,
} from "@rockbot/bus";
import { checkName } from "@rockbot/contracts";
import { createPolicy, defaultPolicySource, holdPolicy, type PolicyHolder } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import type { BlobStore } from "@rockbot/records/blobs";
import { type ClaimStore, createMemoryClaimStore } from "@rockbot/records/claims";
import type { FileStore } from "@rockbot/records/files";
import { createMemoryRateStore, type RateStore } from "@rockbot/records/rates";
import { createMemoryRunStore, type RunStore } from "@rockbot/runs";
import { auditCommands } from "../commands/audit-commands.ts";
import { type CommandHandler, createCommandTaker } from "../commands/take-commands.ts";
import { checkToolSet } from "../define/check-tool-set.ts";
import { isProvider } from "../define/tool-provider.ts";
import type { ToolSet } from "../define/tool-set.ts";
import {
  type AnnouncedList,
  type AnnounceOptions,
  announceTools,
  RESERVED_SERVICE,
} from "../discover/announce-tools.ts";
import { CallTally } from "../layers/call-tally.ts";
import { CallClaims } from "../layers/claim.ts";
import { servingLayers } from "../layers/layers.ts";
import type { PolicyTurns } from "../layers/queue.ts";
import { ResultCache } from "../layers/result-cache.ts";
import { createIdentity } from "../messages/identity.ts";
import { MessageMeter } from "../messages/message-meter.ts";
import type { RequestForm } from "../messages/request-form.ts";
import { runCommands } from "../runs/run-commands.ts";
import { RunKeeper } from "../runs/run-keeper.ts";
import { AnswerPublisher } from "./answer-publisher.ts";
import { AnswerWriter } from "./answer-writer.ts";
import { createCallAudit } from "./call-audit.ts";
import { FastLane } from "./fast-lane.ts";
import { Intake } from "./intake.ts";
import { RequestHandler, type RequestHandlerOptions } from "./request-handler.ts";
import { RequestLimit } from "./request-limit.ts";
import { RunHandler } from "./run-handler.ts";
import { RunningCalls } from "./running-calls.ts";
import { ServedCalls } from "./served-calls.ts";
import { mayHaveEffects, ServedTools } from "./served-tools.ts";
import { cancelByCommand, takeCancels } from "./take-cancels.ts";
import { WaitingRequests } from "./waiting-requests.ts";

/** The name of a service, its bounds, and what it uses of the process around it. */
// Many because: services know them by these names, and all but one have a default.
export interface ServeToolsOptions {
  /** The service's name: its subscription, and its word in `tool.announce.{service}`. */
  readonly service: string;
  /**
   * Where its requests come: `tool.invoke` for web-tools, `tool.invoke.{service}` for others.
   * @default `tool.invoke.{service}`
   */
  readonly topic?: string | undefined;
  /** How many calls run at once. @default 32 */
  readonly concurrency?: number | undefined;
  /**
   * How many further calls the service takes: to refuse them, to answer them from kept results, or to let them wait for
   * their turn. Callers have their turns in rotation. Calls beyond that wait in the queue of the bus, which knows no
   * callers. @default as many as run
   */
  readonly waiting?: number | undefined;
  /**
   * Tools whose calls have a queue and handlers of their own. Then no number of other calls keeps them waiting: not
   * even such as wait for them.
   * @default none
   */
  readonly aside?: AsideTools | undefined;
  /** Requests that are taken besides ToolInvokeRequests. @default none */
  readonly forms?: readonly RequestForm[] | undefined;
  /** How long disposal waits for running calls, in milliseconds. @default 20_000 */
  readonly drainMs?: number | undefined;
  /**
   * Keeps calls of tools with effects from running twice. It is a store that all instances of the service share, or a
   * function that opens one. The function is called only where there are such tools. Without one, a redelivered call
   * ends in `outcome_unknown` unless this process has had it.
   * @default claims of this process alone
   */
  readonly claims?: ClaimStore | OpenClaims | undefined;
  /**
   * Keeps calls that wait for people, or run without their callers: a store that all instances of the service share, or
   * a function that opens one.
   * @default they are kept in this process, and end with it
   */
  readonly runs?: RunStore | (() => Promise<RunStore | undefined>) | undefined;
  /**
   * The policy: which callers may use which tools, how often, and which delegates exist.
   * @default every caller may use every tool except the dangerous ones
   */
  readonly policy?: PolicyHolder | undefined;
  /**
   * The rates that callers have used up. Shared by all instances of the service: else a limit holds for each.
   * @default counts of this process alone
   */
  readonly rates?: RateStore | undefined;
  /** Gives calls their turns: of a service that gives turns to other requests, too. @default turns of calls alone */
  readonly turns?: PolicyTurns | undefined;
  /**
   * Where results are left that are too large for the bus, for callers that ask for that. It is the store that callers
   * have, too.
   * @default results of more than 8 MiB are refused
   */
  readonly blobs?: BlobStore | undefined;
  /** Files of callers, which calls name or leave. It is the store that callers have, too. @default there are none */
  readonly files?: FileStore | undefined;
  /**
   * How much is kept of results that may be given again, by two bytes a character. One result may have a quarter of it.
   * @default 64 MiB
   */
  readonly maxKeptBytes?: number | undefined;
  /**
   * Provider of foreign tools, such as `mcp`. Answers name it and are marked as tool output.
   * @default nobody else's
   */
  readonly provider?: string | undefined;
  /** Gets a line for each call that ends here, answered or not. @default nobody */
  readonly audit?: AuditLog | undefined;
  /** The key by which commands of operators are known: see CommandCheck. @default no command is obeyed */
  readonly operatorKey?: KeyObject | undefined;
  /** Further commands of operators, besides `cancel` and those that read the audit log. @default none */
  readonly commands?: Readonly<Record<string, CommandHandler>> | undefined;
  /** True to refuse calls while the audit log cannot be written. @default false */
  readonly isAuditRequired?: boolean | undefined;
  readonly log?: Logger | undefined;
}

/** The tools of a service whose calls come apart from the others. */
export interface AsideTools {
  /** The subscription that instances share. */
  readonly subscription: string;
  readonly topic: string;
  /** Their names. */
  readonly tools: readonly string[];
}

/** The parts of the process that the start of a service hands on to `serveTools`. */
// Many because: each is a part of the process, and all have a default.
export interface StartServiceOptions
  extends Pick<
    ServeToolsOptions,
    | "service"
    | "topic"
    | "audit"
    | "blobs"
    | "claims"
    | "files"
    | "log"
    | "maxKeptBytes"
    | "operatorKey"
    | "policy"
    | "rates"
    | "runs"
  > {
  /** Aborting gives up the start; running calls are ended by disposal. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens the claims that all instances share, if the settings say where they are. The code that opens them closes them,
 * after the service.
 */
export type OpenClaims = () => Promise<ClaimStore | undefined>;

/** The part of a service's handlers that may hold answers of one caller. */
const HELD_PART = 1 / 4;
/**
 * How many requests are taken besides those that have a handler, while one caller has most of these: some callers'
 * worth.
 */
const LINE = 2_048;

/**
 * Serves tools from the bus: a fixed set, or those of a ToolProvider. The service announces a provider's tools again
 * whenever they change. It answers each request exactly once, with a response or a ToolError. It counts a request that
 * it cannot read and that names no caller, and dead-letters it. Resolves once the service takes calls and has announced
 * its tools.
 *
 * Disposal announces the end, takes no new calls, and waits for the running ones. It aborts calls that outlast the
 * drain time, unanswered, and they go back to the bus.
 * @throws {RangeError} if the service's name is not one that we may create
 * @throws {TypeError} that names every fault of a fixed set: two tools of one name, a guide that is too long
 */
export async function serveTools(bus: Bus, set: ToolSet, options: ServeToolsOptions): Promise<AsyncDisposable> {
  const {
    service,
    concurrency = DEFAULT_CONCURRENCY,
    policy = holdPolicy(createPolicy(defaultPolicySource())),
    log = silentLogger,
  } = options;
  const { topic = `tool.invoke.${service}`, waiting = concurrency, drainMs = DEFAULT_DRAIN_MS, forms = [] } = options;
  const { operatorKey, audit, files } = options;
  if (checkName("a service's name", service) === RESERVED_SERVICE)
    throw new RangeError(`Cannot serve as "${service}": the name is reserved`);
  await using started = new AsyncDisposableStack();
  const hasEffects = mayHaveEffects(set);
  const claims = await claimsFor(bus, started, { service, shared: options.claims, hasEffects, log });
  const rates = options.rates ?? started.use(createMemoryRateStore());
  const placeOf = (tool: string) =>
    options.aside?.tools.includes(tool) ? options.aside : { subscription: service, topic };
  const isAside = (tool: string): boolean => placeOf(tool) === options.aside;
  const tally = new CallTally();
  const served = new ServedTools(set, {
    withLayers: servingLayers({
      concurrency,
      waiting,
      isAside,
      claims,
      keeper: () => keeper,
      rates,
      files,
      results: new ResultCache({ maxBytes: options.maxKeptBytes }),
      turns: options.turns,
      tally,
      hop: messagingSpan(bus, "process", topic),
    }),
  });
  const lane = started.use(new FastLane({ bus, service, policy, isAside, log }));
  const list = (): AnnouncedList => ({ tools: served.announced(placeOf, lane), guides: set.guides ?? [] });
  if (!isProvider(set)) checkToolSet(service, list());
  const running = new RunningCalls();
  const identity = createIdentity(bus, policy);
  const handlers = concurrency + waiting; // a refusal holds one until the broker has confirmed it: no call that may run waits for that
  const answers = answerWriter(bus, handlers, options);
  const callsOf = (of: SomeTools) => new ServedCalls({ bus, service, served: of, policy, running, answers, log });
  const parts = {
    bus,
    service,
    forms,
    identity,
    policy,
    waiting: started.use(new WaitingRequests(service)),
    tally,
    answers,
    lane,
    audited: createCallAudit({ audit, isRequired: options.isAuditRequired ?? false, service }),
    log,
  };
  const queue = { handlers, concurrency, drainMs, meter: new MessageMeter({ policy, log }) };
  if (operatorKey === undefined) warnUndecidable(policy, service, log);
  const store = await runsFor(started, options.runs);
  const commands = { ...options.commands, ...auditCommands(audit) };
  const brought = new RunHandler({ ...parts, calls: callsOf(served) });
  const keeper = started.use(
    new RunKeeper({ ...brought.forKeeper, service, store, claims, operatorKey, concurrency, drainMs, log }),
  );
  const cancelling = { running, claims: hasEffects ? claims : undefined, keeper, log };
  const obeyed = { ...commands, ...runCommands(keeper), cancel: cancelByCommand(cancelling) };
  const takeCommand = createCommandTaker(bus, { service, key: operatorKey, handlers: obeyed, identity, audit, log });
  started.use(await takeCancels(bus, { service, identity, meter: queue.meter, takeCommand, ...cancelling }));
  const take = (of: SomeTools, place: Pick<AsideTools, "subscription" | "topic">) =>
    takeRequests({ ...parts, served: of, calls: callsOf(of) }, { ...queue, ...place });
  const main = await take(served, { subscription: service, topic });
  const queues: AsyncDisposable[] = [keeper, main, lane];
  started.defer(async () => void (await Promise.all(queues.map((each) => each[Symbol.asyncDispose]()))));
  if (options.aside !== undefined) queues.push(await take(served.only(options.aside.tools), options.aside));
  const openLane = () => lane.openFor(served.definitions, main.takeFast);
  const isWhole = (): boolean => !isProvider(set) || set.isWhole !== false;
  const status = () => ({ version, calls: tally.counts(parts.waiting.oldestMs), problems: standingProblems() });
  const announced = { service, list, isWhole, status, identity, policy, log };
  await announceServed(bus, started, { ...announced, openLane, onChange: (changed) => served.onChange(changed) });
  return started.move();
}

interface AnnouncedSet extends Omit<AnnounceOptions, "list" | "policy"> {
  readonly policy: PolicyHolder;
  readonly list: () => AnnouncedList;
  /** @returns whether the fast lane is open now, and was not before */
  readonly openLane: () => Promise<boolean>;
  readonly onChange: (changed: () => void) => () => void;
}

/** Announces what is served, and again whenever that changes, until `started` is disposed of. */
async function announceServed(
  bus: Bus,
  started: AsyncDisposableStack,
  { list, openLane, onChange, ...options }: AnnouncedSet,
): Promise<void> {
  await openLane();
  const announcer = started.use(await announceTools(bus, { ...options, list: list() }));
  const changed = () => {
    announcer.update(list());
    void openLane().then((isNew) => isNew && announcer.update(list()));
  };
  started.defer(onChange(changed));
  started.defer(options.policy.onChange(changed));
  announcer.update(list()); // what changed while the first announcement was on its way
}

function warnUndecidable(policy: PolicyHolder, service: string, log: Logger): void {
  if (policy.current().document.approve.length === 0) return;
  log.warn(
    { service },
    "no decision of operators counts here, so calls that the policy has people approve are denied. Set OPERATOR_PUBLIC_KEY",
  );
}

type SomeTools = Pick<ServedTools, "names" | "find">;

interface RequestQueue extends Pick<AsideTools, "subscription" | "topic"> {
  readonly handlers: number;
  readonly concurrency: number;
  readonly drainMs: number;
  readonly meter: MessageMeter;
}

/** Takes the requests of one queue, until disposed of. */
async function takeRequests(
  parts: Omit<RequestHandlerOptions, "intake" | "limit"> & {
    readonly bus: Bus;
    readonly policy: PolicyHolder;
    readonly log: Logger;
  },
  { subscription, topic, handlers, concurrency, drainMs, meter }: RequestQueue,
): Promise<AsyncDisposable & { readonly takeFast: () => Promise<AsyncDisposable> }> {
  const { bus, policy, log } = parts;
  const subscribe = (places: number, { isFurther = false } = {}) =>
    bus.subscribe(
      {
        name: subscription,
        topics: [topic],
        concurrency: places,
        prefetch: places,
        isFurther,
        drainMs,
        onDeadLetter: (message, death) => handler.answerDeadLetter(message, death),
        isToBlame: (message) => handler.isToBlame(message),
      },
      (message, delivery) => handler.handle(message, delivery),
    );
  const intake = new Intake({ handlers, concurrency, takeMore: () => subscribe(LINE, { isFurther: true }), log });
  const handler = new RequestHandler({ ...parts, intake, limit: new RequestLimit({ intake, meter, policy }) });
  const requests = await subscribe(handlers);
  return {
    takeFast: () =>
      bus.subscribe(
        { name: subscription, topics: [topic], lane: "fast", concurrency: handlers, prefetch: handlers, drainMs },
        (message, delivery) => handler.handle(message, delivery, "fast"),
      ),
    async [Symbol.asyncDispose]() {
      await Promise.all([intake, requests].map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

/** The runs that all instances share, or those of this process, which `started` closes. */
async function runsFor(started: AsyncDisposableStack, given: ServeToolsOptions["runs"]): Promise<RunStore> {
  const store = typeof given === "function" ? await given() : given;
  return store ?? started.use(createMemoryRunStore());
}

interface ClaimsOptions {
  readonly service: string;
  readonly shared: ServeToolsOptions["claims"];
  readonly hasEffects: boolean;
  readonly log: Logger;
}

/** The claims that all instances share, or those of this process, which `started` closes. */
async function claimsFor(
  bus: Bus,
  started: AsyncDisposableStack,
  { service, shared, hasEffects, log }: ClaimsOptions,
): Promise<CallClaims> {
  const store = typeof shared !== "function" ? shared : hasEffects ? await shared() : undefined;
  const seesAll = store !== undefined || !bus.traits.isDurable;
  if (hasEffects && !seesAll) {
    log.warn(
      { service },
      "only this process knows its claims. A redelivered call with effects that it does not know ends in outcome_unknown. Set REDIS_URL to share claims",
    );
  }
  return new CallClaims(store ?? started.use(createMemoryClaimStore()), { seesAll });
}

function answerWriter(
  bus: Bus,
  handlers: number,
  { service, provider, blobs, log = silentLogger }: ServeToolsOptions,
): AnswerWriter {
  const unrouted = metrics
    .getMeter("@rockbot/tools")
    .createCounter("rockbot.tool.results.unrouted", { description: "Answers whose caller has no queue any more." });
  const answers = new AnswerPublisher(bus, {
    maxHeldPerCaller: Math.ceil(handlers * HELD_PART),
    onUnrouted: () => unrouted.add(1),
  });
  return new AnswerWriter({ answers, service, provider, blobs, log });
}
