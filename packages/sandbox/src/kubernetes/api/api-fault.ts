import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { FOR_OPERATOR } from "../pods/pod-fault.ts";
import { ApiError } from "./api-error.ts";

/** A guess: when there may be room again. */
const ROOM_AFTER_MS = 1_000;

/** Says to the caller why there is no pod; the cause has the server's words for operators. */
export function apiFault(error: unknown): ToolError {
  if (error instanceof ToolError) return error;
  if (!(error instanceof ApiError)) {
    return fault("cluster_unreachable", "The cluster that runs scripts does not answer. Try again in a while.", {
      cause: error,
    });
  }
  const { status, said } = error;
  if (status === 403) return refusal(error);
  if (status === 401)
    return fault(
      "cluster_unauthorized",
      `The cluster that runs scripts does not know the manager's credentials. ${FOR_OPERATOR}`,
      {
        cause: error,
        isRetryable: false,
      },
    );
  if (status === 404)
    return fault("namespace_missing", `There is no namespace for scripts in the cluster. ${FOR_OPERATOR}`, {
      cause: error,
      isRetryable: false,
    });
  if (status === 422)
    return fault("pod_refused", `The cluster refuses the sandbox of the script as it is configured. ${FOR_OPERATOR}`, {
      cause: error,
      isRetryable: false,
    });
  return fault(
    "cluster_error",
    `The cluster that runs scripts answers ${status === 429 ? "that it is busy" : "with an error"}. Try again in a while.`,
    {
      cause: said === "" ? undefined : error,
      retryAfterMs: error.retryAfterMs ?? ROOM_AFTER_MS,
    },
  );
}

interface FaultOptions {
  readonly cause: unknown;
  readonly isRetryable?: boolean;
  readonly retryAfterMs?: number;
  readonly details?: Readonly<Record<string, unknown>>;
}

function fault(reason: string, message: string, { details, ...options }: FaultOptions): ToolError {
  return new ToolError(ToolErrorCode.Unavailable, message, { ...options, details: { reason, ...details } });
}

/** Many things are "forbidden": only the server's words tell them apart. */
function refusal(cause: ApiError): ToolError {
  const { said } = cause;
  if (said.includes("exceeded quota")) {
    return new ToolError(
      ToolErrorCode.Overloaded,
      "As many sandboxes as the cluster grants are in use. Try again when some of them have ended.",
      {
        cause,
        retryAfterMs: ROOM_AFTER_MS,
        details: { reason: "quota_exceeded" },
      },
    );
  }
  const right = /cannot (\w+) resource "([\w/]+)"/.exec(said);
  if (right !== null) {
    const [, verb, resource] = right;
    return fault(
      "cluster_forbidden",
      `The manager has no right to ${verb} ${resource} in the namespace for scripts: its Role must grant that. ${FOR_OPERATOR}`,
      {
        cause,
        isRetryable: false,
        details: { verb, resource },
      },
    );
  }
  const words = /violates PodSecurity/.test(said)
    ? (["pod_security", "The cluster's Pod Security refuses the sandbox of the script."] as const)
    : /(minimum|maximum) .+ (usage|limit to request ratio) per (Container|Pod)/.test(said)
      ? (["limit_range", "What a sandbox is configured to use lies outside the LimitRange of its namespace."] as const)
      : (["pod_refused", "The cluster does not admit the sandbox of the script."] as const);
  return fault(words[0], `${words[1]} ${FOR_OPERATOR}`, { cause, isRetryable: false });
}
