import { eventsOf } from "./events.ts";
import { ask } from "./session.ts";

/** What a call ended in. */
export type End =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "error"; readonly code: string; readonly message: string; readonly toolCallId?: string };

interface CallIdOf {
  readonly toolCallId?: string;
}

const callIdOf = ({ toolCallId }: Record<string, unknown>): CallIdOf =>
  typeof toolCallId === "string" ? { toolCallId } : {};

export interface Answer {
  readonly toolCallId: string;
  readonly content: string | null;
  readonly contentType?: string;
  readonly isError: boolean;
  readonly [field: string]: unknown;
}

/**
 * Calls a tool as a caller that the operator speaks for.
 * @param onProgress gets what the tool says meanwhile
 */
export async function callTool(
  name: string,
  args: object,
  {
    as,
    signal,
    onProgress,
  }: { readonly as: string; readonly signal: AbortSignal; readonly onProgress: (message: string) => void },
): Promise<End> {
  const response = await ask(`/operator/tools/${encodeURIComponent(name)}/invoke?${new URLSearchParams({ as })}`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify(args),
    signal,
  });
  return endOf(response, onProgress);
}

/** Makes a call again, as its caller, with the arguments that are kept. */
export async function callAgain(toolCallId: string): Promise<End> {
  const response = await ask(`/operator/calls/${encodeURIComponent(toolCallId)}/again`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: "{}",
  });
  return endOf(response, () => {});
}

async function endOf(response: Response, onProgress: (message: string) => void): Promise<End> {
  for await (const { event, value } of eventsOf<Record<string, unknown>>(response)) {
    if (event === "progress") onProgress(String(value["message"] ?? `${value["progress"] ?? ""}`));
    if (event === "result") return { kind: "answer", answer: value as unknown as Answer };
    if (event === "error")
      return { kind: "error", code: String(value["code"]), message: String(value["message"]), ...callIdOf(value) };
  }
  return { kind: "error", code: "unknown", message: "The gateway ended the answer before the call's end." };
}
