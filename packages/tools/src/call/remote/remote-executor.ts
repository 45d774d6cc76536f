import { type Attributes, trace } from "@opentelemetry/api";
import { LightAbort, onAbort } from "@rockbot/base";
import { type Bus, type Detour, HEALED_WITHIN_MS, messagingSpan, RequestTimeoutError } from "@rockbot/bus";
import {
  createEnvelope,
  type Envelope,
  encodeMessage,
  Header,
  Keep,
  MAX_REQUEST_BYTES,
  MCP_BRIDGE,
  mcpError,
  messages,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
  timeoutError,
} from "@rockbot/contracts";
import type { BlobStore } from "@rockbot/records/blobs";
import type { FileStore } from "@rockbot/records/files";
import { CallState } from "@rockbot/records/journal";
import type { ToolContext, ToolExecutor } from "../../define/tool-executor.ts";
import type { ToolDirectory } from "../../discover/tool-directory.ts";
import type { FoundTool } from "../../discover/tool-holders.ts";
import { inTime } from "../../layers/deadline.ts";
import { fileKeysFor, takesFiles } from "../../layers/files.ts";
import type { Identity } from "../../messages/identity.ts";
import { answerOf, misaddressed } from "../../messages/reply.ts";
import { leftAnswer } from "../left-answer.ts";
import { resultTopic, type Station, scriptResultTopic } from "./caller-station.ts";
import { overloaded, toCallError, unavailable } from "./remote-errors.ts";
import { sendCancel } from "./send-cancel.ts";

/** Its answers have a topic of their own. */
const SCRIPT_TOPIC = "script.invoke";

export interface RemoteExecutorOptions {
  readonly bus: Bus;
  /** The station of the caller's present name. */
  readonly station: () => Pick<Station, "address" | "requester" | "progress">;
  readonly directory: ToolDirectory;
  readonly identity: Identity;
  /** Where services leave large results. */
  readonly blobs: BlobStore | undefined;
  /** The files of callers. */
  readonly files: FileStore | undefined;
  readonly source: string;
}

/**
 * The part of the bytes of all headers. What is left behind under more may use no tool, as nobody can read what it
 * could.
 */
const MAX_GRANT_BYTES = 12 * 1024;
const TOO_LONG = "too long";
/** How long no call is asked by a fast lane from which nobody takes. */
const AVOIDED_MS = 30_000;

/** A tool of a service. */
export interface RemoteTool extends ToolExecutor {
  /**
   * Sends a request whose answer is waited for already, at the address of a caller's station. Resolves once the bus has
   * it.
   * @throws {ToolError} if nobody serves the tool @throws what Bus.publish throws
   */
  send(
    request: ToolInvokeRequest,
    context: ToolContext,
    options: { readonly address: string; readonly isWanted: () => boolean },
  ): Promise<void>;
}

/**
 * Runs a tool that is served on the bus: publishes the call, waits for the answer, and cancels the call when it gives
 * up. Ends by the deadline, and when it is aborted, also if the bus and the service are gone.
 */
export function remoteExecutor(tool: FoundTool, options: RemoteExecutorOptions): RemoteTool {
  return new RemoteExecutor(tool, options);
}

class RemoteExecutor implements RemoteTool {
  readonly #tool: FoundTool;
  readonly #options: RemoteExecutorOptions;
  readonly #self: string;
  readonly #hop: Attributes;
  readonly #takesFiles: boolean;
  /** Nobody has taken calls from the fast lane of late: until this moment none is asked by it. */
  #durableUntil = Number.NEGATIVE_INFINITY;

  constructor(tool: FoundTool, options: RemoteExecutorOptions) {
    this.#tool = tool;
    this.#options = options;
    this.#self = options.identity.callerNamed(options.source);
    this.#takesFiles = takesFiles(tool.parametersSchema);
    this.#hop = messagingSpan(options.bus, "send", tool.topic);
  }

  async execute(request: ToolInvokeRequest, asked: ToolContext): Promise<ToolInvokeResponse> {
    const naming = this.#naming(request, asked);
    const context = naming === undefined ? asked : await naming;
    const { station, directory, identity, blobs } = this.#options;
    const tool = this.#tool;
    const { deadline, caller, notes, acceptBlob, onSent } = context;
    const body = this.#encode(request);
    context.signal.throwIfAborted();
    const sentAhead = this.#mayGoAhead(context) ? new SentAhead(context, tool, directory) : undefined;
    const waiting = sentAhead === undefined ? this.#served(context) : undefined;
    if (waiting !== undefined) await waiting;
    const { signal } = sentAhead ?? context;
    const { toolCallId } = request;
    const { address, requester, progress: heard } = station();
    let answer: ToolInvokeResponse | ToolError | undefined;
    let reply: Envelope | undefined;
    let isMisaddressed = false;
    let updates = 0;
    try {
      const message = this.#envelopeOf(toolCallId, body, address, context);
      onSent?.();
      const askedAt = performance.now();
      trace.getActiveSpan()?.setAttributes(this.#hop);
      const answered = requester.request(message, {
        timeoutMs: Math.max(1, Math.floor(deadline - askedAt)),
        offerAgainMs: HEALED_WITHIN_MS, // the service is there: only what leads to it is gone
        signal,
        onConfirmed: () => notes?.note(CallState.Accepted),
        durably: this.#mayGoFast(context)
          ? (why) => this.#envelopeOf(toolCallId, body, address, this.#detour(context, why, askedAt))
          : undefined,
        accept(received) {
          if (!identity.isFrom(tool.service, received, "result")) return false;
          if (received.headers[Header.Lane] === "durable") return "again";
          answer = answerOf(received, request);
          if (answer === undefined) isMisaddressed = true;
          else notes?.servedBy(tool.service, received.headers);
          updates = Number(received.headers[Header.Progress] ?? 0);
          reply = received;
          return answer !== undefined;
        },
      });
      sentAhead?.look();
      await answered;
    } catch (error) {
      if (signal.aborted || (error instanceof RequestTimeoutError && context.keep === undefined))
        this.#cancel(toolCallId, caller, signal.aborted ? "the caller gave it up" : "its deadline is over");
      throw isMisaddressed && error instanceof RequestTimeoutError
        ? misaddressed(tool.name, error)
        : toCallError(tool, error);
    } finally {
      sentAhead?.end();
    }
    directory.sawAlive(tool);
    if (updates > 0) await heard.heardAll(toolCallId, updates);
    if (answer instanceof ToolError) throw tool.service === MCP_BRIDGE ? mcpError(answer, tool.trust == null) : answer; // one of today labels its tools
    const left = leftAnswer(reply as unknown as Envelope, request, {
      store: blobs,
      capability: acceptBlob,
      deadline,
      signal: context.signal,
    });
    return left ?? (answer as ToolInvokeResponse);
  }

  /** A request of a read-only tool may lie at the broker when its call has ended: it has no effect if it is run. */
  #mayGoAhead({ deadline }: ToolContext): boolean {
    const { bus, directory } = this.#options;
    const { readOnly = false } = this.#tool;
    return readOnly && !bus.isBlocked && deadline > performance.now() && directory.isOnlyHeard(this.#tool);
  }

  /** One that may have been taken before, or that is to run without its caller, is for the durable way. */
  #mayGoFast({ maybeTakenSince, keep, notes }: ToolContext): boolean {
    const { fast = false, readOnly = false } = this.#tool;
    const isAwaited = maybeTakenSince === undefined && (keep === undefined || keep === Keep.IfParked);
    if (!fast || !readOnly || !isAwaited || performance.now() < this.#durableUntil) return false;
    notes?.wentBy("fast");
    return true;
  }

  /** A call leaves the fast lane. */
  #detour(context: ToolContext, why: Detour, askedAt: number): ToolContext {
    context.notes?.wentBy("fast_then_durable");
    if (why === "maybe_taken") return { ...context, maybeTakenSince: askedAt };
    this.#durableUntil = performance.now() + AVOIDED_MS;
    return context;
  }

  async send(
    request: ToolInvokeRequest,
    asked: ToolContext,
    { address, isWanted }: { readonly address: string; readonly isWanted: () => boolean },
  ): Promise<void> {
    const body = this.#encode(request);
    const context = (await this.#naming(request, asked)) ?? asked;
    await this.#served(context);
    const ttlMs = Math.floor(context.deadline - performance.now());
    if (ttlMs <= 0 || !isWanted()) return;
    const message = this.#envelopeOf(request.toolCallId, body, address, context);
    const options = { mandatory: true, offerAgainMs: HEALED_WITHIN_MS, timeoutMs: ttlMs, isWanted };
    await this.#options.bus.publish({ ...message, replyTo: message.replyTo ?? resultTopic(address), ttlMs }, options);
  }

  /**
   * The context with the keys of the files that the request names. A call that names an untrusted one is marked.
   * @returns undefined if it names none, or the tool takes none
   */
  #naming({ arguments: args }: ToolInvokeRequest, context: ToolContext): Promise<ToolContext> | undefined {
    const { files } = this.#options;
    if (files === undefined || args == null || !args.includes("file_") || !this.#takesFiles) return undefined;
    const { signal, deadline, caller } = context;
    const late = () => timeoutError(`"${this.#tool.name}"`, { mayHaveRun: false });
    return inTime(fileKeysFor(files, caller, args), { signal, leftMs: deadline - performance.now(), late }).then(
      (named) =>
        named === undefined
          ? context
          : {
              ...context,
              fileKeys: named.fileKeys,
              hasReadUntrusted: context.hasReadUntrusted === true || named.hasReadUntrusted,
            },
    );
  }

  /** Headers that say for whom the call is made, if that is not whom the service sees anyway. */
  #sayFor(caller: string): Record<string, string> {
    return caller === this.#self ? {} : { [Header.OnBehalfOf]: caller };
  }

  #cancel(toolCallId: string, caller: string, reason: string): void {
    const { bus, source } = this.#options;
    const onBehalfOf = caller === this.#self ? undefined : caller;
    const cancel = { service: this.#tool.service, toolCallId, source, onBehalfOf, reason };
    sendCancel(bus, cancel).catch(() => {}); // the deadline ends the call anyway
  }

  /**
   * Resolves once an instance is known to serve the tool. Undefined if that is known already.
   * @throws {ToolError} if none does, or the time is over
   */
  #served({ signal, deadline }: ToolContext): Promise<void> | undefined {
    const { bus, directory } = this.#options;
    const tool = this.#tool;
    if (bus.isBlocked) throw overloaded(tool, "the message bus is short of memory or disk and takes no messages");
    const isServed = directory.isServed(tool);
    const late = () => timeoutError(`"${tool.name}"`, { mayHaveRun: false });
    const leftMs = deadline - performance.now();
    if (isServed === false) throw unavailable(tool);
    if (leftMs <= 0) throw late();
    if (isServed === true) return undefined;
    return inTime(isServed, { signal, leftMs, late }).then((isThere) => {
      if (!isThere) throw unavailable(tool);
      if (deadline <= performance.now()) throw late();
    });
  }

  #encode(request: ToolInvokeRequest): Uint8Array {
    const body = encodeMessage("ToolInvokeRequest", request);
    if (body.byteLength <= MAX_REQUEST_BYTES) return body;
    throw new ToolError(
      ToolErrorCode.TooLarge,
      `Cannot call "${this.#tool.name}": the request has ${body.byteLength} bytes, at most ${MAX_REQUEST_BYTES} are carried`,
    );
  }

  /** The request as it is published. @param address of the caller's station */
  #envelopeOf(toolCallId: string, body: Uint8Array, address: string, context: ToolContext): Envelope {
    const {
      caller,
      operator,
      depth = 0,
      hasReadUntrusted,
      grant,
      acceptBlob,
      fileKeys,
      progress,
      maybeTakenSince,
      keep,
      asksCaller,
    } = context;
    const { topic } = this.#tool;
    const headers = this.#sayFor(caller);
    if (operator !== undefined) headers[Header.Operator] = operator;
    if (depth > 0) headers[Header.Depth] = String(depth);
    if (acceptBlob !== undefined) headers[Header.AcceptBlob] = acceptBlob;
    if (fileKeys !== undefined) headers[Header.Files] = fileKeys;
    if (hasReadUntrusted) headers[Header.Untrusted] = "true";
    if (grant !== undefined) headers[Header.Grant] = Buffer.byteLength(grant) > MAX_GRANT_BYTES ? TOO_LONG : grant;
    if (progress !== ignoreProgress) headers[Header.Progress] = "1";
    if (keep !== undefined) headers[Header.Keep] = keep;
    if (asksCaller) headers[Header.Asks] = "caller";
    if (maybeTakenSince !== undefined)
      headers[Header.AgeMs] = String(Math.ceil(Math.max(0, performance.now() - maybeTakenSince)));
    return createEnvelope({
      topic,
      type: messages.ToolInvokeRequest.type,
      source: this.#options.source,
      body,
      replyTo: topic === SCRIPT_TOPIC ? scriptResultTopic(address) : undefined,
      messageId: toolCallId,
      correlationId: toolCallId,
      headers,
    });
  }
}

/**
 * A call that is sent on its service's word that it is there, before the bus is asked. It ends if the service was not
 * there. One whose service dies later goes on: another instance gets it.
 */
class SentAhead {
  readonly signal = new LightAbort();
  readonly #isServed: () => boolean | Promise<boolean>;
  readonly #tool: FoundTool;
  readonly #leave: () => void;

  constructor({ signal }: Pick<ToolContext, "signal">, tool: FoundTool, directory: ToolDirectory) {
    this.#isServed = () => directory.isServed(tool);
    this.#tool = tool;
    this.#leave = onAbort(signal, () => this.signal.abort(signal.reason));
  }

  /** Asks the bus once it has the request, which would come later by the time that the question takes. */
  look(): void {
    setImmediate(async () => {
      if (!(await this.#isServed())) this.signal.abort(unavailable(this.#tool));
    });
  }

  end(): void {
    this.#leave();
  }
}

/** The value that a caller passes who wants no progress. */
export const ignoreProgress = (): void => {};
