import { isRecord } from "@rockbot/base";
import { mendData } from "./event-lines.ts";

type Data = Readonly<Record<string, unknown>>;

/** What an answer is made of, as far as it is read here. */
const EVENTS = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "ping",
  "error",
]);
const BLOCKS = new Set(["text", "thinking", "redacted_thinking", "tool_use"]);
const DELTAS = new Set(["text_delta", "thinking_delta", "signature_delta", "input_json_delta"]);

/**
 * Mends the lines of one answer of Anthropic's protocol: leaves out kinds of events, blocks and parts of blocks that it
 * does not know, as the maker adds such and asks clients to pass over them, and says that nothing was counted where a
 * server counts nothing.
 * @see https://docs.claude.com/en/api/versioning
 */
export function anthropicMender(): (lines: Buffer) => Buffer {
  const passedOver = new Set<unknown>();

  function mended(data: unknown): unknown {
    // An error of a proxy has another form.
    if (!isRecord(data) || typeof data["type"] !== "string") return data;
    const { type, index } = data;
    if (!EVENTS.has(type)) return undefined;
    if (type === "content_block_start" && !BLOCKS.has(kindOf(data["content_block"]))) passedOver.add(index);
    if (passedOver.has(index) && index !== undefined) return undefined;
    if (type === "content_block_delta" && !DELTAS.has(kindOf(data["delta"]))) return undefined;
    if (type === "message_start" && isRecord(data["message"]))
      return { ...data, message: counted(data["message"], "input_tokens") };
    return type === "message_delta" ? counted(data, "output_tokens") : data;
  }

  return (lines) => {
    const text = lines.toString();
    const better = mendData(text, mended);
    return better === text ? lines : Buffer.from(better);
  };
}

const kindOf = (part: unknown): string => (isRecord(part) ? String(part["type"]) : "");

function counted(part: Data, count: string): Data {
  const usage = isRecord(part["usage"]) ? part["usage"] : {};
  return typeof usage[count] === "number" ? part : { ...part, usage: { ...usage, [count]: 0 } };
}
