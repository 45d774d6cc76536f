import { setTimeout as sleep } from "node:timers/promises";
import { metrics } from "@opentelemetry/api";
import { ProblemCode, watchProblem, within } from "@rockbot/base";
import { createRedactor } from "@rockbot/base/redaction";
import { type Logger, silentLogger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { AskedError } from "@rockbot/tools";
import { callError, isLost, isRefusedUnseen, isTimeOut, mayBeForgotten, sessionLost } from "./call/call-error.ts";
import { CallLimit, type CallLimitOptions } from "./call/call-limit.ts";
import { callResult, type McpCallResult } from "./call/call-result.ts";
import { followTask } from "./call/follow-task.ts";
import { NotSentError } from "./call/not-sent-error.ts";
import { withSchemaFault } from "./call/schema-fault.ts";
import { TimeOutBreaker } from "./call/time-out-breaker.ts";
import {
  ConnectError,
  connectMcp,
  type KnownPeer,
  type McpCallOptions,
  type McpConnection,
  type McpTask,
  type TaskMethod,
} from "./connect-mcp.ts";
import type { LeftOut } from "./incoming/listing.ts";
import { structuredOf } from "./incoming/readable-result.ts";
import { ServerLog } from "./incoming/server-log.ts";
import { type Instructions, OfferedTools, type ToolScreen } from "./offered-tools.ts";
import type { McpServerAddress, McpTool } from "./server-options.ts";
import { ServerWatch, WATCH_TIMES, type WatchTimes } from "./server-watch.ts";
import { type ToolFilterOptions, toolFilter } from "./tool-filter.ts";

/** The name, the address and the bounds of an MCP server. */
export interface McpServerOptions extends ToolFilterOptions {
  /** How it is called here, whatever it calls itself. */
  readonly name: string;
  readonly address: McpServerAddress;
  /** Texts that stand in no error and no log, such as tokens. */
  readonly secrets?: readonly string[] | undefined;
  /** The time for the process to start and for the handshake. @default 30_000 */
  readonly connectTimeoutMs?: number | undefined;
  /** No call of this server takes longer. @default what each call's own deadline says */
  readonly requestTimeoutMs?: number | undefined;
  /** Calls that run at once, and that wait. @default as many as come */
  readonly queue?: CallLimitOptions | undefined;
  /** True to believe its annotations: which tools change nothing, and which may be repeated. @default false */
  readonly trustsAnnotations?: boolean | undefined;
}

/** The parts of the process that an MCP server uses. */
export interface McpServerParts {
  readonly log?: Logger | undefined;
  /** Instead of the server's own: of servers that share one. */
  readonly limit?: CallLimit | undefined;
  /** Waits for a turn to connect: bounds how many servers start at once. @default none */
  readonly admit?: ((signal: AbortSignal) => Promise<Disposable>) | undefined;
  /**
   * Decides which of the tools that it lists are offered, each time it lists them and by `screenAgain`.
   * @default all
   */
  readonly screen?: ToolScreen | undefined;
  /** Asked for each message: true to write it to the log. @default none does */
  readonly isTraced?: (() => boolean) | undefined;
  /** Says why a tool that does not pass the screen is not called. @default in words that fit any */
  readonly refusal?: ((toolName: string) => ToolError | undefined) | undefined;
  /**
   * The waits before each attempt to connect, in milliseconds; the last one holds for all further ones.
   * @default 0, 1, 2, 5, 10, 30 and 60 s
   */
  readonly backOffMs?: readonly number[] | undefined;
  /** When a server that says nothing is looked at. @default 10 s after a call was sent, else 30 s */
  readonly watch?: WatchTimes | undefined;
}

/**
 * How a server stands. `busy`: it is connected, works on something, and answers nothing meanwhile. `failing`: it waits
 * for its next attempt. `broken`: so many attempts have failed that calls are refused at once.
 */
export type McpServerState = "connecting" | "ready" | "busy" | "failing" | "broken" | "stopped";

/** The state of an MCP server, for operators. */
export interface McpServerHealth {
  readonly name: string;
  readonly state: McpServerState;
  readonly transport: string;
  /** The version of the connection there is, or was last. */
  readonly protocolVersion: string | undefined;
  readonly tools: number;
  /**
   * The tools that it lists and that are not offered, as each is slightly wrong, too much, or for apps only. Texts are
   * a stranger's, cleaned.
   */
  readonly leftOut: readonly LeftOut[];
  /** Attempts and connections that failed since the last call that succeeded. */
  readonly failures: number;
  /** Why the last attempt or connection failed, and what its process said. For the operator only. */
  readonly lastFailure: string | undefined;
  readonly nextAttemptInMs: number | undefined;
}

/** A call, and when it ends at the latest. */
interface CallWithin extends Omit<McpCallOptions, "timeoutMs"> {
  readonly deadline: number;
}

const BACK_OFF_MS = [0, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000];
/** From so many failures in a row on, a call does not wait for the next attempt. */
const BROKEN_AFTER = 5;
/** A call waits this long for a server that is being connected. */
const READY_WAIT_MS = 10_000;
const LIST_TIMEOUT_MS = 60_000;
/** For the question whether the server knows the session still. */
const PING_MS = 5_000;
/** The timeout of one question about a task, and of its cancellation. */
const TASK_TIMEOUT_MS = 15_000;
const CANCEL_TASK_MS = 5_000;
/** A call that is ended so shortly before its deadline had all its time. */
const LATE_MS = 50;
/** Lists are read again so often although no notification of a change came. */
const LIST_AGAIN_MS = 5 * 60_000;
/** A connection that has lasted this long has succeeded. */
const STABLE_MS = 60_000;
/** Callers that ask to look again could else keep a server from ever being left alone. */
const REFRESH_INTERVAL_MS = 5_000;
/** The most left-out tools that a line of the log names. */
const MAX_LOGGED = 20;
const MAX_FAILURE_TEXT = 2_000;

/**
 * One MCP server, kept connected until the disposal of this object. A connection that ends or fails is made again,
 * after waits that grow. A call is sent once more, over the next connection, if it has certainly not reached the
 * server. One over which the connection or the session was lost is sent once more only if its tool may be repeated. The
 * server says that of a tool, and is believed if it is trusted with it.
 */
export class McpServer implements AsyncDisposable {
  readonly name: string;
  readonly trustsAnnotations: boolean;
  readonly #options: McpServerOptions;
  readonly #parts: McpServerParts;
  readonly #log: Logger;
  readonly #secrets = createRedactor();
  readonly #serverLog: ServerLog;
  readonly #offered: OfferedTools;
  readonly #limit: CallLimit;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #run: Promise<void>;
  #state: McpServerState = "connecting";
  #connection: McpConnection | undefined;
  #known: KnownPeer | undefined;
  #failures = 0;
  #lastFailure: string | undefined;
  #nextAttemptAt: number | undefined;
  #protocolVersion: string | undefined;
  #leftOut: readonly LeftOut[] = [];
  readonly #closing = new Set<Promise<void>>();
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  /** Called when no call is in flight any more. */
  #idle = (): void => {};
  /** Ends the wait for the next attempt. */
  #tryNow = (): void => {};
  readonly #timeOuts = new TimeOutBreaker();
  readonly #watched = watchProblem(ProblemCode.BreakerOpen, () => this.#timeOuts.isOpen);
  #watch: ServerWatch | undefined;
  /** Ends the wait for the next look. */
  #lookNow = (): void => {};
  /** Resolves when the connection there is has ended or is given up. */
  #gone = Promise.withResolvers<void>();

  constructor(options: McpServerOptions, parts: McpServerParts = {}) {
    this.name = options.name;
    this.trustsAnnotations = options.trustsAnnotations ?? false;
    this.#options = options;
    this.#parts = parts;
    this.#log = parts.log ?? silentLogger;
    for (const secret of options.secrets ?? []) this.#secrets.register(secret);
    this.#serverLog = new ServerLog({
      server: options.name,
      log: this.#log,
      redact: this.#secrets.redact,
      isTraced: parts.isTraced,
    });
    this.#offered = new OfferedTools({
      isAllowed: toolFilter(options),
      screen: parts.screen,
      onChange: () => this.#changed(),
    });
    this.#limit = parts.limit ?? new CallLimit(options.queue);
    this.#run = this.#supervise();
  }

  /**
   * The tools it offers, as far as they are allowed here and pass the screen; of a server that is away, those it
   * offered last.
   */
  get tools(): readonly McpTool[] {
    return this.#offered.tools;
  }

  /** True if its offer is known, even an empty one; for a server that is away it stays true. */
  get isHeard(): boolean {
    return this.#offered.areKnown;
  }

  /** What it says of itself, as far as that passes the screen. */
  get instructions(): Instructions | undefined {
    return this.#offered.instructions;
  }

  get health(): McpServerHealth {
    const { address } = this.#options;
    return {
      name: this.name,
      state: this.#state,
      transport: this.#known?.type ?? address.type,
      protocolVersion: this.#protocolVersion,
      tools: this.tools.length,
      leftOut: this.#leftOut,
      failures: this.#failures,
      lastFailure: this.#lastFailure,
      nextAttemptInMs:
        this.#nextAttemptAt === undefined
          ? undefined
          : Math.max(0, Math.round(this.#nextAttemptAt - performance.now())),
    };
  }

  /** Calls `listener` whenever its tools or its state have changed, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Looks again, now: lists the tools anew if it is connected, else tries to connect without waiting any longer. Does
   * nothing shortly after it did.
   */
  async refresh(): Promise<void> {
    const now = performance.now();
    if (now - this.#refreshedAt < REFRESH_INTERVAL_MS) return;
    this.#refreshedAt = now;
    const connection = this.#connection;
    if (connection !== undefined)
      await this.#list(connection).catch((error: unknown) => this.#note("the list of tools cannot be read", error));
    else this.#tryNow();
  }

  /** The screen may let other tools pass by now: asks it once more. */
  async screenAgain(): Promise<void> {
    await this.#offered.screenAgain();
  }

  /** Why a tool of the name is not called now; undefined if it is among those that are offered. */
  refusalOf(toolName: string): ToolError | undefined {
    if (this.tools.some(({ name }) => name === toolName)) return undefined;
    const refusal = this.#parts.refusal?.(toolName);
    if (refusal !== undefined) return refusal;
    if (!this.isHeard) return this.#away(0);
    return new ToolError(
      ToolErrorCode.ToolNotFound,
      `The MCP server "${this.name}" offers no tool "${toolName.slice(0, 80)}" any more. Nothing was run.`,
      {
        details: { mayHaveRun: false },
      },
    );
  }

  /** Waits until no call is in flight, at most `drainMs` milliseconds, then ends as disposal does. */
  async retire(drainMs: number): Promise<void> {
    const idle = Promise.withResolvers<void>();
    this.#idle = idle.resolve;
    if (this.#inFlight > 0)
      await within(drainMs, idle.promise, () => new Error("calls are still in flight")).catch(() => {});
    await this[Symbol.asyncDispose]();
  }

  /**
   * Calls a tool, within the signal, the time and the server's limit. A call is not sent if its tool is not offered any
   * more by then. A server that was started anew may say something else of it. A task that the server makes of the call
   * is followed to its end, and counts in no limit meanwhile.
   * @throws {ToolError}
   */
  async callTool(
    tool: McpTool,
    args: Record<string, unknown>,
    { timeoutMs, ...options }: McpCallOptions,
  ): Promise<McpCallResult> {
    const until = performance.now() + timeoutMs;
    const deadline = Math.min(until, performance.now() + (this.#options.requestTimeoutMs ?? Number.POSITIVE_INFINITY));
    const known = options.task?.id;
    const begun =
      known === undefined ? await this.#callOnTurn(tool, args, { deadline, ...options }) : { taskId: known };
    return "taskId" in begun ? this.#follow(tool, begun.taskId, { deadline: until, ...options }) : begun;
  }

  /** Asks the server to cancel a task, whose call has ended. */
  async cancelTask(taskId: string): Promise<void> {
    await this.#askTask("tasks/cancel", { taskId }, { timeoutMs: CANCEL_TASK_MS });
  }

  async #callOnTurn(
    tool: McpTool,
    args: Record<string, unknown>,
    options: CallWithin,
  ): Promise<McpCallResult | McpTask> {
    using _permit = await this.#limit.enter(this.name, options.signal);
    this.#inFlight++;
    try {
      return await this.#call(tool, args, options);
    } finally {
      this.#inFlight--;
      if (this.#inFlight === 0) this.#idle();
    }
  }

  async #follow(tool: McpTool, taskId: string, { signal, onProgress, ask, task }: CallWithin): Promise<McpCallResult> {
    const isKept = task?.id !== undefined || (await task?.note(taskId)) === true;
    try {
      const result = await followTask(taskId, {
        signal,
        onProgress,
        ask: isKept ? ask : undefined,
        wait: task?.wait,
        request: (method, params, within) =>
          this.#askTask(method, params, {
            signal: within,
            timeoutMs: method === "tasks/cancel" ? CANCEL_TASK_MS : TASK_TIMEOUT_MS,
          }),
      });
      return withSchemaFault(callResult(result), tool.outputSchema, structuredOf(result));
    } catch (error) {
      if (error instanceof AskedError || signal.aborted) throw error;
      throw callError(error, { server: this.name, tool: tool.name, redact: this.#secrets.redact });
    }
  }

  async #askTask(
    method: TaskMethod,
    params: object,
    {
      timeoutMs,
      signal = new AbortController().signal,
    }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<unknown> {
    const connection = await this.#ready(performance.now() + timeoutMs, signal);
    return await connection.askTask(method, params, { timeoutMs, signal });
  }

  async #call(
    tool: McpTool,
    args: Record<string, unknown>,
    { deadline, signal, onProgress, mayStart, ask, task }: CallWithin,
  ): Promise<McpCallResult | McpTask> {
    let lost: unknown;
    for (let attempt = 1; ; attempt++) {
      const connection = await this.#ready(deadline, signal).catch((error: unknown) => {
        throw lost ?? error; // it may have run before
      });
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw lost ?? this.#notStarted(tool);
      const refusal = this.refusalOf(tool.name) ?? this.#timeOuts.refusal(this.name, tool.name, leftMs);
      if (refusal !== undefined) throw lost ?? refusal;
      if (mayStart?.() === false) throw lost ?? this.#away(0);
      const sentAt = performance.now();
      using _out = this.#watch?.sent();
      try {
        const result = await connection.callTool(tool, args, {
          timeoutMs: Math.ceil(leftMs),
          signal,
          onProgress,
          ask,
          task,
        });
        this.#failures = 0;
        this.#timeOuts.answered(tool.name);
        return result;
      } catch (error) {
        if (error instanceof AskedError) throw error;
        const isLate = isTimeOut(error) || (signal.aborted && performance.now() >= deadline - LATE_MS);
        if (isLate) this.#timedOut(tool, leftMs, performance.now() - sentAt);
        else if (!signal.aborted) this.#timeOuts.answered(tool.name);
        if (signal.aborted) throw signal.reason;
        if (attempt === 1 && isRefusedUnseen(error)) {
          this.#lose(connection, error);
          continue;
        }
        const isRepeatSafe = isRepeatable(tool, this.trustsAnnotations);
        const call = { server: this.name, tool: tool.name, redact: this.#secrets.redact, isRepeatSafe };
        const failure = callError(error, call);
        const isForgotten = mayBeForgotten(error) && !(await this.#knowsUs(connection, deadline, signal));
        if (isForgotten) this.#lose(connection, error);
        if (attempt > 1 || !(isForgotten || isLost(error))) throw failure;
        if (!isRepeatSafe)
          throw isForgotten && (await this.#isBack(deadline, signal)) ? sessionLost(call, error) : failure;
        lost = failure;
      }
    }
  }

  /**
   * Tells whether the server still knows the session, by a request that changes nothing; a server that is silent counts
   * as knowing it.
   */
  async #knowsUs(connection: McpConnection, deadline: number, signal: AbortSignal): Promise<boolean> {
    const timeoutMs = Math.ceil(Math.min(PING_MS, deadline - performance.now()));
    if (timeoutMs <= 0) return true;
    return await connection.ping({ timeoutMs, signal }).then(
      () => true,
      (error: unknown) => !mayBeForgotten(error),
    );
  }

  /** Tells whether another session comes up in time: then the server had not refused our credentials. */
  async #isBack(deadline: number, signal: AbortSignal): Promise<boolean> {
    return await this.#ready(deadline, signal).then(
      () => true,
      () => false,
    );
  }

  #timedOut({ name }: McpTool, hadMs: number, afterMs: number): void {
    this.#timeOuts.timedOut(name, hadMs);
    if (this.#watch?.timedOut(afterMs)) this.#lookNow();
  }

  /** Ends the connection, and the server's process with all that it started. Calls in flight fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#watched[Symbol.dispose]();
    this.#stop.abort();
    this.#gone.resolve();
    await this.#run;
  }

  async #supervise(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#backOff();
      if (signal.aborted) break;
      this.#setState("connecting");
      await this.#connect();
      if (this.#connection !== undefined) await this.#stayConnected();
    }
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.[Symbol.asyncDispose]();
    await Promise.all(this.#closing);
    this.#setState("stopped");
  }

  async #backOff(): Promise<void> {
    const waits = this.#parts.backOffMs ?? BACK_OFF_MS;
    const waitMs = this.#failures === 0 ? 0 : (waits[Math.min(this.#failures - 1, waits.length - 1)] ?? 0);
    if (waitMs === 0) return;
    this.#nextAttemptAt = performance.now() + waitMs;
    this.#setState(this.#failures >= BROKEN_AFTER ? "broken" : "failing");
    const wake = new AbortController();
    this.#tryNow = () => wake.abort();
    await sleep(waitMs, undefined, { signal: AbortSignal.any([this.#stop.signal, wake.signal]), ref: false }).catch(
      () => {},
    );
    this.#nextAttemptAt = undefined;
  }

  async #connect(): Promise<void> {
    const { address, connectTimeoutMs = 30_000 } = this.#options;
    const { signal } = this.#stop;
    try {
      using _turn = await this.#parts.admit?.(signal);
      const gone = Promise.withResolvers<void>();
      let isGone = false;
      const connection = await connectMcp(address, {
        timeoutMs: connectTimeoutMs,
        signal,
        known: this.#known,
        onToolsChanged: () =>
          void this.#list(connection).catch((error: unknown) => this.#note("the list of tools cannot be read", error)),
        onLog: (params) => this.#serverLog.say(params),
        onFrame: (direction, message) => this.#serverLog.trace(direction, message),
        onClosed: (exit) => {
          if (this.#connection === connection) this.#fail("the connection was lost", exit);
          isGone = true;
          gone.resolve();
        },
      });
      try {
        await this.#list(connection);
        if (isGone) throw new NotSentError("the connection has ended");
      } catch (error) {
        this.#close(connection);
        throw error;
      }
      this.#known = connection.peer;
      this.#protocolVersion = connection.protocolVersion;
      this.#connection = connection;
      this.#gone = gone;
      this.#watch = new ServerWatch(connection, this.#parts.watch ?? WATCH_TIMES);
      this.#log.info(
        { server: this.name, protocolVersion: connection.protocolVersion, tools: this.tools.length },
        "connected to an MCP server",
      );
      this.#setState("ready");
    } catch (error) {
      if (signal.aborted) return;
      this.#known = undefined; // a server that was replaced may be of another era
      this.#fail("it cannot be connected", error);
    }
  }

  /** Until the connection ends or is given up. */
  async #stayConnected(): Promise<void> {
    const connection = this.#connection;
    const watch = this.#watch;
    const since = performance.now();
    let listedAt = since;
    const isOn = (): boolean =>
      connection !== undefined && this.#connection === connection && !this.#stop.signal.aborted;
    while (isOn() && connection !== undefined && watch !== undefined) {
      await this.#untilLook();
      if (performance.now() - since >= STABLE_MS) this.#failures = Math.min(this.#failures, 1);
      if (isOn() && watch.isDue) await this.#look(connection, watch);
      if (!isOn() || performance.now() - listedAt < LIST_AGAIN_MS) continue;
      listedAt = performance.now();
      await this.#list(connection).catch((error: unknown) => this.#note("the list of tools cannot be read", error));
    }
    if (connection !== undefined && this.#connection !== connection) this.#close(connection);
  }

  async #untilLook(): Promise<void> {
    const timer = new AbortController();
    const now = Promise.withResolvers<void>();
    this.#lookNow = now.resolve;
    const { lookMs } = this.#parts.watch ?? WATCH_TIMES;
    await Promise.race([
      sleep(lookMs, undefined, { signal: timer.signal, ref: false }).catch(() => {}),
      this.#gone.promise,
      now.promise,
    ]);
    timer.abort();
  }

  /** A server that says nothing is asked whether it lives; if it hangs, it is started or connected anew. */
  async #look(connection: McpConnection, watch: ServerWatch): Promise<void> {
    const liveness = await watch.look(this.#stop.signal);
    if (this.#connection !== connection || this.#stop.signal.aborted) return;
    if (liveness === "hung")
      this.#lose(connection, new Error("it answers neither a ping nor a question for its tools, and works on nothing"));
    else this.#setState(liveness === "busy" ? "busy" : "ready");
  }

  async #list(connection: McpConnection): Promise<void> {
    const { tools, leftOut } = await connection.listTools({ timeoutMs: LIST_TIMEOUT_MS, signal: this.#stop.signal });
    if (JSON.stringify(leftOut) !== JSON.stringify(this.#leftOut)) {
      this.#leftOut = leftOut;
      if (leftOut.length > 0)
        this.#log.warn(
          { server: this.name, leftOut: leftOut.slice(0, MAX_LOGGED) },
          'left out tools of an MCP server. "rockbot mcp ls" names them',
        );
    }
    await this.#offered.take(tools, connection.instructions);
  }

  #lose(connection: McpConnection, error: unknown): void {
    if (this.#connection !== connection) return;
    this.#fail("it does not take calls any more", error);
    this.#gone.resolve();
  }

  /** Ends a connection that is of no more use, while the next one is being made. */
  #close(connection: McpConnection): void {
    const closed = Promise.resolve(connection[Symbol.asyncDispose]()).finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }

  #fail(what: string, error: unknown): void {
    this.#connection = undefined;
    this.#watch = undefined;
    this.#failures++;
    this.#note(what, error);
    failureCounter().add(1, { server: this.name });
    this.#setState(this.#failures >= BROKEN_AFTER ? "broken" : "failing");
  }

  #note(what: string, error: unknown): void {
    const reason = error === undefined ? "" : `: ${error instanceof Error ? error.message : String(error)}`;
    const failure = this.#secrets.redact(`${what}${reason}`).slice(0, MAX_FAILURE_TEXT);
    const diagnosis = error instanceof ConnectError ? this.#secrets.redact(error.diagnosis ?? "") : "";
    // The end of what a program writes says why it ended.
    const said = diagnosis.length > MAX_FAILURE_TEXT ? `…${diagnosis.slice(-MAX_FAILURE_TEXT)}` : diagnosis;
    this.#lastFailure = said === "" ? failure : `${failure}\n${said}`;
    this.#log.warn({ server: this.name, failures: this.#failures, reason: this.#lastFailure }, "an MCP server failed");
  }

  /** The connection, once there is one. @throws {ToolError} */
  async #ready(deadline: number, signal: AbortSignal): Promise<McpConnection> {
    const giveUpAt = Math.min(deadline, performance.now() + READY_WAIT_MS);
    while (this.#connection === undefined || this.#state === "busy") {
      const waitMs = giveUpAt - performance.now();
      const attemptInMs = this.#nextAttemptAt === undefined ? 0 : this.#nextAttemptAt - performance.now();
      if (waitMs <= 0 || attemptInMs > waitMs || this.#state === "broken" || this.#state === "stopped")
        throw this.#away(Math.max(attemptInMs, 0));
      const changed = Promise.withResolvers<void>();
      const off = this.onChange(changed.resolve);
      const timer = new AbortController();
      try {
        await Promise.race([
          changed.promise,
          sleep(waitMs, undefined, { signal: AbortSignal.any([signal, timer.signal]) }),
        ]);
      } finally {
        timer.abort();
        off();
      }
      signal.throwIfAborted();
    }
    return this.#connection;
  }

  #notStarted(tool: McpTool): ToolError {
    return new ToolError(
      ToolErrorCode.Timeout,
      `"${tool.name}" of the MCP server "${this.name}" was not started in time`,
      { details: { mayHaveRun: false } },
    );
  }

  #away(nextAttemptInMs: number): ToolError {
    return serverAwayError({ name: this.name, nextAttemptInMs, state: this.#state });
  }

  #setState(state: McpServerState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#changed();
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/**
 * True if a call may be made again although it may have run: the server says so of its tool, and is trusted with that.
 */
export const isRepeatable = ({ annotations }: McpTool, isTrusted: boolean): boolean =>
  isTrusted && (annotations.readOnly || annotations.idempotent);

/** The error for a server that a call cannot be sent to now. */
export function serverAwayError({
  name,
  nextAttemptInMs = 0,
  state,
}: Pick<McpServerHealth, "name"> & Partial<McpServerHealth>): ToolError {
  const why = state === "busy" ? "works on earlier calls and answers nothing meanwhile" : "cannot be reached now";
  return new ToolError(
    ToolErrorCode.Unavailable,
    `The MCP server "${name}" ${why}. Nothing was run. Try again later.`,
    {
      retryAfterMs: Math.max(1_000, Math.round(nextAttemptInMs)),
      details: { mayHaveRun: false, reason: "server_away" },
    },
  );
}

const failureCounter = () =>
  metrics.getMeter("@rockbot/mcp").createCounter("rockbot.mcp.server.failures", {
    description: "Connections to MCP servers that failed or ended, by server.",
  });
