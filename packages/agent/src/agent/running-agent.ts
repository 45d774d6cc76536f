import { type Bus, BusClosedError, BusUnavailableError, type Logger } from "@rockbot/bus";
import {
  type AgentEvent,
  agentTopics,
  createEnvelope,
  encodeMessage,
  messages,
  ToolError,
  ToolErrorCode,
  tools,
} from "@rockbot/contracts";
import type { Model } from "@rockbot/llm";
import type { WorkingMemory } from "@rockbot/memory";
import type { PolicyHolder } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import type { ToolCaller } from "@rockbot/tools";
import type { Spending } from "../budget/spending.ts";
import { TurnBudget } from "../budget/turn-budget.ts";
import { usageMessage } from "../budget/usage-message.ts";
import { CallRunner } from "../calls/call-runner.ts";
import { UntrustedMark } from "../calls/untrusted-mark.ts";
import { SessionDefinitions, type TurnDefinitions } from "../definitions/session-definitions.ts";
import { Children, type ChildrenOptions } from "../family/children.ts";
import type { FamilyTurnRequest } from "../family/family-place.ts";
import { FamilyRecords } from "../family/family-records.ts";
import { type FamilySessionFacts, type RunningSession, runningTurns } from "../family/running-session.ts";
import type { AgentParts } from "../plugins/agent-plugin.ts";
import { fence } from "../prompt/fence.ts";
import { HeldTurn, holdTurn } from "../store/held-turn.ts";
import { TurnEvents } from "../store/turn-events.ts";
import { TurnLostError } from "../store/turn-lost-error.ts";
import { TAKE_UP_LEASES, type TurnStore } from "../store/turn-store.ts";
import { ownWords } from "../turn/notes.ts";
import { openConversation } from "../turn/open-conversation.ts";
import { KeptSteps, type OwnSteps } from "../turn/own-steps.ts";
import { recordTurn } from "../turn/record-turn.ts";
import { type ReadTools, type Role, TurnRoles } from "../turn/turn-roles.ts";
import { TurnRun } from "../turn/turn-run.ts";
import type { Agent } from "../words/agent.ts";
import type { AgentDefinition, DefinitionReader } from "../words/agent-definition.ts";
import type { AwaitEnd } from "../words/awaited-call.ts";
import type { FamilySession } from "../words/family-session.ts";
import type { EventPage, HistoryTurn, SessionListing } from "../words/session.ts";
import type { TurnPlace, TurnRequest, TurnResult } from "../words/turn.ts";
import type { AgentLimits } from "./agent-limits.ts";

// Many because: it is what createAgent has put together, with no default left open.
export interface RunningAgentOptions {
  readonly name: string;
  readonly bus: Bus;
  readonly model: Model;
  readonly instructions: string | undefined;
  /** The models that definitions may name. */
  readonly models: ((name: string) => Model | undefined) | undefined;
  readonly definitions: DefinitionReader | undefined;
  readonly policy: PolicyHolder | undefined;
  readonly audit: Pick<AuditLog, "write"> | undefined;
  readonly caller: ToolCaller;
  readonly store: TurnStore;
  readonly memory: Pick<WorkingMemory, "of">;
  readonly limits: AgentLimits;
  /** What a turn may cost, with all agents that it calls. */
  readonly maxCost: number | undefined;
  readonly spending: Spending | undefined;
  readonly awaitEnd: AwaitEnd | undefined;
  readonly parts: readonly AgentParts[];
  readonly log: Logger;
  /** What ends with the agent. */
  readonly resources: AsyncDisposable;
}

/** What a turn has before it takes its place in its family. */
interface OpenedTurn {
  readonly events: TurnEvents;
  readonly mark: UntrustedMark;
  /** The messages that its session remembers. */
  readonly history: readonly HistoryTurn[];
  readonly ownSteps: ReadonlyMap<string, OwnSteps>;
  /** The session whose working memory it uses. */
  readonly memorySessionId: string;
  readonly definitions: TurnDefinitions;
  readonly readTools: ReadTools;
  readonly budget: TurnBudget;
}

/** An event that nobody takes at once is of no use: the session's log has it. */
const EVENT_TTL_MS = 10_000;
/** How long disposal waits for turns that leave. */
const LEAVE_MS = 2_000;

/** See Agent. */
export class RunningAgent implements Agent {
  readonly name: string;
  readonly caller: ToolCaller;
  readonly #options: RunningAgentOptions;
  readonly #runner: CallRunner;
  readonly #keptSteps: KeptSteps;
  readonly #definitions: SessionDefinitions;
  readonly #families: FamilyRecords;
  readonly #turns = new Map<string, Promise<TurnResult>>();
  /** By session: aborts when a turn of it has ended here. */
  readonly #ends = new Map<string, AbortController>();
  readonly #stopping = new AbortController();
  /** A broker that verifies its users has refused an event. Each refusal costs the bus its channel. */
  #mayNotTell = false;

  constructor(options: RunningAgentOptions) {
    this.#options = options;
    this.name = options.name;
    this.caller = options.caller;
    this.#keptSteps = new KeptSteps(options.memory);
    this.#definitions = new SessionDefinitions(options);
    this.#families = new FamilyRecords(options.memory, options.log);
    const { maxParallelCalls, callTimeoutMs } = options.limits;
    const { name, audit, policy, awaitEnd, caller, log } = options;
    this.#runner = new CallRunner({
      maxParallel: maxParallelCalls,
      timeoutMs: callTimeoutMs,
      name,
      audit,
      policy,
      awaitEnd,
      withdraw: (call) => caller.withdraw(call),
      log,
    });
  }

  runTurn(request: FamilyTurnRequest): Promise<TurnResult> {
    const key = JSON.stringify([request.caller, request.sessionId, request.turnId]);
    const known = this.#turns.get(key);
    if (known !== undefined) return known;
    const turn = this.#runTurn(request).finally(() => this.#turns.delete(key));
    this.#turns.set(key, turn);
    return turn;
  }

  place({ caller, sessionId, turnId }: TurnPlace): Promise<void> {
    const { leaseMs, maxWaiting } = this.#options.limits;
    return this.#options.store.place({ caller, sessionId }, { turnId, placeMs: TAKE_UP_LEASES * leaseMs, maxWaiting });
  }

  leave({ caller, sessionId, turnId }: TurnPlace): Promise<void> {
    return this.#options.store.leave({ caller, sessionId }, turnId, "");
  }

  async isToBlame({ caller, sessionId, turnId }: TurnPlace): Promise<boolean> {
    return !(await this.#options.store.getsOn({ caller, sessionId }, turnId));
  }

  sessions(caller: string): Promise<readonly SessionListing[]> {
    return this.#options.store.sessions(caller);
  }

  history(caller: string, sessionId: string): Promise<readonly HistoryTurn[]> {
    return this.#options.store.history({ caller, sessionId });
  }

  events(caller: string, sessionId: string, after: number, limit: number): Promise<EventPage> {
    return this.#options.store.events({ caller, sessionId }, after, limit);
  }

  family(caller: string, rootSessionId: string): Promise<readonly FamilySession[]> {
    return this.#families.list({ caller, rootSessionId });
  }

  async cancel(caller: string, rootSessionId: string, turnId?: string): Promise<readonly string[]> {
    const turns = await this.family(caller, rootSessionId);
    const running =
      turnId === undefined
        ? turns.flatMap((turn) => (turn.state === "running" ? [turn.turnId] : []))
        : turns.flatMap(runningTurns);
    const meant = running.filter((id) => turnId === undefined || id === turnId);
    if (meant.length > 0) await this.#families.cancel({ caller, rootSessionId }, meant);
    return meant;
  }

  note(caller: string, sessionId: string, role: HistoryTurn["role"], content: string): Promise<void> {
    return this.#options.store.note({ caller, sessionId }, { role, content, at: Date.now() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new BusClosedError("The agent has ended"));
    const leaving = Promise.allSettled(this.#turns.values());
    await Promise.race([leaving, new Promise((resolve) => setTimeout(resolve, LEAVE_MS).unref())]);
    await this.#options.resources[Symbol.asyncDispose]();
  }

  async #runTurn(request: FamilyTurnRequest): Promise<TurnResult> {
    checkRequest(request);
    const { store, limits, log } = this.#options;
    const { caller, sessionId, turnId, hasReadUntrusted = false, deadline, withoutPlace } = request;
    const signal = AbortSignal.any([request.signal, this.#stopping.signal]);
    const session = JSON.stringify([caller, sessionId]);
    const nextEnd = (): AbortSignal => this.#nextEnd(session);
    using _ended = { [Symbol.dispose]: () => this.#endedIn(session) };
    for (;;) {
      signal.throwIfAborted();
      const { leaseMs, maxWaiting, storePatienceMs } = limits;
      const held = await holdTurn(store, {
        session: { caller, sessionId },
        turnId,
        hasReadUntrusted,
        message: request.message,
        signal,
        deadline,
        leaseMs,
        maxWaiting,
        storePatienceMs,
        withoutPlace,
        nextEnd,
        log,
      });
      if (!(held instanceof HeldTurn)) return held;
      await using turn = held;
      try {
        return await recordTurn(this.name, request, () => this.#run(request, turn));
      } catch (error) {
        if (!(error instanceof TurnLostError)) throw error;
        log.info({ turnId }, "another process has taken the turn: waits for its result");
      }
    }
  }

  #nextEnd(session: string): AbortSignal {
    const end = this.#ends.get(session) ?? new AbortController();
    this.#ends.set(session, end);
    return end.signal;
  }

  #endedIn(session: string): void {
    const end = this.#ends.get(session);
    this.#ends.delete(session);
    end?.abort();
  }

  async #run(asked: FamilyTurnRequest, held: HeldTurn): Promise<TurnResult> {
    const { caller } = asked;
    const { spending, memory, log } = this.#options;
    const opened = await this.#open(asked, held);
    const { events, mark, history, ownSteps, memorySessionId, definitions, budget } = opened;
    using place = await this.#placeIn(asked, held, { agent: definitions.first?.name, usage: () => budget.usage });
    const { session } = place;
    for (const child of held.children) session.add(child);
    events.follow((event) => session.hear(event));
    const request = { ...asked, signal: AbortSignal.any([asked.signal, session.signal]) };
    const roles = this.#rolesOf(request, held, { ...opened, session });
    const role = roles.become(definitions.first);
    if (!held.hasBegun) {
      await this.#checkTurn(request, budget, role).catch(async (error: unknown) => {
        if (error instanceof ToolError) await this.#end(request, held, events, notTaken(error, mark));
        session.end({ finish: "failed" });
        throw error;
      });
    }
    // A task that the session schedules runs in it later, and asks for no definition.
    if (request.definition !== undefined && role.tools.get(tools.scheduleTask.name) !== undefined)
      await definitions.remember(request.definition);
    const conversation = openConversation({
      ...request,
      ...role,
      ...(await this.#asideOf(role, request, { nonce: held.nonce, mark })),
      ownSteps,
      nonce: held.nonce,
      history,
      message: request.message,
      messages: request.messages,
    });
    const kept = { keptSteps: this.#keptSteps, memory: memory.of(caller), memorySessionId };
    const parts = { request, held, role, roles, conversation, events, runner: this.#runner, budget, mark, spending };
    const ended = await new TurnRun({ ...parts, ...kept, stopping: this.#stopping.signal, log }).run();
    session.end(ended);
    const result = asked.family === undefined ? ended : { ...ended, family: session.view() };
    await this.#end(request, held, events, result);
    return result;
  }

  async #open(asked: FamilyTurnRequest, held: HeldTurn): Promise<OpenedTurn> {
    const { caller, sessionId, turnId, hasReadUntrusted = false } = asked;
    const { store, log } = this.#options;
    const tell = (event: AgentEvent): void => this.#tell(asked, event);
    const events = new TurnEvents({ store, session: { caller, sessionId }, turnId, tell, log });
    const history = asked.messages === undefined ? held.history : [];
    const mark = new UntrustedMark(
      hasReadUntrusted || held.hasReadUntrusted || history.some(({ isUntrusted }) => isUntrusted),
    );
    events.emit(
      held.isTakenUp
        ? { kind: "notice", text: "The turn is taken up again where it was cut off.", dropsText: true }
        : { kind: "turn_started" },
    );
    const ownSteps = await this.#ownSteps(asked, { events, mark });
    const memorySessionId = [...ownSteps.values()].at(-1)?.sessionId ?? sessionId;
    const definitions = await this.#definitions.of(asked, held.answer(0)).catch(async (error: unknown) => {
      if (!held.hasBegun && error instanceof ToolError) await this.#end(asked, held, events, notTaken(error, mark));
      throw error;
    });
    const readTools = await this.#readTools(caller, held);
    const budget = this.#budgetOf(asked, held, definitions.first);
    return { events, mark, history, ownSteps, memorySessionId, definitions, readTools, budget };
  }

  #rolesOf(
    request: FamilyTurnRequest,
    held: HeldTurn,
    {
      session,
      events,
      mark,
      memorySessionId,
      definitions,
      readTools,
      budget,
    }: OpenedTurn & { readonly session: RunningSession },
  ): TurnRoles {
    const { policy, spending } = this.#options;
    const { visible, current } = definitions;
    const runTurn = (child: FamilyTurnRequest): Promise<TurnResult> => this.runTurn(child);
    const onInner: ChildrenOptions["onInner"] = (step) => events.emit(step);
    return new TurnRoles({
      agent: this.#options,
      request,
      definitions,
      nonce: held.nonce,
      mark,
      memorySessionId,
      readTools,
      children: new Children({ request, held, budget, session, policy, visible, current, runTurn, onInner }),
      calls: { runner: this.#runner, events, held, budget, caller: request.caller, spending },
    });
  }

  /** Gives the session to the next turn. */
  async #end(request: FamilyTurnRequest, held: HeldTurn, events: TurnEvents, result: TurnResult): Promise<void> {
    const usage = usageMessage(result.usage);
    // The store has it before the end, and so before the next turn of the session can say anything.
    const { told } = await events.end({
      kind: "turn_finished",
      finish: result.finish,
      usage,
      message: result.reason ?? null,
      ...(result.toolBudgetExceeded ? { toolBudgetExceeded: true } : {}),
    });
    await held.end(result, historyOf(request, held.startedAt, result)).catch((error: unknown) => {
      if (error instanceof TurnLostError) throw error;
      this.#options.log.error({ turnId: request.turnId, error: String(error) }, "could not keep the result of a turn");
    });
    await told;
  }

  /**
   * @throws {ToolError} if there is no money for the turn, nobody can know what it costs, or its model does not see its
   * images
   */
  async #checkTurn(
    { caller, images, messages: given = [] }: TurnRequest,
    budget: TurnBudget,
    { model, definition }: Role,
  ): Promise<void> {
    const what =
      definition === undefined ? "The message was not taken" : `The agent "${definition.name}" was not begun`;
    const hasImages = [images, ...given.map((each) => each.images)].some(
      (each) => each !== undefined && each.length > 0,
    );
    if (hasImages && model.behavior.takesImages === false)
      throw new ToolError(
        ToolErrorCode.InvalidArguments,
        `${what}: it has images, and the model "${model.id}" sees none. Describe them in words.`,
      );
    const fault = budget.priceFault(model);
    if (fault !== undefined)
      throw new ToolError(ToolErrorCode.Denied, `${what}: ${fault}.`, { details: { reason: "price_unknown" } });
    const refusal = await this.#options.spending?.refusal(caller);
    if (refusal !== undefined)
      throw new ToolError(ToolErrorCode.RateLimited, `${what}: ${refusal}.`, { details: { reason: "cost" } });
  }

  /** The turn among those of its family, which writes down what it does until it is disposed of. */
  async #placeIn(
    { caller, sessionId, turnId, rootSessionId = sessionId, family }: FamilyTurnRequest,
    held: HeldTurn,
    facts: Pick<FamilySessionFacts, "agent" | "usage">,
  ): Promise<{ readonly session: RunningSession } & Disposable> {
    const all = { ...facts, sessionId, turnId, startedAt: held.startedAt };
    if (family !== undefined) return { session: family.parent.begin(all), [Symbol.dispose]() {} };
    return this.#families.begin({ caller, rootSessionId }, all, held.isTakenUp);
  }

  /**
   * What the agent did itself in earlier turns of a conversation that its client brings. It marks this turn as it
   * marked those.
   */
  async #ownSteps(
    { caller, messages: given }: TurnRequest,
    { events, mark }: { readonly events: TurnEvents; readonly mark: UntrustedMark },
  ): Promise<ReadonlyMap<string, OwnSteps>> {
    if (given === undefined) return new Map();
    try {
      const found = await this.#keptSteps.find(caller, given);
      for (const { answer, results } of [...found.values()].flatMap(({ steps }) => steps)) {
        if (answer.isMarked) mark.set(undefined);
        for (const result of results) if (result !== null) mark.read(result);
      }
      return found;
    } catch (error) {
      this.#options.log.warn({ error: String(error) }, "could not read what a turn did before its client's calls");
      mark.set(undefined); // it may have read anything
      events.emit({
        kind: "notice",
        text: "The results of the agent's own tools in earlier answers cannot be read now.",
      });
      return new Map();
    }
  }

  /**
   * The tools of a caller that parts have to read first. A turn begins without them if they cannot be read; one that is
   * taken up may have called some.
   */
  async #readTools(caller: string, held: HeldTurn): Promise<ReadTools> {
    const { parts, log } = this.#options;
    const read = parts.map(async (part) => {
      const tools = await part.readTools?.(caller).catch((cause: unknown) => {
        if (held.answer(0) === undefined)
          return log.warn({ error: String(cause) }, "a turn begins without tools that its caller has");
        throw new ToolError(
          ToolErrorCode.Unavailable,
          "The message was not taken: the tools of its caller cannot be read now. Send it again later.",
          {
            cause,
          },
        );
      });
      return [part, tools ?? (() => [])] as const;
    });
    return new Map(await Promise.all(read));
  }

  #budgetOf(
    { family, deadline }: FamilyTurnRequest,
    held: HeldTurn,
    definition: AgentDefinition | undefined,
  ): TurnBudget {
    const { limits, model } = this.#options;
    const {
      maxTokens = limits.maxTokens,
      maxIterations = model.behavior.maxIterations,
      timeoutMs = Number.POSITIVE_INFINITY,
    } = definition?.budgets ?? {};
    const { startedAt } = held;
    const budget = new TurnBudget({
      maxIterations,
      maxTokens: Math.min(maxTokens, limits.maxTokens),
      maxCost: least(definition?.budgets?.maxCost, this.#options.maxCost),
      share: family?.share,
      answerReserveMs: limits.answerReserveMs,
      startedAt,
      deadline: Math.min(deadline, performance.now() + timeoutMs - Math.max(0, Date.now() - startedAt)),
    });
    for (const usage of held.usages) budget.count(usage);
    return budget;
  }

  /** What stands beside the user's message. */
  async #asideOf(
    { scope, tools: has }: Role,
    request: TurnRequest,
    { nonce, mark }: { readonly nonce: string; readonly mark: UntrustedMark },
  ) {
    const { parts, log } = this.#options;
    const asked = request.message ?? request.messages?.findLast(({ role }) => role === "user")?.content ?? "";
    const mayUse = (tool: string): boolean => has.get(tool) !== undefined;
    const asides = await Promise.all(
      parts.map((part) =>
        part.aside?.(scope, asked, mayUse).catch((error: unknown) => {
          log.warn({ error: String(error) }, "a part of the prompt is missing");
          return undefined;
        }),
      ),
    );
    const texts = asides.filter((aside) => aside !== undefined);
    const [own, strangers] = [
      texts.filter(({ isUntrusted }) => !isUntrusted),
      texts.filter(({ isUntrusted }) => isUntrusted),
    ];
    if (strangers.length > 0) mark.set("services");
    return {
      aside: own.map(({ text }) => text).join("\n\n"),
      fencedAside: strangers.map(({ text }) => fence(text, { nonce, origin: "services" })).join("\n\n"),
    };
  }

  #tell(request: TurnRequest, event: AgentEvent): void {
    const { bus, name, log } = this.#options;
    request.onEvent?.(event);
    if (this.#mayNotTell) return;
    const envelope = createEnvelope({
      topic: agentTopics.event(request.caller, request.sessionId),
      type: messages.AgentEvent.type,
      source: name,
      ttlMs: EVENT_TTL_MS,
      body: encodeMessage("AgentEvent", event),
    });
    bus.publish(envelope).catch((error: unknown) => {
      if (!(error instanceof BusUnavailableError && error.isForbidden))
        return log.debug({ error: String(error) }, "could not publish a step of a turn");
      if (!this.#mayNotTell)
        log.warn(
          { error: String(error) },
          "may not publish events of sessions, and stops doing so: the logs of the sessions have them",
        );
      this.#mayNotTell = true;
    });
  }
}

/** @throws {ToolError} */
function checkRequest({ message, messages: given, sessionId }: TurnRequest): void {
  if ((message === undefined) === (given === undefined))
    throw new ToolError(ToolErrorCode.InvalidArguments, "Give either message or messages, and not both.");
  if (sessionId.length < 1 || sessionId.length > 128)
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `A session's id has 1 to 128 characters, this one has ${sessionId.length}.`,
    );
}

/** The result of a turn that cannot begin. The next turns of its session would wait for one that has none. */
const notTaken = ({ message }: ToolError, { isSet }: UntrustedMark): TurnResult => ({
  text: message,
  finish: "failed",
  usage: { inputTokens: 0, outputTokens: 0 },
  hasReadUntrusted: isSet,
  reason: message,
});

/**
 * What the session remembers of a turn: what was asked, and what was answered. A client that brings its history keeps
 * it itself.
 */
function historyOf(
  { message: said, images = [], hasReadUntrusted = false, origin: by = "user", family }: FamilyTurnRequest,
  startedAt: number,
  { text, finish, hasReadUntrusted: isUntrusted }: TurnResult,
): HistoryTurn[] {
  if (said === undefined) return [];
  const message =
    images.length === 0 ? said : `${said}\n(Images came with this message, which are not kept: ${images.length}.)`;
  const origin = family !== undefined ? ("agent" as const) : by === "user" ? undefined : by;
  const about = { ...(hasReadUntrusted ? { isUntrusted: true } : {}), ...(origin === undefined ? {} : { origin }) };
  const asked: HistoryTurn = { role: "user", content: message, at: startedAt, ...about };
  // Without a word behind it, a model would take the question as part of the next one.
  if (text === "")
    return finish === "failed" ? [asked, { role: "assistant", content: ownWords.cancelled, at: Date.now() }] : [asked];
  return [asked, { role: "assistant", content: text, at: Date.now(), ...(isUntrusted ? { isUntrusted: true } : {}) }];
}

const least = (...values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};
