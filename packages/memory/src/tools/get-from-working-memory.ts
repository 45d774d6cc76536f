import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { FindQuery, MemoryFindings, MemoryPart, OwnedMemory } from "../working-memory.ts";
import { trustOf } from "./entries-text.ts";
import { nothingUnder, withMemory } from "./memory-failure.ts";
import type { MemoryToolsOptions } from "./memory-tools-options.ts";
import { wholeKey } from "./session-keys.ts";

/** What is said beside a part or matches fits in so many characters. */
const NOTICE_CHARS = 300;

/**
 * `get_from_working_memory`: a text of the session, a part of it that fits the model, or the places where another text
 * stands in it.
 */
export function getFromWorkingMemory(memory: OwnedMemory, { namespace, pageChars }: MemoryToolsOptions): Tool {
  return defineTool(tools.getFromWorkingMemory, async ({ key, offset = 0, length, find, context }) => {
    const whole = wholeKey(key, namespace);
    if (find !== undefined) {
      const query: FindQuery = { text: find, skip: offset, limit: length, contextLines: context };
      const found = await withMemory(() => memory.find(whole, query));
      return found === undefined ? nothingUnder(whole) : findings(found, query, pageChars);
    }
    const part = await withMemory(() =>
      memory.read(whole, { offset, length: Math.min(length ?? pageChars, pageChars) }),
    );
    if (part === undefined) return nothingUnder(whole);
    const isWhole = part.text.length === part.length;
    const needed =
      isWhole || part.text.length + NOTICE_CHARS <= pageChars
        ? part
        : await withMemory(() => memory.read(whole, { offset, length: pageChars - NOTICE_CHARS }));
    return needed === undefined ? nothingUnder(whole) : partOf(needed);
  });
}

function partOf(part: MemoryPart) {
  const { key, text, offset, nextOffset, length } = part;
  const structured = { key, total: length, offset, next_offset: nextOffset ?? null };
  const readable = text.toWellFormed();
  if (text.length === length) return { content: readable, structured, ...trustOf([part]) };
  const end = offset + text.length;
  const next = nextOffset === undefined ? "this is the end" : `read on with offset ${nextOffset}`;
  const where =
    text === ""
      ? `nothing at offset ${offset}: there are ${length} characters`
      : `characters ${offset} to ${end} of ${length}; ${next}`;
  return { content: `${readable}\n[${where}]`, structured, ...trustOf([part]) };
}

function findings(found: MemoryFindings, { text, skip = 0 }: FindQuery, pageChars: number) {
  const { key, length, lines, total, matches } = found;
  let left = pageChars - NOTICE_CHARS - key.length - text.length;
  const shown = matches.filter(({ excerpt }, index) => {
    left -= excerpt.length + 40;
    return left >= 0 || index === 0;
  });
  const next = skip + shown.length;
  const head = `${total} match(es) for "${text}" in "${key}", which has ${length} characters in ${lines} line(s).`;
  const more = next < total ? [`[matches ${skip} to ${next} of ${total}; go on with offset ${next}]`] : [];
  const blocks = shown.map(({ offset, excerpt }) => `[at offset ${offset}]\n${excerpt}`);
  return {
    content: [head, ...blocks, ...more].join("\n").slice(0, pageChars).toWellFormed(),
    structured: {
      key,
      total: length,
      lines,
      matches: shown.map(({ line, offset }) => ({ line, offset })),
      matches_total: total,
    },
    ...trustOf([found]),
  };
}
