import { metrics } from "@opentelemetry/api";
import { type Bus, DeadLetterError, type Death, DEFAULT_CONCURRENCY, DEFAULT_DRAIN_MS, type Delivery, type Logger, RESULT_QUEUE_EXPIRES_MS, silentLogger, UnroutableError } from "@rockbot/bus";
import {
  checkName,
  createEnvelope,
  decodeMessage,
  encodeMessage,
  type Envelope,
  errorReply,
  Header,
  isReplyTopic,
  messages,
  nearestName,
  ToolError,
  ToolErrorCode,
  type ToolErrorMessage,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
} from "@rockbot/contracts";
import { announceTools, RESERVED_SERVICE } from "./announce-tools.ts";
import { withServingLayers } from "./layers.ts";
import { DEFAULT_TIMEOUT_MS, MAX_REQUEST_BYTES, MAX_RESULT_BYTES, MAX_TIMEOUT_MS } from "./limits.ts";
import { progressReporter } from "./progress-reporter.ts";
import { RunningCalls } from "./running-calls.ts";
import { toToolError } from "./to-tool-error.ts";
import type { ToolExecutor } from "./tool-executor.ts";
import type { ToolSet } from "./tool-set.ts";

export interface ServeToolsOptions {
  /** The service's name: its subscription, and its word in `tool.announce.{service}`. */
  readonly service: string;
  /** Where its requests come: `tool.invoke` for web-tools, `tool.invoke.{service}` for others. @default `tool.invoke.{service}` */
  readonly topic?: string | undefined;
  /** How many calls run at once. @default 32 */
  readonly concurrency?: number | undefined;
  /** How long disposal waits for running calls, in milliseconds. @default 20_000 */
  readonly drainMs?: number | undefined;
  readonly log?: Logger | undefined;
}

/** The reply topic of a request that names none, as in the original. */
const DEFAULT_REPLY_TOPIC = "tool.result";
/** An answer whose caller's deadline is over is still offered to the bus for this long. */
const LATE_PUBLISH_MS = 1_000;

/**
 * Serves tools from the bus. Each request is answered exactly once by this service, with a response or a ToolError; a
 * request that cannot be read and names nobody to answer is dead-lettered and counted. Resolves once calls are taken and
 * the tools are announced. Disposal says so, takes no new calls, and waits for the running ones; those that outlast the
 * drain time are aborted, unanswered, and go back to the bus.
 * @throws {RangeError} if the service's name is not one that we may create
 * @throws {TypeError} if the set has no guide or two tools of one name
 */
export async function serveTools(
  bus: Bus,
  { tools, guides }: ToolSet,
  { service, topic = `tool.invoke.${service}`, concurrency = DEFAULT_CONCURRENCY, drainMs = DEFAULT_DRAIN_MS, log = silentLogger }: ServeToolsOptions,
): Promise<AsyncDisposable> {
  if (checkName("a service's name", service) === RESERVED_SERVICE) throw new RangeError(`Cannot serve as "${service}": the name is reserved`);
  if (guides.length === 0) throw new TypeError(`Cannot serve "${service}": a tool set publishes at least one guide`);
  const executors = new Map<string, ToolExecutor>(tools.map((tool) => [tool.definition.name, withServingLayers(tool)]));
  if (executors.size !== tools.length) throw new TypeError(`Cannot serve "${service}": two of its tools have the same name`);

  const meter = metrics.getMeter("@rockbot/tools");
  const unreadable = meter.createCounter("rockbot.tool.requests.unreadable", { description: "Requests that are no ToolInvokeRequest, by what became of them." });
  const unrouted = meter.createCounter("rockbot.tool.results.unrouted", { description: "Answers whose caller has no queue any more." });
  const invocations = meter.createCounter("rockbot.tool.invocations");
  const running = new RunningCalls();

  async function handle(message: Envelope, delivery: Delivery): Promise<void> {
    const address = addressOf(message);
    const request = readRequest(message);
    if (request instanceof ToolError) {
      unreadable.add(1, { outcome: address === undefined ? "dead_lettered" : "answered" });
      if (address === undefined) throw new DeadLetterError(request.message);
      return answer(address, errorReply(guessCall(message), request), delivery.receivedAt);
    }
    if (address === undefined) {
      unreadable.add(1, { outcome: "dead_lettered" });
      throw new DeadLetterError(`Cannot answer on ${JSON.stringify(message.replyTo?.slice(0, 80))}: it is no topic for results`);
    }
    const caller = callerOf(message);
    const deadline = delivery.receivedAt + budgetMs(message);
    const executor = executors.get(request.toolName);
    if (executor === undefined) {
      invocations.add(1, { status: ToolErrorCode.ToolNotFound });
      return answer(address, errorReply(request, unknownTool(request.toolName)), deadline);
    }
    using call = running.start(caller, request.toolCallId, delivery.signal);
    await answer(address, await run(executor, request, { signal: call.signal, deadline, caller, topic: Header.Progress in message.headers ? address.topic : undefined }, delivery), deadline);
  }

  /** Never throws but when the service is stopping: then the bus gives the call to somebody else. */
  async function run(
    executor: ToolExecutor,
    request: ToolInvokeRequest,
    { signal, deadline, caller, topic }: { signal: AbortSignal; deadline: number; caller: string; topic: string | undefined },
    delivery: Delivery,
  ): Promise<Reply> {
    const progress = progressReporter(bus, service, request, topic);
    try {
      return await executor.execute(request, { signal, deadline, caller, progress: progress.report, log });
    } catch (error) {
      if (delivery.signal.aborted) throw error;
      const toolError = toToolError(error, request.toolName);
      if (toolError !== error) log.error({ toolName: request.toolName, toolCallId: request.toolCallId, error }, "tool failed unexpectedly");
      return errorReply(request, toolError);
    } finally {
      progress.end();
    }
  }

  function unknownTool(name: string): ToolError {
    const nearest = nearestName(name, [...executors.keys()]);
    return new ToolError(ToolErrorCode.ToolNotFound, `"${service}" has no tool "${name.slice(0, 80)}"${nearest === undefined ? "" : `; did you mean "${nearest}"?`}`);
  }

  async function answer(address: Address, reply: Reply, deadline: number): Promise<void> {
    let [type, body] = encodeReply(reply);
    if (body.byteLength > MAX_RESULT_BYTES) {
      const error = new ToolError(ToolErrorCode.TooLarge, `"${reply.toolName}" gave a result of ${body.byteLength} bytes, more than the ${MAX_RESULT_BYTES} that are carried. Ask for less.`);
      [type, body] = encodeReply(errorReply(reply, error));
    }
    const { topic, correlationId, destination } = address;
    try {
      await bus.publish(createEnvelope({ topic, type, source: service, body, correlationId, destination }), {
        mandatory: true,
        ttlMs: RESULT_QUEUE_EXPIRES_MS,
        timeoutMs: Math.max(LATE_PUBLISH_MS, deadline - performance.now()),
      });
    } catch (error) {
      if (!(error instanceof UnroutableError)) throw error; // not taken by the bus: the request comes again
      unrouted.add(1);
    }
  }

  async function answerDeadLetter(message: Envelope, death: Death): Promise<void> {
    const address = addressOf(message);
    if (address === undefined || death.reason === "rejected") return; // rejected: there was nobody to answer
    const error = new ToolError(ToolErrorCode.ExecutionFailed, `"${service}" gave up on the request after its handler ${death.reason} repeatedly. Do not repeat it unchanged.`, {
      details: { reason: death.reason, mayHaveRun: true },
    });
    const request = readRequest(message);
    await answer(address, errorReply(request instanceof ToolError ? guessCall(message) : request, error), performance.now());
  }

  await using started = new AsyncDisposableStack();
  started.use(
    await bus.subscribe({ name: `cancel.${service}`, topics: [`tool.cancel.${service}`], kind: "copy" }, async (message) => {
      const cancel = decodeMessage("ToolCancel", message.body);
      if (cancel.ok) running.cancel(callerOf(message), cancel.value.toolCallId, cancel.value.reason ?? "the caller gave it up");
    }),
  );
  started.use(await bus.subscribe({ name: service, topics: [topic], concurrency, drainMs, onDeadLetter: answerDeadLetter }, handle));
  started.use(
    await announceTools(bus, {
      service,
      guides,
      log,
      tools: tools.map(({ definition: { name, description, inputSchema, outputSchema, readOnly, idempotent } }) => ({
        name,
        description,
        parametersSchema: JSON.stringify(inputSchema),
        outputSchema: outputSchema === undefined ? null : JSON.stringify(outputSchema),
        topic,
        subscription: service,
        readOnly,
        idempotent,
      })),
    }),
  );
  return started.move();
}

type Reply = ToolInvokeResponse | ToolErrorMessage;

/** Where an answer goes. */
interface Address {
  readonly topic: string;
  readonly correlationId: string | undefined;
  readonly destination: string | undefined;
}

/** Undefined if the request names a topic that no answer may go to. */
function addressOf({ replyTo = DEFAULT_REPLY_TOPIC, correlationId, source }: Envelope): Address | undefined {
  return isReplyTopic(replyTo) ? { topic: replyTo, correlationId, destination: source } : undefined;
}

const callerOf = ({ userId, source }: Envelope): string => userId ?? source;

function readRequest(message: Envelope): ToolInvokeRequest | ToolError {
  if (message.body.byteLength > MAX_REQUEST_BYTES) {
    return new ToolError(ToolErrorCode.TooLarge, `The request has ${message.body.byteLength} bytes; at most ${MAX_REQUEST_BYTES} are taken`);
  }
  if (message.type.toLowerCase() !== messages.ToolInvokeRequest.type.toLowerCase()) {
    return new ToolError(ToolErrorCode.InvalidArguments, `Expected a message of type ${messages.ToolInvokeRequest.type}, got ${JSON.stringify(message.type.slice(0, 80))}`);
  }
  const decoded = decodeMessage("ToolInvokeRequest", message.body);
  if (decoded.ok) return decoded.value;
  return new ToolError(ToolErrorCode.InvalidArguments, decoded.fault.message, { details: { reason: decoded.fault.reason, faults: decoded.fault.faults } });
}

/** Ids for the answer to a request that cannot be read: what its body says as far as that can be used, else its correlation. */
function guessCall(message: Envelope): { toolCallId: string; toolName: string } {
  const fallback = { toolCallId: (message.correlationId ?? message.messageId).slice(0, 128), toolName: "unknown" };
  if (message.body.byteLength > MAX_REQUEST_BYTES) return fallback;
  const decoded = decodeMessage("ToolInvokeRequest", message.body);
  const { toolCallId, toolName } = (decoded.ok ? decoded.value : (decoded.fault.value ?? {})) as Record<string, unknown>;
  return {
    toolCallId: isText(toolCallId, 128) ? toolCallId : fallback.toolCallId,
    toolName: isText(toolName, 256) ? toolName : fallback.toolName,
  };
}

const isText = (value: unknown, maxLength: number): value is string => typeof value === "string" && value.length > 0 && value.length <= maxLength;

/** How long the caller waits, as its header says, within what a call may take. */
function budgetMs(message: Envelope): number {
  const header = message.headers[Header.TimeoutMs];
  return header !== undefined && /^[1-9]\d{0,9}$/.test(header) ? Math.min(Number(header), MAX_TIMEOUT_MS) : DEFAULT_TIMEOUT_MS;
}

function encodeReply(reply: Reply): [type: string, body: Uint8Array] {
  return "code" in reply ? [messages.ToolError.type, encodeMessage("ToolError", reply)] : [messages.ToolInvokeResponse.type, encodeMessage("ToolInvokeResponse", reply)];
}
