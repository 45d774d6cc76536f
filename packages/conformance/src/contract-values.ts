import {
  DEFAULT_CONCURRENCY,
  DEFAULT_DRAIN_MS,
  HEALED_WITHIN_MS,
  MAX_BODY_BYTES,
  MAX_HEADER_BYTES,
  MAX_PARKED_BODY_BYTES,
  PARKED_BYTES,
  PARKED_MESSAGES,
  PARKED_MS,
  RESULT_QUEUE_EXPIRES_MS,
} from "@rockbot/bus";
import { COPY_NAMES, DEAD_LETTER_EXCHANGE, EXCHANGE } from "@rockbot/bus-rabbitmq/queue-plan";
import { MAX_JSON_DEPTH, MAX_REQUEST_BYTES, messages, namePattern, replyTopicPattern } from "@rockbot/contracts";
import { defaultPolicySource, delegatesOf } from "@rockbot/policy";
import { MAX_REPLY_BYTES, REPLY_KEPT_MS } from "@rockbot/records/claims";
import * as limits from "@rockbot/tools/limits";

/** The numbers that the code goes by, and that the contract's words name as $NAME. */
export const contractNumbers: Readonly<Record<string, number>> = {
  ...limits,
  DEFAULT_CONCURRENCY,
  DRAIN_MS: DEFAULT_DRAIN_MS,
  HEALED_WITHIN_MS,
  MAX_BODY_BYTES,
  MAX_HEADER_BYTES,
  MAX_PARKED_BODY_BYTES,
  PARKED_BYTES,
  PARKED_MESSAGES,
  PARKED_MS,
  RESULT_QUEUE_EXPIRES_MS,
  MAX_JSON_DEPTH,
  MAX_REQUEST_BYTES,
  MAX_REPLY_BYTES,
  REPLY_KEPT_MS,
};

interface Shape {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, { readonly pattern?: string; readonly items?: Shape }>>;
}

const page = messages.ToolAnnouncement.schema as unknown as Shape;
const definition = page.properties["tools"]?.items as Shape;
const guide = page.properties["guides"]?.items as Shape;
const fieldsOf = ({ required }: Shape): string => required.map((name) => `\`${name}\``).join(", ");

const texts: Readonly<Record<string, string | number>> = {
  EXCHANGE,
  DEAD_LETTER_EXCHANGE,
  LAST_COPY: COPY_NAMES - 1,
  NAME_PATTERN: namePattern.source,
  TOOL_NAME_PATTERN: definition.properties["name"]?.pattern ?? "",
  PAGE_FIELDS: fieldsOf(page),
  DEFINITION_FIELDS: fieldsOf(definition),
  GUIDE_FIELDS: fieldsOf(guide),
  REPLY_TOPIC_PATTERN: replyTopicPattern.source,
  DELEGATES: delegatesOf(defaultPolicySource().document)
    .map(({ user }) => user)
    .join("` and `"),
  ANNOUNCEMENT_TTL_VALUE: limits.ANNOUNCEMENT_TTL_MS,
  PROGRESS_TTL_VALUE: limits.PROGRESS_TTL_MS,
};

/**
 * The text with each $NAME replaced by the value that the code has, with its unit.
 * @throws {Error} for a name that stands for nothing
 */
export const withValues = (text: string): string =>
  text.replaceAll(/\$([A-Z][A-Z_]+)/g, (_, name: string) => {
    const value = texts[name] ?? contractNumbers[name];
    if (value === undefined)
      throw new Error(
        `Cannot say the contract's words: they name $${name}, which packages/conformance/src/contract-values.ts does not have`,
      );
    return typeof value === "string" || name in texts ? String(value) : inWords(name, value);
  });

const BYTES = [
  [1024 * 1024, "MiB"],
  [1024, "KiB"],
  [1, "bytes"],
] as const;
const TIMES = [
  [24 * 3_600_000, "days"],
  [60_000, "minutes"],
  [1_000, "s"],
  [1, "ms"],
] as const;

/** In the largest unit of which it is a whole number, two at least of days and minutes. */
function inWords(name: string, value: number): string {
  const units = name.endsWith("_BYTES") ? BYTES : name.endsWith("_MS") ? TIMES : undefined;
  const found = units?.find(
    ([size, unit]) => value % size === 0 && (value > size || !(unit === "days" || unit === "minutes")),
  );
  return found === undefined ? String(value) : `${value / found[0]} ${found[1]}`;
}
