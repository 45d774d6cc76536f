import { reasonOf } from "@rockbot/base";
import { registerUrlSecret } from "@rockbot/base/redaction";
import { readBounded } from "@rockbot/edge/body";

/** One request that changes something at the broker. */
export interface Change {
  readonly method: "PUT" | "POST" | "DELETE";
  /** The path below `/api/`, its parts encoded. */
  readonly path: string;
  readonly body?: object | undefined;
  /** The change in words for people: "set the permissions of web-tools". It holds no password. */
  readonly what: string;
}

/** The broker cannot answer now. It may in a moment: it starts, or has lost its majority. */
export class BrokerNotReadyError extends Error {
  override readonly name = "BrokerNotReadyError";
}

/** The broker understands the request, and refuses it. */
export class BrokerRefusedError extends Error {
  override readonly name = "BrokerRefusedError";
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

const ANSWER_MS = 5_000;
/** The list of a few thousand users is below that. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const NOT_FOUND = 404;
const REFUSALS: readonly number[] = [400, 401, 403, 405, 406, 409, 412, 415];

/** The management HTTP API of one RabbitMQ, versions 3.10 to 4. */
export class ManagementApi {
  /** The address without user and password. */
  readonly label: string;
  readonly #base: string;
  readonly #authorization: string;

  /** @throws {RangeError} if the text is no such address; the error never holds the text, which has a password in it */
  constructor(url: string) {
    registerUrlSecret(url);
    const parsed = URL.parse(url);
    if (
      parsed === null ||
      !/^https?:$/.test(parsed.protocol) ||
      parsed.username === "" ||
      parsed.search !== "" ||
      parsed.hash !== ""
    ) {
      throw new RangeError("expected http(s)://user:password@host:15672");
    }
    this.label = `${parsed.protocol}//${parsed.host}`;
    this.#base = `${this.label}${parsed.pathname.replace(/\/+$/, "")}/api/`;
    const [user, password] = [decode(parsed.username), decode(parsed.password)];
    this.#authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  }

  /**
   * @returns what the broker has there; undefined if it has nothing
   * @throws {BrokerNotReadyError}
   * @throws {BrokerRefusedError}
   */
  async read(path: string): Promise<unknown> {
    const { status, text } = await this.#ask("GET", path);
    if (status === NOT_FOUND) return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw new BrokerNotReadyError("the server there is not the management API of RabbitMQ");
    }
  }

  /**
   * @throws {BrokerNotReadyError} if it is not known whether the broker has done it
   * @throws {BrokerRefusedError}
   */
  async change({ method, path, body }: Change): Promise<void> {
    const { status } = await this.#ask(method, path, body);
    if (status === NOT_FOUND && method !== "DELETE")
      throw new BrokerNotReadyError("somebody else changes the broker's users at the same time");
  }

  async #ask(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly text: string }> {
    let answer: { readonly status: number; readonly text: string };
    try {
      const response = await fetch(`${this.#base}${path}`, {
        method,
        redirect: "manual",
        signal: AbortSignal.timeout(ANSWER_MS),
        headers: {
          authorization: this.#authorization,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const bytes = response.body === null ? Buffer.alloc(0) : await readBounded(response.body, MAX_ANSWER_BYTES);
      answer = { status: response.status, text: bytes.toString("utf8") };
    } catch (error) {
      throw new BrokerNotReadyError(fetchFault(error));
    }
    const { status, text } = answer;
    if (REFUSALS.includes(status)) throw new BrokerRefusedError(reasonIn(text) ?? `status ${status}`, status);
    if (status !== NOT_FOUND && (status < 200 || status > 299))
      throw new BrokerNotReadyError(`it answers with status ${status}`);
    return answer;
  }
}

/** The words of Node, which has the cause of a failed fetch below its error. */
function fetchFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `no answer within ${ANSWER_MS / 1000} s`;
  const { cause } = error;
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  return reasonOf(cause instanceof Error ? cause : error);
}

/** The broker's own reason, at most a line of it. */
function reasonIn(text: string): string | undefined {
  try {
    const { reason } = JSON.parse(text) as { readonly reason?: unknown };
    return typeof reason === "string" ? reason.slice(0, 300) : undefined;
  } catch {
    return undefined;
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new RangeError("user or password has a % that is not an escape; write it as %25");
  }
}
