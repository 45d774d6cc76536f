type Json = Record<string, unknown>;

/**
 * An agent's answer of JSON-RPC, or the stream of them, with what SDK 1.3.0 insists on for A2A 0.3 and many agents
 * leave out, such as ids of messages. The SDK would throw the whole answer away. What cannot be read goes on as it
 * came.
 */
export async function* mendAnswers(
  chunks: AsyncIterable<Uint8Array>,
  { isStream }: { readonly isStream: boolean },
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    const end = isStream ? text.lastIndexOf("\n") + 1 : 0;
    if (end > 0) {
      yield Buffer.from(mendLines([...rest, text.slice(0, end)].join("")));
      rest = [];
    }
    rest.push(text.slice(end));
  }
  const last = [...rest, decoder.decode()].join("");
  yield Buffer.from(isStream ? mendLines(last) : mend(last));
}

const mendLines = (text: string): string =>
  text.replace(/(?<=^|[\r\n])data:([^\r\n]*)/g, (_, data: string) => `data: ${mend(data.trim())}`);

function mend(text: string): string {
  try {
    const answer: unknown = JSON.parse(text);
    if (!isObject(answer) || !isObject(answer["result"])) return text;
    mendResult(answer["result"]);
    return JSON.stringify(answer);
  } catch {
    return text;
  }
}

function mendResult(result: Json): void {
  result["kind"] ??= kindOf(result);
  const { kind } = result;
  if (kind === "task" || kind === "status-update") result["status"] ??= { state: "unknown" };
  if (kind === "message") mendMessage(result);
  if (isObject(result["status"])) mendMessage(result["status"]["message"]);
  for (const message of listOf(result["history"])) mendMessage(message);
  for (const artifact of [result["artifact"], ...listOf(result["artifacts"])]) mendParts(artifact);
}

/** What a result is whose kind is not said. Results of A2A 1.0 have none, and bear one. */
function kindOf(result: Json): string | undefined {
  if ("artifact" in result) return "artifact-update";
  if ("status" in result) return "taskId" in result ? "status-update" : "task";
  return "parts" in result ? "message" : undefined;
}

function mendMessage(message: unknown): void {
  if (!isObject(message)) return;
  if (typeof message["messageId"] !== "string" || message["messageId"] === "") message["messageId"] = "unnamed";
  message["role"] ??= "agent";
  mendParts(message);
}

function mendParts(holder: unknown): void {
  if (isObject(holder)) holder["parts"] = listOf(holder["parts"]).map(mendPart);
}

/** A part of a kind that A2A 0.3 does not have is taken as data. */
function mendPart(part: unknown): unknown {
  if (!isObject(part)) return { kind: "data", data: part };
  part["kind"] ??= ["text", "file", "data"].find((each) => each in part);
  const { kind, file } = part;
  const isKnown = kind === undefined || kind === "data" || (kind === "text" && typeof part["text"] === "string");
  return isKnown || (kind === "file" && isObject(file) && ("bytes" in file || "uri" in file))
    ? part
    : { kind: "data", data: part };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
