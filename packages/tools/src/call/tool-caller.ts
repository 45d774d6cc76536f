import { metrics } from "@opentelemetry/api";
import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import {
  checkName,
  type Envelope,
  isInstanceNumber,
  MAX_INSTANCES,
  newId,
  ToolError,
  ToolErrorCode,
  type ToolGuide,
  type ToolInvokeResponse,
} from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import type { BlobStore } from "@rockbot/records/blobs";
import type { FileStore } from "@rockbot/records/files";
import { CallJournal, type JournalStore } from "@rockbot/records/journal";
import type { RunKey } from "@rockbot/runs";
import type { ToolRegistration, ToolRegistry } from "../define/tool-registry.ts";
import type { Discovery, HeardService, InstanceReport } from "../discover/tool-directory.ts";
import { MAX_CALLS_IN_FLIGHT } from "../limits.ts";
import { createIdentity } from "../messages/identity.ts";
import { MessageMeter } from "../messages/message-meter.ts";
import { decodeReply } from "../messages/reply.ts";
import type { CallOptions } from "./call-options.ts";
import { CallableTools } from "./find/callable-tools.ts";
import { findingExecutor } from "./find/finding-executor.ts";
import { OutgoingCalls } from "./outgoing-calls.ts";
import type { StationOptions } from "./remote/caller-station.ts";
import { type HeldStation, holdStation } from "./remote/held-station.ts";
import { sendCancel } from "./remote/send-cancel.ts";
import { type ResumedCall, resumeCalls } from "./resume-calls.ts";
import { sendTakenUp } from "./send-taken-up.ts";

/** As which agent a caller calls, and what it uses of the process around it. */
export interface ToolCallerOptions {
  /**
   * The agent that calls: the name in its result topic and, where nobody verifies senders, its identity.
   * `^[a-z0-9][a-z0-9-]{0,38}$`.
   */
  readonly agent: string;
  /**
   * Tells processes of one agent apart: a restarted process with the same name finds its answers. Same grammar.
   * @default for "result" one leased from `journals`, or without them none for the first process and a random one for
   * others; random for "copy"
   */
  readonly instance?: string | undefined;
  /**
   * `result` lets answers wait for this agent while it is away (a service), `copy` ends them with it (a one-shot
   * command).
   * @default "result"
   */
  readonly results?: "result" | "copy" | undefined;
  /**
   * Where the journal of calls outlives this process, so that the next one takes up what this one had out.
   * @default nowhere
   */
  readonly journals?: JournalStore | undefined;
  /** Calls without an answer at a time; one more is refused as `overloaded`. @default 256 */
  readonly maxCallsInFlight?: number | undefined;
  /**
   * The rights of callers. A tool that this agent may not use is not listed, and a call of it is refused before it is
   * sent. The services decide for themselves. Where the bus verifies senders, it also says whose announcements and
   * results are taken. @default all is listed
   */
  readonly policy?: PolicyHolder | undefined;
  /**
   * Where services leave results that are too large for the bus; it is their store, too.
   * @default such results are refused
   */
  readonly blobs?: BlobStore | undefined;
  /** The files of callers: a call that names one gives its service the key. @default no file can be named */
  readonly files?: FileStore | undefined;
  readonly log?: Logger | undefined;
}

/** The calling side: finds the tools that are served on a bus, and calls them. */
export interface ToolCaller extends AsyncDisposable {
  /** On whose behalf its calls are, unless they say so. */
  readonly agent: string;
  /** The tools that can be called now: those announced on the bus, and the two guide tools. */
  readonly tools: ToolRegistry;
  /** The tools that the caller on whose behalf calls are made here may use. */
  toolsOf(caller: string): readonly ToolRegistration[];
  /** The one of them that has a name, found without a look at the others. */
  findTool(name: string, caller: string): ToolRegistration | undefined;
  /**
   * The guides of the services of which a caller may use a tool, sorted by name, once discovery is over.
   * @param by on whose behalf calls are made; the agent itself by default
   */
  getGuides(by?: string): Promise<readonly ToolGuide[]>;
  /** The guides that are about a tool: those of its service, once discovery is over. For operators: no caller is asked for. */
  guidesOf(tool: string): Promise<readonly ToolGuide[]>;
  /**
   * Puts a guide for tools of this process beside the announced ones.
   * @param tool those who may use it read the guide; everybody if left out
   */
  addGuide(guide: ToolGuide, tool?: string): void;
  /** What a service's first guide says of it in a sentence. */
  summaryOf(service: string): string | undefined;
  /**
   * Resolves with the tools known by then, once the services that are there have answered and their lists are here. It
   * waits for a list at most 5 seconds from when the list is known of. Lists that are missing are asked for until they
   * come.
   */
  discovered(): Promise<Discovery>;
  /** For operators: the services that are there, and those that have left within the last hour, sorted by name. */
  services(): Promise<readonly HeardService[]>;
  /** The last words of a service's instances on themselves, for operators. Asks nobody. */
  reports(): ReadonlyMap<string, readonly InstanceReport[]>;
  /** For operators: every tool that is announced, or of this process, for all callers. */
  knownTools(): readonly ToolRegistration[];
  /**
   * For operators: cancels a call of this caller, in somebody's name.
   * @returns false if no call of that id is out
   */
  cancel(toolCallId: string, by: string): boolean;
  /**
   * Cancels a call that its service keeps: one that waits for people, or runs detached. Resolves once the bus has the
   * message; the run says what becomes of it.
   * @param call its caller is this one, or one that this delegate calls for
   * @throws what Bus.publish throws
   */
  withdraw(call: RunKey): Promise<void>;
  /** The names of tools that wait for an operator, of those that a caller may use. */
  heldFrom(caller: string): readonly string[];
  /** True if a service says that tools whose names begin so may come, as their server is being connected. */
  awaits(toolName: string): boolean;
  /**
   * Calls a tool. Settles once, by the deadline + 500 ms.
   * @param args the arguments: an object, or a JSON object as text
   * @throws {ToolError} if the call failed. A tool that reports a failure of its own gives a response with `isError`.
   */
  call(name: string, args: object | string | undefined, options?: CallOptions): Promise<ToolInvokeResponse>;
  /**
   * The calls that an earlier process of this caller had out when it ended, each with its answer. The answer comes by
   * the call's deadline, or shortly after the start if that is over. A call under the id of one that is out joins it.
   * They are listed until 15 minutes after their answer.
   */
  readonly resumed: readonly ResumedCall[];
  /** The calls of this caller that the journal remembers. */
  readonly journal: Pick<CallJournal, "find" | "recent" | "here" | "shared" | "keptHere">;
  /** How a call ended, if its answer is kept: `keepAnswer`, and all that were resumed. */
  getAnswer(toolCallId: string): Promise<ToolInvokeResponse | ToolError | undefined>;
}

// Long because: it is the list of a caller's parts, in the order in which they start
/**
 * Resolves once the caller listens for announcements. Answers are subscribed to with the first call, or at once if an
 * earlier process had calls out. A caller without `instance` and `journals` subscribes at once, too, to see whether its
 * agent's name is free. Disposal cancels the calls that are out, unless a journal keeps them: then they are left for
 * the next process to take up.
 * @throws {RangeError} if a name is not one that we may create, or maxCallsInFlight no positive whole number
 */
export async function createToolCaller(bus: Bus, options: ToolCallerOptions): Promise<ToolCaller> {
  const {
    agent,
    results = "result",
    journals,
    maxCallsInFlight = MAX_CALLS_IN_FLIGHT,
    policy,
    blobs,
    files,
    log = silentLogger,
  } = options;
  const { instance = results === "copy" ? newId().slice(0, 12) : undefined } = options;
  checkCaller(bus, { agent, results, instance, maxCallsInFlight });
  const identity = createIdentity(bus, policy);
  const self = identity.callerNamed(agent);
  /** True if the next process of this caller takes up the open calls of this one. */
  const isTakenUp = journals !== undefined && results !== "copy";

  await using stack = new AsyncDisposableStack();
  const onStray = strayCounter((correlationId) => journal.answeredLate(correlationId));
  const isGenuineProgress = (toolName: string, message: Envelope): boolean => {
    const service = tools.directory.holderOf(toolName);
    return service !== undefined && identity.isFrom(service, message, "progress");
  };
  const messageMeter = new MessageMeter({ policy, log });
  const stationOptions: StationOptions = {
    agent,
    instance,
    results,
    journals,
    log,
    isGenuineProgress,
    messageMeter,
    onStray,
  };
  const keep = policy === undefined ? undefined : (tool: string) => policy.current().keptOf(tool);
  const journal = new CallJournal({ caller: agent, store: journals, keep, log }); // answers to earlier calls may come while the station is being opened
  const station: HeldStation = stack.use(await holdStation(bus, stationOptions, (address) => journal.moveTo(address)));
  stack.use(journal); // closed before the station, whose end is no end of the calls that are left to the next process
  const { address, requester } = station.current;
  const resumed = await resumeCalls({
    caller: address,
    store: isTakenUp ? journals : undefined,
    requester,
    journal,
    identity,
    blobs,
    log,
  });
  const tools: CallableTools = stack.use(
    new CallableTools(bus, { agent, self, identity, policy, blobs, files, station: () => station.current, log }),
  );
  await tools.open();
  resumed.sendAgain(sendTakenUp({ tools, self, log }));

  const calls = new OutgoingCalls({
    agent,
    self,
    maxCallsInFlight,
    executor: findingExecutor({ tools, resumed, station }),
    registry: tools.registry,
    policy,
    journal,
    isJournalKept: journals !== undefined,
    acceptsBlobs: blobs !== undefined,
    resumed,
    onEnded: (toolCallId) => station.ended(toolCallId),
    log,
  });
  const running = stack.move();
  return {
    agent: self,
    tools: tools.usable,
    toolsOf: (caller) => tools.of(caller),
    findTool: (name, caller) => tools.find(name, caller),
    get resumed() {
      return resumed.all;
    },
    journal,
    getGuides: (by = self) => tools.guidesFor(by),
    guidesOf: (tool) => tools.guidesOf(tool),
    addGuide: (guide, tool) => tools.addGuide(guide, tool),
    summaryOf: (service) => tools.directory.summaryOf(service),
    discovered: () => tools.directory.discovered(),
    services: () => tools.directory.heard(),
    reports: () => tools.directory.reports(),
    knownTools: () => tools.registry.getTools(),
    cancel: (toolCallId, by) => calls.cancel(toolCallId, by),
    async withdraw({ service, caller, toolCallId }) {
      const onBehalfOf = caller === self ? undefined : caller;
      await sendCancel(bus, { service, toolCallId, source: agent, onBehalfOf, reason: "its caller gave it up" });
    },
    heldFrom: (by) => tools.heldFrom(by),
    awaits: (toolName) => tools.directory.awaits(toolName),
    getAnswer: (toolCallId) =>
      journal.answer(toolCallId).then((bytes) => (bytes === undefined ? undefined : decodeReply(bytes))),
    call: (name, args, callOptions = {}) => calls.call(name, args, callOptions),
    async [Symbol.asyncDispose]() {
      calls.close(isTakenUp ? undefined : callerHasEnded);
      await running.disposeAsync();
    },
  };
}

/** @throws {RangeError} */
function checkCaller(
  bus: Bus,
  {
    agent,
    instance,
    results,
    maxCallsInFlight,
  }: Required<Pick<ToolCallerOptions, "agent" | "instance" | "results" | "maxCallsInFlight">>,
) {
  checkName("an agent's name", agent);
  if (instance !== undefined) checkName("an instance's name", instance);
  if (instance !== undefined && results === "result" && bus.traits.verifiesSender && !isInstanceNumber(instance)) {
    throw new RangeError(
      `Cannot call tools as "${agent}": where senders are verified an instance is a number from 0 to ${MAX_INSTANCES - 1}, got "${instance}"`,
    );
  }
  if (!Number.isSafeInteger(maxCallsInFlight) || Number(maxCallsInFlight) < 1) {
    throw new RangeError(
      `Cannot call tools as "${agent}": maxCallsInFlight must be a positive whole number, got ${maxCallsInFlight}`,
    );
  }
}

/** Counts answers that no call waits for. @param onNamed gets the ids of those that name a call */
function strayCounter(onNamed: (correlationId: string) => void): (correlationId: string | undefined) => void {
  const strays = metrics.getMeter("@rockbot/tools").createCounter("rockbot.tool.results.stray", {
    description: "Answers that no call waits for: late, repeated or forged.",
  });
  return (correlationId) => {
    strays.add(1);
    if (correlationId !== undefined) onNamed(correlationId);
  };
}

const callerHasEnded = (): ToolError =>
  new ToolError(ToolErrorCode.Cancelled, "The call was cancelled: its caller has ended", {
    details: { mayHaveRun: true },
  });
