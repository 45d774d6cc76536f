import { AsyncLocalStorage } from "node:async_hooks";
import { type AbortSource, onAbort } from "@rockbot/base";
import type { Bus, Delivery, Handler } from "@rockbot/bus";
import {
  type Envelope,
  Header,
  messages,
  ToolError,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
} from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import { type ClaimOutcome, type ClaimStore, createMemoryClaimStore } from "@rockbot/records/claims";
import { createToolCaller, serveTools, type ToolCaller, type ToolContext } from "@rockbot/tools";
import type { Step, World } from "./explore.ts";
import { Gate } from "./gate.ts";
import { gatedStore } from "./gated-store.ts";

/** How often each may happen, at any moment at which it can. */
export interface Faults {
  /** A service ends, and the broker takes back what it had not acknowledged. */
  readonly crashes: number;
  /** The request is published once more. */
  readonly copies: number;
  /** The caller's next process sends the request again, and says so. The bus knows nothing of it. */
  readonly repeats: number;
  /** The store of claims does not answer a service once. */
  readonly outages: number;
  /**
   * A service's connection is lost while it goes on: the broker delivers again what it had, and knows its acks no more.
   */
  readonly disconnects: number;
  /** The caller cancels. */
  readonly cancels: number;
  /** Time passes, and no lease was renewed. */
  readonly lapses: number;
  /** The deadline passes. */
  readonly deadlines: number;
  /** The store of claims loses all it knew. The bus says of copies then that they are some. */
  readonly forgets: number;
}

export interface CallWorldOptions {
  readonly isIdempotent: boolean;
  /** An execution takes up what another has begun. @default false */
  readonly isResumable?: boolean | undefined;
  readonly faults: Partial<Faults>;
  /** Moves the clock that the services and the caller see, and calls the timers that are due. */
  readonly advance: (ms: number) => void;
}

const SERVICE = "model";
const TOOL = "act";
const DEADLINE_MS = 60_000;
/** By how much a deadline may come late (`Deadlines` in packages/base). */
const LATENESS_MS = 20;
/** How much older than its time to live the bus believes a message to be that it hands out again. */
const TRANSIT_MS = 30_000;
/** Since when the store of claims has been there. */
const STORE_AGE_MS = 3_600_000;
/** Longer than the lease of a claim. */
const LAPSE_MS = 10_001;
const KEY = { caller: "agent", toolCallId: "the-call" };

/** Who has not got on after so many leases never will: no more can die than there are. */
const MAX_IDLE_LAPSES = 3;

/** One service of two: what it has seen says what it does next. */
interface Process {
  readonly index: number;
  readonly gate: Gate;
  /** All it has learned so far, in its order. */
  readonly history: string[];
  readonly handlers: Map<string, Handler>;
  /** Cancels on their way to it. */
  readonly cancels: Envelope[];
  isAlive: boolean;
}

interface Message {
  readonly envelope: Envelope;
  /** Which publish it is of. */
  readonly copy: number;
  deliveries: number;
  /** Undefined while it is ready. */
  holder: Process | undefined;
}

/** A watcher of somebody else's run that sleeps. */
interface Sleeper {
  readonly process: Process;
  /** What the store held when it fell asleep: while that stays so there is nothing new to see. */
  readonly version: number;
  readonly wake: () => void;
}

const running = new AsyncLocalStorage<{
  readonly world: CallWorld;
  readonly process: Process;
  readonly isOurs?: () => boolean;
}>();

/** Takes the place of `pause`: who watches a call wakes when there is something to see, and loops never come round. */
export function pauseInWorld(_ms: number, source: AbortSource): Promise<void> {
  return new Promise((resolve) => {
    onAbort(source, resolve);
    const place = running.getStore();
    place?.world.sleep(place.process, resolve);
  });
}

/**
 * One call between two services that share a claim store, and their caller: production code over a broker whose
 * deliveries the test orders.
 */
export class CallWorld implements World {
  readonly #options: CallWorldOptions;
  readonly #left: Record<keyof Faults, number>;
  #store: ClaimStore;
  /** Behind that of the world until the store is there. */
  #storeClockMs = -STORE_AGE_MS;
  #forgottenAt: number | undefined;
  readonly #processes: Process[] = [];
  readonly #sleepers = new Set<Sleeper>();
  readonly #queue: Message[] = [];
  readonly #ending = new AsyncDisposableStack();
  readonly #cancel = new AbortController();
  #hearAnnouncement: Handler = async () => {};
  #hearAnswer: Handler = async () => {};
  #request: Envelope | undefined;
  #version = 0;
  #elapsedMs = 0;
  #copies = 0;
  /** Who has the claim, as the store has said. */
  #owner: number | undefined;
  #started = 0;
  /** Who has begun what a resumable tool does. */
  #begunBy: Process | undefined;
  #effects = 0;
  /** How often it had started when a service was done with its cancel. */
  #startedWhenCancelled: number | undefined;
  #hasLapsed = false;
  #idleLapses = 0;
  /** What services have answered while the caller waited. */
  readonly #answers = new Set<string>();
  #settled: ToolInvokeResponse | ToolError | undefined;
  #complaints: string[] = [];

  private constructor(options: CallWorldOptions) {
    this.#options = options;
    this.#left = {
      crashes: 0,
      copies: 0,
      repeats: 0,
      outages: 0,
      disconnects: 0,
      cancels: 0,
      lapses: 0,
      deadlines: 0,
      forgets: 0,
      ...options.faults,
    };
    this.#store = this.#newStore();
    this.#storeClockMs = 0;
  }

  /** Resolves once the request lies at the broker. */
  static async begin(options: CallWorldOptions): Promise<CallWorld> {
    const world = new CallWorld(options);
    const caller = world.#ending.use(await createToolCaller(world.#busOfCaller(), { agent: KEY.caller }));
    for (const index of [0, 1]) {
      const process: Process = {
        index,
        gate: new Gate(),
        history: [],
        handlers: new Map(),
        cancels: [],
        isAlive: true,
      };
      world.#processes.push(process);
      world.#ending.use(await world.#serve(process));
    }
    await standStill(); // by then the caller has asked for the list, and has it
    world.#call(caller);
    await standStill();
    if (world.#request === undefined) throw new Error("The caller did not publish its request");
    return world;
  }

  steps(): readonly Step[] {
    const { crashes, copies, repeats, outages, disconnects, cancels, lapses, deadlines, forgets } = this.#left;
    const alive = this.#processes.filter(({ isAlive }) => isAlive);
    const next = this.#queue.find(({ holder }) => holder === undefined);
    const held = new Set(this.#queue.map(({ holder }) => holder));
    const isOpen = this.#settled === undefined;
    const steps = [
      ...alive.flatMap((process) => [
        ...(next === undefined ? [] : [this.#step(`deliver to ${process.index}`, () => this.#deliver(next, process))]),
        ...process.gate.held.map(({ name, open }) => this.#step(`${process.index}: ${name}`, open)),
        ...process.cancels
          .slice(0, 1)
          .map((cancel) => this.#step(`cancel comes to ${process.index}`, () => this.#deliverCancel(cancel, process))),
      ]),
      ...[...this.#sleepers]
        .filter(({ process, version }) => process.isAlive && version !== this.#version)
        .map((sleeper) => this.#step(`${sleeper.process.index} wakes`, () => this.#wake(sleeper))),
    ];
    // Whoever watches a call of a process that is gone goes on when its lease is over, at last.
    if (steps.length === 0 && this.#hasSleepers && this.#idleLapses < MAX_IDLE_LAPSES)
      steps.push(this.#step("time passes", () => this.#waitForLapse()));
    const fault = (name: string, kind: keyof Faults, take: () => void) => this.#step(name, take, kind);
    return [
      ...steps,
      ...(crashes > 0 && alive.length > 1
        ? alive.map((process) => fault(`${process.index} crashes`, "crashes", () => this.#crash(process)))
        : []),
      ...(copies > 0 ? [fault("request comes twice", "copies", () => this.#publishRequest())] : []),
      ...(repeats > 0 ? [fault("request is repeated", "repeats", () => this.#repeatRequest())] : []),
      ...(outages > 0
        ? alive.flatMap((process) =>
            process.gate.held
              .filter(({ name }) => name === "claim")
              .map(({ fail }) =>
                fault(`${process.index}: the store is away`, "outages", () => fail(new StoreUnavailableError("away"))),
              ),
          )
        : []),
      ...(disconnects > 0
        ? alive
            .filter((process) => held.has(process))
            .map((process) => fault(`${process.index} is cut off`, "disconnects", () => this.#takeBack(process)))
        : []),
      ...(cancels > 0 && isOpen ? [fault("caller cancels", "cancels", () => this.#cancel.abort())] : []),
      ...(lapses > 0 && this.#owner !== undefined ? [fault("lease lapses", "lapses", () => this.#lapse())] : []),
      ...(deadlines > 0 && isOpen ? [fault("deadline passes", "deadlines", () => this.#passDeadline())] : []),
      ...(forgets > 0 ? [fault("store forgets", "forgets", () => this.#forget())] : []),
    ];
  }

  /** Two services count as the same in either order. */
  fingerprint(): string {
    const texts = [
      [0, 1],
      [1, 0],
    ].map((order) => this.#describe(order));
    return texts.toSorted()[0] ?? "";
  }

  brokenRules(): readonly string[] {
    const { isIdempotent, isResumable = false, faults } = this.#options;
    const outcome = this.#settled;
    const hasForgotten = this.#forgottenAt !== undefined;
    // A refusal says nothing of the next delivery of the call.
    const answers = [...this.#answers].filter(
      (answer) => !(hasForgotten && answer.includes("outcome_unknown")) && !answer.includes('"unavailable"'),
    );
    const code = outcome instanceof ToolError ? outcome.code : undefined;
    const when = (isBroken: boolean, rule: string) => (isBroken ? [rule] : []);
    const allowed = new Set([
      ...(this.#left.cancels < (faults.cancels ?? 0) ? ["cancelled"] : []),
      ...(this.#left.deadlines < (faults.deadlines ?? 0) ? ["timeout"] : []),
      ...(this.#left.outages < (faults.outages ?? 0) ? ["unavailable"] : []),
      ...((this.#hasLapsed || hasForgotten) && !isIdempotent && !isResumable ? ["outcome_unknown"] : []),
    ]);
    return [
      ...this.#complaints,
      ...when(answers.length > 1, `services answer differently: ${answers.join(", ")}`),
      ...when(!isIdempotent && this.#effects > 1, `a tool with effects had ${this.#effects}`),
      ...when(
        !hasForgotten && this.#started > (this.#startedWhenCancelled ?? Number.POSITIVE_INFINITY),
        "a call has started after it was cancelled",
      ),
      ...when(
        outcome !== undefined && code === undefined && this.#effects === 0,
        "the caller has an answer of a call that did not run",
      ),
      ...when(
        outcome instanceof ToolError && outcome.details?.["mayHaveRun"] === false && this.#started > 0,
        "a call that is said not to have run has",
      ),
      ...when(
        code !== undefined && !allowed.has(code),
        `the call ended in ${code}, and nothing happened that explains it`,
      ),
      ...(this.steps().every(({ isFault }) => isFault) ? this.#unfinished() : []),
    ];
  }

  async end(): Promise<void> {
    const over = new Error("this world has ended");
    for (const { gate } of this.#processes) gate.close(over);
    for (const { wake } of this.#sleepers) wake();
    await standStill();
    await this.#ending.disposeAsync();
  }

  sleep(process: Process, wake: () => void): void {
    this.#sleepers.add({ process, version: this.#version, wake });
  }

  /** What still waits although nothing comes any more. */
  #unfinished(): string[] {
    return [
      ...(this.#settled === undefined ? ["the caller waits for ever"] : []),
      ...(this.#queue.length > 0 ? [`${this.#queue.length} requests are never acknowledged`] : []),
      ...[...this.#sleepers]
        .filter(({ process }) => process.isAlive)
        .map(({ process }) => `service ${process.index} watches for ever`),
    ];
  }

  #describe(order: readonly number[]): string {
    const places = new Map(order.map((index, place) => [index, place]));
    const placeOf = (index: number | undefined) => (index === undefined ? "-" : places.get(index));
    return JSON.stringify([
      order.map((index) => {
        const { isAlive, history, gate, cancels } = this.#processes[index] as Process;
        if (!isAlive) return "dead";
        const asleep = [...this.#sleepers]
          .filter(({ process }) => process.index === index)
          .map(({ version }) => version === this.#version);
        return [history, gate.held.map(({ name }) => name).toSorted(), cancels.length, asleep];
      }),
      this.#queue.map(({ envelope, copy, deliveries, holder }) => [
        envelope.headers[Header.AgeMs],
        copy,
        deliveries,
        placeOf(holder?.index),
      ]),
      [this.#stored, placeOf(this.#owner), this.#elapsedMs, this.#hasLapsed, this.#idleLapses, this.#forgottenAt],
      [...this.#answers].toSorted(),
      [
        this.#started,
        this.#effects,
        placeOf(this.#begunBy?.index),
        this.#startedWhenCancelled,
        this.#copies,
        this.#left,
      ],
      this.#settled === undefined
        ? "open"
        : this.#settled instanceof ToolError
          ? [this.#settled.code, this.#settled.details]
          : this.#settled.content,
    ]);
  }

  #stored = "none";

  #step(name: string, take: () => void, fault?: keyof Faults): Step {
    return {
      name,
      isFault: fault !== undefined,
      take: async () => {
        if (fault !== undefined) this.#left[fault]--;
        take();
        await standStill();
        const view = await this.#store.look(KEY);
        this.#stored = view?.state ?? "none";
      },
    };
  }

  #learn(process: Process, what: string): void {
    const event = `${what} @${this.#elapsedMs}`;
    if (process.history.at(-1) !== event) process.history.push(event); // to look once more and see the same teaches nothing
  }

  #deliver(message: Message, process: Process): void {
    const { envelope, copy } = message;
    const isRedelivered = message.deliveries++ > 0;
    const isCopy =
      isRedelivered || (copy > 0 && !(Header.AgeMs in envelope.headers) && this.#options.faults.forgets !== undefined);
    const name = `${copy}.${message.deliveries}`;
    message.holder = process;
    this.#learn(process, `gets ${name}`);
    const deliveries = message.deliveries;
    const isOurs = (): boolean => message.holder === process && message.deliveries === deliveries;
    const maybeHandledSince = isCopy ? performance.now() - DEADLINE_MS - TRANSIT_MS : undefined;
    const delivery = { ...delivered(isRedelivered), maybeHandledSince, isOurs: async () => isOurs() };
    void running.run({ world: this, process, isOurs }, async () => {
      try {
        await process.handlers.get(SERVICE)?.(envelope, delivery);
      } catch (error) {
        if (process.gate.isClosed) return;
        this.#complaints.push(`a handler threw: ${String(error)}`);
      }
      await process.gate
        .pass(`ack ${name}`, () => {
          if (isOurs()) this.#queue.splice(this.#queue.indexOf(message), 1);
        })
        .catch(() => {}); // the world has ended
    });
  }

  #deliverCancel(cancel: Envelope, process: Process): void {
    process.cancels.shift();
    this.#learn(process, "gets cancel");
    void running.run({ world: this, process }, async () => {
      await process.handlers.get(`cancel.${SERVICE}`)?.(cancel, delivered());
      this.#startedWhenCancelled ??= this.#started;
    });
  }

  #wake(sleeper: Sleeper): void {
    this.#sleepers.delete(sleeper);
    sleeper.wake();
  }

  #crash(process: Process): void {
    process.isAlive = false;
    process.cancels.length = 0;
    this.#takeBack(process);
  }

  #takeBack(process: Process): void {
    for (const message of this.#queue) if (message.holder === process) message.holder = undefined;
  }

  #newStore(): ClaimStore {
    return createMemoryClaimStore({ clock: () => performance.now() + this.#storeClockMs });
  }

  #forget(): void {
    this.#pass(1); // no two things happen at the same moment
    this.#store = this.#newStore();
    this.#forgottenAt = this.#elapsedMs;
    this.#owner = undefined;
  }

  #publishRequest(): void {
    if (this.#request !== undefined)
      this.#queue.push({ envelope: this.#request, copy: this.#copies++, deliveries: 0, holder: undefined });
  }

  #repeatRequest(): void {
    const envelope = this.#request;
    if (envelope === undefined) return;
    const headers = { ...envelope.headers, [Header.AgeMs]: String(this.#elapsedMs) };
    this.#queue.push({ envelope: { ...envelope, headers }, copy: this.#copies++, deliveries: 0, holder: undefined });
  }

  /** The caller waits no more, whatever comes. */
  get #isGivenUp(): boolean {
    return this.#settled instanceof ToolError && ["cancelled", "timeout"].includes(this.#settled.code);
  }

  get #hasSleepers(): boolean {
    return [...this.#sleepers].some(({ process }) => process.isAlive);
  }

  #waitForLapse(): void {
    this.#idleLapses++;
    this.#lapse();
  }

  #lapse(): void {
    this.#hasLapsed = true;
    this.#pass(LAPSE_MS);
  }

  #passDeadline(): void {
    this.#hasLapsed = true;
    this.#pass(DEADLINE_MS + LATENESS_MS);
    // What nobody has taken by now the broker gives to nobody.
    for (const message of this.#queue.filter(({ holder }) => holder === undefined))
      this.#queue.splice(this.#queue.indexOf(message), 1);
  }

  #pass(ms: number): void {
    this.#elapsedMs += ms;
    this.#version++;
    this.#options.advance(ms);
  }

  #noteStored(process: Process, operation: string, outcome: ClaimOutcome | string | boolean): void {
    const text =
      typeof outcome === "object"
        ? `${outcome.state}${outcome.state === "taken" && outcome.isTakenOver ? " over" : ""}`
        : String(outcome);
    if (operation !== "cancel") this.#learn(process, `${operation}: ${text}`); // what came of a cancel nobody asks
    if (text !== "held") this.#version++;
    if (text.startsWith("taken")) this.#owner = process.index;
    if ((operation === "complete" || operation === "release") && outcome === true) this.#owner = undefined;
    if (operation === "cancel" && (outcome === "unclaimed" || outcome === "claimed")) this.#owner = undefined;
  }

  #call(caller: ToolCaller): void {
    caller.call(TOOL, {}, { toolCallId: KEY.toolCallId, timeoutMs: DEADLINE_MS, signal: this.#cancel.signal }).then(
      (response) => {
        this.#settled = response;
      },
      (error: unknown) => {
        if (error instanceof ToolError) this.#settled = error;
        else this.#complaints.push(`the call threw ${String(error)}`);
      },
    );
  }

  #serve(process: Process): Promise<AsyncDisposable> {
    const { isIdempotent, isResumable = false } = this.#options;
    const claims = gatedStore(() => this.#store, {
      pass: (operation, work) => process.gate.pass(operation, work),
      onDone: (operation, outcome) => this.#noteStored(process, operation, outcome),
    });
    const executor = {
      execute: async (_request: ToolInvokeRequest, { mayHaveBegun = false }: ToolContext) => {
        this.#started++;
        await process.gate.pass("effect", () => this.#begin(process, { isResumable, mayHaveBegun }));
        await process.gate.pass("return", () => this.#learn(process, "return"));
        return { toolCallId: KEY.toolCallId, toolName: TOOL, content: "done", isError: false };
      },
    };
    const definition = {
      name: TOOL,
      description: "Has an effect.",
      inputSchema: { type: "object" },
      readOnly: false,
      idempotent: isIdempotent,
      validateInput: Object.assign((_value: unknown): _value is unknown => true, { errors: null }),
    };
    const set = {
      tools: [{ definition, executor, isResumable }],
      guides: [{ name: SERVICE, summary: "For tests.", document: "# Tests" }],
    };
    return serveTools(this.#busOfService(process), set, { service: SERVICE, claims });
  }

  #begin(
    process: Process,
    { isResumable, mayHaveBegun }: { readonly isResumable: boolean; readonly mayHaveBegun: boolean },
  ): void {
    this.#learn(process, "effect");
    const before = isResumable ? this.#begunBy : undefined;
    this.#begunBy ??= process;
    if (before === undefined) this.#effects++;
    else if (!before.isAlive && !mayHaveBegun)
      this.#complaints.push("a call that a dead service had begun is not said to have begun");
  }

  #busOfService(process: Process): Bus {
    return this.#bus({
      subscribe: (name, handler) => process.handlers.set(name, handler),
      publish: async (envelope) => {
        if (ofDiscovery.has(envelope.type)) return void (await this.#hearAnnouncement(envelope, delivered()));
        const isRefusal = Buffer.from(envelope.body).includes('"unavailable"');
        if (isRefusal && running.getStore()?.isOurs?.() === false)
          this.#complaints.push("a service refuses a call that is another's by now");
        await process.gate.pass("publish", () => {
          if (!this.#isGivenUp) this.#answers.add(`${envelope.type} ${Buffer.from(envelope.body).toString()}`);
          void this.#hearAnswer(envelope, delivered());
        });
      },
    });
  }

  #busOfCaller(): Bus {
    return this.#bus({
      subscribe: (name, handler) => {
        if (name.startsWith("directory.")) this.#hearAnnouncement = handler;
        if (name.startsWith("result.")) this.#hearAnswer = handler;
      },
      publish: async (envelope) => {
        if (envelope.type === messages.ToolCancel.type)
          for (const { isAlive, cancels } of this.#processes) if (isAlive) cancels.push(envelope);
        if (envelope.type === messages.ToolAnnounceProbe.type)
          for (const { isAlive, handlers } of this.#processes)
            if (isAlive) await handlers.get(`announce.${SERVICE}`)?.(envelope, delivered());
        if (envelope.type !== messages.ToolInvokeRequest.type) return;
        this.#request = envelope;
        this.#publishRequest();
      },
    });
  }

  #bus({
    subscribe,
    publish,
  }: {
    readonly subscribe: (name: string, handler: Handler) => void;
    readonly publish: (envelope: Envelope) => Promise<void>;
  }): Bus {
    return {
      traits: { isDurable: true, verifiesSender: false },
      isReady: true,
      isBlocked: false,
      publish,
      subscribe: async ({ name }, handler) => {
        subscribe(name, handler);
        return { async [Symbol.asyncDispose]() {} };
      },
      inspect: async () => ({ consumers: 2, messages: 0 }),
      visitParked: async () => undefined,
      async [Symbol.asyncDispose]() {},
    };
  }
}

/** What services say of themselves. */
const ofDiscovery: ReadonlySet<string> = new Set([
  messages.ToolHeartbeat.type,
  messages.ToolAnnouncement.type,
  messages.ToolListChange.type,
]);

const delivered = (isRedelivered = false): Delivery => ({
  signal: new AbortController().signal,
  receivedAt: performance.now(),
  isRedelivered,
});

/** Until all that follows from the last step has happened: promises settle before the next turn of the event loop. */
const standStill = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
