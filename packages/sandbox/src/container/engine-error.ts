import { ToolError } from "@rockbot/contracts";

/** The engine answered, and refused. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  /** The status of the HTTP answer. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Says to the caller why there is no container: without the engine's own words, which name paths of its machine. */
export function engineToolError(cause: unknown, image: string): ToolError {
  const [reason, words] = explain(cause, image);
  return new ToolError("unavailable", `Cannot run the script: ${words}`, {
    cause,
    isRetryable: !FOR_OPERATOR.has(reason),
    details: { reason },
  });
}

/** What stays as it is until its operator has done something. */
const FOR_OPERATOR: ReadonlySet<string> = new Set(["image_missing", "engine_denied", "engine_refused"]);

function explain(cause: unknown, image: string): readonly [reason: string, words: string] {
  if (cause instanceof EngineError && cause.status < 500) {
    if (cause.status === 404 && /no such image/i.test(cause.message)) {
      return [
        "image_missing",
        `the container engine does not have the image "${image}". Its operator has to pull it there`,
      ];
    }
    return [
      "engine_refused",
      `the container engine refused to make a sandbox (status ${cause.status}). Its operator finds why in the log of the scripts manager`,
    ];
  }
  const code = codeOf(cause);
  if (code === "EACCES" || code === "EPERM") {
    return [
      "engine_denied",
      "the scripts manager may not use the socket of the container engine. Its operator has to permit it",
    ];
  }
  if (
    code === "ENOENT" ||
    code === "ECONNREFUSED" ||
    code === "ECONNRESET" ||
    code === "EPIPE" ||
    code === "UND_ERR_SOCKET"
  ) {
    return ["engine_away", "the container engine cannot be reached. Try again once it runs"];
  }
  if (cause instanceof Error && cause.name === "TimeoutError") {
    return ["engine_slow", "the container engine did not answer in time. Try again later"];
  }
  return [
    "engine_failed",
    "the container engine did not make a sandbox. Its operator finds why in the log of the scripts manager",
  ];
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && "code" in cause ? cause.code : undefined;
}
