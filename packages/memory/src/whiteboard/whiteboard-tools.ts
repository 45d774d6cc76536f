import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { MemoryChangedError } from "../memory-changed-error.ts";
import { familyNamespace } from "../session-namespace.ts";
import { entryLine, trustOf } from "../tools/entries-text.ts";
import { withMemory } from "../tools/memory-failure.ts";
import type { MemoryEntryInfo, OwnedMemory } from "../working-memory.ts";

/** The session that the tools are for. */
export interface WhiteboardToolsOptions {
  /** The session that all of the family stem from: they share its whiteboard. */
  readonly rootSessionId: string;
  /** The session that reads and writes. */
  readonly sessionId: string;
  /** True if the session has read untrusted content by now: texts that it writes then are untrusted, too. */
  readonly hasReadUntrusted: () => boolean;
}

const DEFAULT_TTL_MINUTES = 60;

/**
 * The whiteboard of a family of sessions: at most 50 entries in the working memory of their caller, in a namespace of
 * their own. Each writing has a version, by which writers change what they have read and nothing newer.
 */
export function whiteboardTools(
  memory: OwnedMemory,
  { rootSessionId, sessionId, hasReadUntrusted }: WhiteboardToolsOptions,
): readonly Tool[] {
  const namespace = `${familyNamespace(rootSessionId)}/board`;
  const whole = (key: string): string => `${namespace}/${key}`;
  const shown = (info: MemoryEntryInfo) => ({ ...info, key: info.key.slice(namespace.length + 1) });

  const read = defineTool(tools.whiteboardRead, async ({ key }) => {
    const entry = await withMemory(() => memory.get(whole(key)));
    if (entry === undefined)
      return { content: `The whiteboard has no entry "${key}". whiteboard_list shows what there is.`, isError: true };
    const { value, version } = entry;
    return { content: value, structured: { key, version, author: authorOf(entry) }, ...trustOf([shown(entry)]) };
  });

  const write = defineTool(
    tools.whiteboardWrite,
    async ({ key, content, version, ttl_minutes: minutes = DEFAULT_TTL_MINUTES }, context) => {
      const isUntrusted = context.hasReadUntrusted === true || hasReadUntrusted();
      const ifVersion = version === "none" ? null : version;
      const written = (now: string) => ({
        content: `Wrote "${key}" on the whiteboard, for ${minutes} minute(s). Its version is ${now}.`,
        structured: { key, version: now },
      });
      try {
        return written(
          await withMemory(() =>
            memory.set(whole(key), content, { ttlMs: minutes * 60_000, origin: sessionId, isUntrusted, ifVersion }),
          ),
        );
      } catch (error) {
        if (!(error instanceof MemoryChangedError)) throw error;
        const entry = await withMemory(() => memory.get(whole(key)));
        // A call that is made again after a crash may have written it.
        if (entry?.value === content && authorOf(entry) === sessionId) return written(entry.version);
        return { content: changedText(key, error.version), isError: true };
      }
    },
  );

  const list = defineTool(tools.whiteboardList, async () => {
    const entries = (await withMemory(() => memory.list(`${namespace}/`))).map(shown);
    const head = entries.length === 0 ? "The whiteboard is empty." : `The whiteboard has ${entries.length} entries:`;
    const lines = entries.map((entry) => `${entryLine(entry)}, version ${entry.version}, by ${authorOf(entry)}`);
    return { content: [head, ...lines].join("\n"), structured: { entries: entries.map(listed) }, ...trustOf(entries) };
  });
  return [read, write, list];
}

const authorOf = ({ origin = "" }: MemoryEntryInfo): string => origin;

const listed = (entry: MemoryEntryInfo) => ({
  key: entry.key,
  length: entry.length,
  version: entry.version,
  author: authorOf(entry),
  expires_in_seconds: Math.max(0, Math.ceil((entry.expiresAt - Date.now()) / 1_000)),
});

const changedText = (key: string, version: string | undefined): string =>
  version === undefined
    ? `Nothing was written: the whiteboard has no entry "${key}" now. Give the version none to write a new one.`
    : `Nothing was written: the entry "${key}" of the whiteboard has the version ${version} now. Read it, then write your text again.`;
