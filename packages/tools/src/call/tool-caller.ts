import { metrics } from "@opentelemetry/api";
import { type AbortSource, LightAbort, onAbort, SlotMap } from "@rockbot/base";
import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import {
  allToolNames,
  checkName,
  type Envelope,
  isInstanceNumber,
  MAX_INSTANCES,
  nearestName,
  newId,
  ToolError,
  ToolErrorCode,
  type ToolGuide,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
  timeoutError,
} from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { ANSWER_KEPT_MS, CallJournal, CallState, type JournalStore } from "@rockbot/records/journal";
import type { ProgressUpdate, ToolContext, ToolExecutor } from "../define/tool-executor.ts";
import { createToolRegistry, type ToolRegistration, type ToolRegistry } from "../define/tool-registry.ts";
import { type Discovery, ToolDirectory } from "../discover/tool-directory.ts";
import { inTime } from "../layers/deadline.ts";
import { withCallingLayers, withDeadline, withLocalLayers } from "../layers/layers.ts";
import { DEFAULT_TIMEOUT_MS, MAX_CALLS_IN_FLIGHT, MAX_TIMEOUT_MS } from "../limits.ts";
import { createIdentity } from "../messages/identity.ts";
import { MessageMeter } from "../messages/message-meter.ts";
import { decodeReply, encodeReply } from "../messages/reply.ts";
import { toToolError } from "../to-tool-error.ts";
import { argumentsText } from "./arguments-text.ts";
import { guideFor } from "./guide-for.ts";
import { guideTools } from "./guide-tools.ts";
import { holdStation } from "./held-station.ts";
import { ignoreProgress, remoteExecutor } from "./remote-executor.ts";
import { endOf, type ResumedCall, resumeCalls } from "./resume-calls.ts";
import { decide, usableBy, usableTools } from "./usable-tools.ts";

export interface ToolCallerOptions {
  /** The agent that calls: the name in its result topic and, where nobody verifies senders, its identity. `^[a-z0-9][a-z0-9-]{0,38}$`. */
  readonly agent: string;
  /**
   * Tells processes of one agent apart: a restarted process with the same name finds its answers. Same grammar. @default for
   * "result" one leased from `journals`, or none without; random for "copy"
   */
  readonly instance?: string | undefined;
  /** Whether answers wait for this agent while it is away (a service), or end with it (a one-shot command). @default "result" */
  readonly results?: "result" | "copy" | undefined;
  /** Where the journal of calls outlives this process, so that the next one takes up what this one had out. @default nowhere */
  readonly journals?: JournalStore | undefined;
  /** Calls without an answer at a time; one more is refused as `overloaded`. @default 256 */
  readonly maxCallsInFlight?: number | undefined;
  /**
   * Who may do what: what this agent may not use is not listed, and refused before it is sent. The services decide for
   * themselves. Also whose announcements and results are taken, where the bus verifies senders. @default all is listed
   */
  readonly policy?: PolicyHolder | undefined;
  readonly log?: Logger | undefined;
}

export interface CallOptions {
  /** Identifies the call: the same id is the same call. @default 32 random hex digits */
  readonly toolCallId?: string | undefined;
  /** From 1 ms to 20 minutes. @default 60_000, or what is left of the parent's time */
  readonly timeoutMs?: number | undefined;
  /** The call of a tool that makes this one: its deadline holds for this call too, and so does its cancellation; it counts as one that led here. */
  readonly parent?: Pick<ToolContext, "signal" | "deadline" | "depth"> | undefined;
  /** The effective caller, if that is not the agent itself. Services believe it of delegates only. */
  readonly onBehalfOf?: string | undefined;
  /**
   * Makes the call only once the journal in `journals` has it, so that no call is out of which the next process does not know. With
   * `true` a call that cannot be noted there is refused as `unavailable`. @default waits for the note of a tool that may not run twice, and
   * makes the call also where it cannot be written
   */
  readonly durable?: boolean | undefined;
  /** Keeps the answer for 15 minutes, for `getAnswer`. @default false */
  readonly keepAnswer?: boolean | undefined;
  /** Aborting cancels the call, wherever it is. */
  readonly signal?: AbortSignal | undefined;
  /** The working-memory namespace the call belongs to. */
  readonly sessionId?: string | undefined;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
  /** Called when the call is about to be handed to the bus. One that fails before was refused here, and no service knows of it. */
  readonly onSent?: (() => void) | undefined;
}

/** The calling side: finds the tools that are served on a bus, and calls them. */
export interface ToolCaller extends AsyncDisposable {
  /** On whose behalf its calls are, unless they say so. */
  readonly agent: string;
  /** The tools that can be called now: those announced on the bus, and the two guide tools. */
  readonly tools: ToolRegistry;
  /** Those that a caller may use on whose behalf calls are made here. */
  toolsOf(caller: string): readonly ToolRegistration[];
  /**
   * The guides of the services of which a caller may use a tool, sorted by name, once discovery is over.
   * @param by on whose behalf calls are made; the agent itself by default
   */
  getGuides(by?: string): Promise<readonly ToolGuide[]>;
  /**
   * Resolves once the services that are there have answered and their lists are here, or have not come within 5 seconds of being known of: what is so then.
   * Lists that are missing are asked for until they come.
   */
  discovered(): Promise<Discovery>;
  /** Whether a service says that tools whose names begin so may come, as what offers them is being connected. */
  awaits(toolName: string): boolean;
  /**
   * Calls a tool. Settles once, by the deadline + 500 ms.
   * @param args the arguments: an object, or a JSON object as text
   * @throws {ToolError} if the call failed. A tool that reports a failure of its own gives a response with `isError`.
   */
  call(name: string, args: object | string | undefined, options?: CallOptions): Promise<ToolInvokeResponse>;
  /**
   * The calls that an earlier process of this caller had out when it ended, each with its answer: by its deadline, or shortly
   * after the start if that is over. A call under the id of one that is out joins it. They are listed until 15 minutes after
   * their answer.
   */
  readonly resumed: readonly ResumedCall[];
  /** What is remembered of this caller's calls. */
  readonly journal: Pick<CallJournal, "find" | "recent">;
  /** How a call ended, if its answer is kept: `keepAnswer`, and all that were resumed. */
  getAnswer(toolCallId: string): Promise<ToolInvokeResponse | ToolError | undefined>;
}

/**
 * Resolves once the caller listens for announcements; answers are subscribed to with the first call, or at once if an earlier
 * process had calls out. Disposal cancels the calls that are out, unless a journal keeps them: then they are left for the next
 * process to take up.
 * @throws {RangeError} if a name is not one that we may create, or maxCallsInFlight no positive whole number
 */
export async function createToolCaller(
  bus: Bus,
  {
    agent,
    results = "result",
    instance = results === "copy" ? newId().slice(0, 12) : undefined,
    journals,
    maxCallsInFlight = MAX_CALLS_IN_FLIGHT,
    policy,
    log = silentLogger,
  }: ToolCallerOptions,
): Promise<ToolCaller> {
  checkName("an agent's name", agent);
  if (instance !== undefined) checkName("an instance's name", instance);
  if (instance !== undefined && results === "result" && bus.traits.verifiesSender && !isInstanceNumber(instance)) {
    throw new RangeError(
      `Cannot call tools as "${agent}": where senders are verified an instance is a number from 0 to ${MAX_INSTANCES - 1}, got "${instance}"`,
    );
  }
  if (!Number.isSafeInteger(maxCallsInFlight) || maxCallsInFlight < 1) {
    throw new RangeError(`Cannot call tools as "${agent}": maxCallsInFlight must be a positive whole number, got ${maxCallsInFlight}`);
  }
  const identity = createIdentity(bus, policy);
  const self = identity.callerNamed(agent);

  const meter = metrics.getMeter("@rockbot/tools");
  const strays = meter.createCounter("rockbot.tool.results.stray", { description: "Answers that no call waits for: late, repeated or forged." });
  const inFlight = meter.createUpDownCounter("rockbot.tool.calls.in_flight", { description: "Calls without an answer yet." });

  await using stack = new AsyncDisposableStack();
  const stationOptions = {
    agent,
    instance,
    results,
    journals,
    log,
    isGenuineProgress: (toolName: string, message: Envelope) => {
      const service = directory.holderOf(toolName);
      return service !== undefined && identity.isFrom(service, message, "progress");
    },
    messageMeter: new MessageMeter({ policy, log }),
    onStray(correlationId: string | undefined) {
      strays.add(1);
      if (correlationId !== undefined) journal.answeredLate(correlationId);
    },
  };
  let isClosed = false;
  const station = stack.use(await holdStation(bus, stationOptions, (address) => journal.moveTo(address)));
  const { address, requester } = station.current;
  const journal: CallJournal = stack.use(new CallJournal({ caller: address, store: journals, log }));
  const resumed = results === "copy" ? [] : await resumeCalls({ caller: address, store: journals, requester, journal, identity, log });
  const resumedById = new Map(resumed.map((call) => [call.toolCallId, call]));
  for (const { toolCallId, answer } of resumed) {
    const forget = () => void setTimeout(() => resumedById.delete(toolCallId), ANSWER_KEPT_MS).unref();
    answer.then(forget, forget);
  }

  const registry = createToolRegistry();
  const usable = policy === undefined ? registry : usableTools(registry, policy, self);
  const directory: ToolDirectory = new ToolDirectory(bus, {
    source: agent,
    identity,
    log,
    onFound(tool) {
      if (registry.getExecutor(tool.name) !== undefined) {
        log.warn({ tool: tool.name, newcomer: tool.service }, "a tool's name is taken by one of this process: the newcomer is not listed");
        return;
      }
      const { name, description, parametersSchema, outputSchema, readOnly = false, idempotent = false, dangerous = false, service } = tool;
      const output = outputSchema == null ? {} : { outputSchema };
      const registration = { name, description, parametersSchema, ...output, readOnly, idempotent, dangerous, source: service };
      const executor = remoteExecutor(tool, { bus, station: () => station.current, directory, identity, source: agent });
      registry.register(registration, executor);
      remote.set(tool.name, executor);
    },
    onLost(name) {
      const executor = remote.get(name);
      remote.delete(name);
      if (executor !== undefined && executor === registry.getExecutor(name)) registry.unregister(name);
    },
  });
  /** Of the tools that are listed because a service announced them; others are this process's own. */
  const remote = new Map<string, ToolExecutor>();
  async function getGuides(by: string = self): Promise<readonly ToolGuide[]> {
    await directory.discovered();
    const tools = toolsOf(by);
    const services = new Set(tools.map(({ source }) => source));
    return directory.guidesOf((service) => services.has(service)).map((guide) => guideFor(guide, tools));
  }
  for (const tool of guideTools(getGuides)) {
    const { name, description, inputSchema, outputSchema, readOnly, idempotent } = tool.definition;
    registry.register(
      { name, description, parametersSchema: JSON.stringify(inputSchema), outputSchema: JSON.stringify(outputSchema), readOnly, idempotent, source: "local" },
      withLocalLayers(tool),
    );
  }
  stack.use(directory);
  await directory.open();

  function toolsOf(by: string): readonly ToolRegistration[] {
    return by === self || policy === undefined ? usable.getTools() : usableBy(by, policy.current(), registry.getTools());
  }

  const mayUse = (tool: string, by: string): boolean => policy?.current().decide({ caller: by, tool }).isAllowed ?? true;

  /** Finds the executor when the call is made, so that a tool that comes or goes meanwhile is judged as it is then. */
  const calling = withCallingLayers({
    execute(request, context) {
      const { toolCallId, toolName } = request;
      const found = remote.get(toolName);
      const goesAtOnce = found !== undefined && found === registry.getExecutor(toolName) && context.progress === ignoreProgress && !resumedById.has(toolCallId);
      return (goesAtOnce ? found : prepared).execute(request, context);
    },
  });

  /** A call of any kind, which may have to wait before: for its progress to be heard, or for its tool to be found. */
  const prepared: ToolExecutor = {
    async execute(request, context) {
      const { toolCallId, toolName } = request;
      const { signal, deadline, progress, onSent } = context;
      const leftMs = deadline - performance.now();
      const late = (mayHaveRun: boolean) => () => timeoutError(`"${toolName}"`, { mayHaveRun });
      if (leftMs <= 0) throw late(false)();
      const before = resumedById.get(toolCallId);
      if (before?.isOpen && before.toolName === toolName) {
        onSent?.();
        return inTime(before.answer, { signal, leftMs, late: late(true) });
      }
      const found = async (): Promise<ToolExecutor> => {
        if (progress !== ignoreProgress) await station.current.progress.listen(request, progress);
        if (registry.getExecutor(toolName) === undefined) await directory.lookFor(toolName);
        const executor = registry.getExecutor(toolName);
        if (executor === undefined) throw notServed(toolName, context.caller);
        return executor;
      };
      const executor = await inTime(found(), { signal, leftMs, late: late(false) });
      // One of a service keeps the deadline itself, and knows more of a call that has no answer by then.
      return (executor === remote.get(toolName) ? executor : withDeadline(executor)).execute(request, context);
    },
  };

  function notServed(name: string, by: string): ToolError {
    const shown = name.slice(0, 80);
    const [missing] = directory.missing;
    if (missing !== undefined) {
      return new ToolError(
        ToolErrorCode.Unavailable,
        `"${shown}" cannot be called now: nobody known offers it, and the tools of "${missing.service}" are not known yet. Try again later.`,
        { retryAfterMs: 1_000 },
      );
    }
    const held = directory.heldBack(name);
    if (held !== undefined && mayUse(name, by)) return new ToolError(ToolErrorCode.Denied, held.why, { details: { mayHaveRun: false, reason: held.reason } });
    if (directory.remembers(name) || allToolNames.includes(name)) {
      return new ToolError(ToolErrorCode.Unavailable, `"${shown}" cannot be called now: no running service offers it. Try again later.`);
    }
    if (directory.awaits(name)) {
      return new ToolError(
        ToolErrorCode.Unavailable,
        `"${shown}" cannot be called now: what would offer it is being connected, or is away. Nothing was run. Try again later.`,
        { retryAfterMs: AWAITED_RETRY_MS, details: { mayHaveRun: false } },
      );
    }
    const known = toolsOf(by).map((tool) => tool.name);
    const nearest = nearestName(name, known);
    const help = nearest !== undefined ? `did you mean "${nearest}"?` : known.length > 0 ? `known: ${known.slice(0, 20).join(", ")}` : "none is known";
    return new ToolError(ToolErrorCode.ToolNotFound, `There is no tool "${shown}": ${help}`, { details: { ...(nearest === undefined ? {} : { nearest }) } });
  }

  /** The calls that are out, by id: aborting one cancels it. */
  const calls = new SlotMap<string, LightAbort>();
  const running = stack.move();
  return {
    agent: self,
    tools: usable,
    toolsOf,
    get resumed() {
      return [...resumedById.values()];
    },
    journal,
    getGuides,
    discovered: () => directory.discovered(),
    awaits: (toolName) => directory.awaits(toolName),
    async getAnswer(toolCallId) {
      const bytes = await journal.answer(toolCallId);
      return bytes === undefined ? undefined : decodeReply(bytes);
    },
    async call(name, args, options = {}) {
      const {
        toolCallId: givenId,
        parent,
        timeoutMs = parent === undefined ? DEFAULT_TIMEOUT_MS : MAX_TIMEOUT_MS,
        sessionId,
        onProgress,
        onSent,
        onBehalfOf: caller = self,
      } = options;
      const toolCallId = givenId ?? newId();
      if (!Number.isFinite(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS) {
        throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot call "${name}" with a timeout of ${timeoutMs} ms: expected 1 to ${MAX_TIMEOUT_MS}`);
      }
      if (toolCallId.length < 1 || toolCallId.length > 128) {
        throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot call "${name}": a toolCallId has 1 to 128 characters, this one has ${toolCallId.length}`);
      }
      const before = resumedById.get(toolCallId);
      const isOthers = before?.isOpen === true && (before.onBehalfOf ?? self) !== caller;
      if (calls.has(toolCallId) || isOthers) {
        throw new ToolError(
          ToolErrorCode.InvalidArguments,
          `Cannot call "${name}" as "${toolCallId}": a call with this id is out already. Wait for its answer.`,
        );
      }
      if (isClosed) throw new ToolError(ToolErrorCode.Unavailable, `Cannot call "${name}": this caller is closed`, { isRetryable: false });
      if (calls.size >= maxCallsInFlight) {
        throw new ToolError(
          ToolErrorCode.Overloaded,
          `Cannot call "${name}" now: "${agent}" has ${calls.size} calls without an answer, the most it may have. Wait for one to end.`,
          { retryAfterMs: 1_000 },
        );
      }
      const start = performance.now();
      const deadline = Math.min(start + timeoutMs, parent?.deadline ?? Number.POSITIVE_INFINITY);
      const request: ToolInvokeRequest = {
        toolCallId,
        toolName: name,
        arguments: argumentsText(name, args),
        sessionId: sessionId ?? null,
      };
      const cancelled = new LightAbort();
      const signals = signalsOf(options);
      const stopListening = signals.length === 0 ? undefined : cancelWith(cancelled, signals, name);
      /** Undefined for a call that joins one taken up: that one's end is the end. */
      const notes = before?.isOpen
        ? undefined
        : journal.asked({
            toolCallId,
            toolName: name,
            timeoutMs: Math.max(0, deadline - start),
            isNew: givenId === undefined,
            onBehalfOf: caller === self ? undefined : caller,
          });
      calls.set(toolCallId, cancelled);
      inFlight.add(1);
      try {
        const decision = policy === undefined ? undefined : decide(caller, policy, registry, name);
        const depth = parent === undefined ? 0 : (parent.depth ?? 0) + 1;
        const progress = onProgress === undefined ? ignoreProgress : noteFirst(onProgress, () => notes?.note(CallState.Running));
        if (journals !== undefined && notes !== undefined && (options.durable ?? !isRepeatSafe(registry.get(name)))) {
          const late = () => timeoutError(`"${name}"`, { mayHaveRun: false });
          const isNoted = await inTime(journal.written(notes), { signal: cancelled, leftMs: deadline - performance.now(), late });
          if (!isNoted && options.durable) throw notNoted(name);
        } else if (journals === undefined && options.durable) throw notNoted(name);
        const response = await calling.execute(request, { signal: cancelled, deadline, caller, decision, depth, progress, log, notes, onSent });
        notes?.note(CallState.Answered);
        if (options.keepAnswer && notes !== undefined) journal.keepAnswer(toolCallId, encodeReply(request, response).body);
        return response;
      } catch (error) {
        const toolError = toToolError(error, name);
        notes?.note(endOf(toolError), toolError.code);
        if (options.keepAnswer && notes !== undefined) journal.keepAnswer(toolCallId, encodeReply(request, toolError).body);
        throw toolError;
      } finally {
        stopListening?.();
        calls.delete(toolCallId);
        inFlight.add(-1);
        station.ended(toolCallId);
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      if (journals === undefined || results === "copy") {
        for (const call of calls.values())
          call.abort(new ToolError(ToolErrorCode.Cancelled, "The call was cancelled: its caller has ended", { details: { mayHaveRun: true } }));
      }
      await running.disposeAsync();
    },
  };
}

/** Of a tool that nobody has announced yet this is not known. */
const isRepeatSafe = (tool: ToolRegistration | undefined): boolean => tool !== undefined && (tool.readOnly || tool.idempotent);

function notNoted(name: string): ToolError {
  return new ToolError(ToolErrorCode.Unavailable, `"${name}" was not called: the journal that is to have the call first cannot be written. Try again later.`, {
    details: { mayHaveRun: false },
  });
}

/** What ends a call early besides its caller's own end. */
function signalsOf({ signal, parent }: CallOptions): readonly AbortSource[] {
  if (signal === undefined) return parent === undefined ? NONE : [parent.signal];
  return parent === undefined ? [signal] : [signal, parent.signal];
}

const NONE: readonly AbortSource[] = [];

/** When a tool may be there that a service says may come. */
const AWAITED_RETRY_MS = 2_000;

/** Cancels a call when one of the signals aborts, or at once if one has. @returns leaves the signals */
function cancelWith(call: LightAbort, signals: readonly AbortSource[], name: string): () => void {
  const details = { mayHaveRun: true };
  const leaves = signals.map((signal) =>
    onAbort(signal, () =>
      call.abort(new ToolError(ToolErrorCode.Cancelled, `The call of "${name}" was cancelled by its caller`, { cause: signal.reason, details })),
    ),
  );
  return () => {
    for (const leave of leaves) leave();
  };
}

/** Calls `note` before the first update is passed on. */
function noteFirst(onProgress: (update: ProgressUpdate) => void, note: () => void): (update: ProgressUpdate) => void {
  let isFirst = true;
  return (update) => {
    if (isFirst) note();
    isFirst = false;
    onProgress(update);
  };
}
