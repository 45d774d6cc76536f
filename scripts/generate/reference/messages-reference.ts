import { readdir, readFile } from "node:fs/promises";
import { type MessageName, messages } from "@rockbot/contracts";
import { parse } from "yaml";
import { code, fillPage, table } from "../fill-page.ts";
import {
  inlined,
  type JsonSchema,
  type MessageInfo,
  messageDefinitions,
  type SchemaDocument,
} from "../schema-document.ts";

interface Example {
  readonly topic: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

const GOLDEN = "packages/contracts/golden";

/** By the topic's beginning: who sends, and who receives. */
const DIRECTIONS: readonly (readonly [topic: RegExp, direction: string])[] = [
  [/^mcp\.owner\./, "replica of mcp-bridge → replica"],
  [/^(tool|script)\.invoke|^tool\.cancel|^tool\.announce\.(probe|list)/, "caller → service"],
  [/^mcp\.manage$|^tool\.meta\.mcp\.refresh/, "caller → mcp-bridge"],
  [/^mcp\.manage\.response|^tool\.meta\.mcp/, "mcp-bridge → caller"],
  [/^user\.(message|feedback|history\.request)$/, "user → agent"],
  [/^user\.(response|history\.response)/, "agent → user"],
  [/^agent\.event/, "agent → everybody who may hear the caller's"],
  [/^agent\.task(\.cancel)?\.\{/, "caller → agent on the bus"],
  [/^agent\.(task\.status|response)/, "agent on the bus → caller"],
  [/^discovery\./, "agent on the bus → everybody who gives tasks"],
  [/^subagent\./, "agent → agent"],
  [/^(tool|script)\.result|^tool\.(progress|announce)/, "service → caller"],
];

/** `docs/reference/messages.md`: every message with its topics, headers, properties and an example. */
export async function messagesReference(definitions: SchemaDocument["definitions"]): Promise<string> {
  const examples = await readExamples();
  const sections = messageDefinitions(definitions).map(([name, info, schema]) =>
    section(name, info, inlined(schema, definitions), examples),
  );
  return fillPage("messages", "packages/contracts/schema", { messages: sections.join("\n\n") });
}

function section(name: string, info: MessageInfo, schema: JsonSchema, examples: readonly Example[]): string {
  const ofIt = examples.filter(({ properties }) => properties["type"] === info.type);
  const example = ofIt.find(({ topic }) => topic === info.topics[0]) ?? ofIt[0];
  const { validate } = messages[name as MessageName];
  if (example === undefined || !validate(structuredClone(example.body))) {
    throw new Error(
      `Cannot generate: ${name} has no example that fits its schema. Put one into scripts/generate/pages/message-examples.yaml`,
    );
  }
  const headers = Object.entries(info.headers ?? {}).map(([header, meaning]) => [code(header), meaning]);
  const properties = Object.entries(schema.properties ?? {}).map(([property, of]) => [
    code(property),
    typeOf(of),
    schema.required?.includes(property) ? "yes" : "no",
    of.description ?? "",
  ]);
  return [
    `## ${name}`,
    "",
    schema.description ?? "",
    "",
    `AMQP type: ${code(info.type)}.${info.reply === undefined ? "" : ` Answered by ${info.reply.map((reply) => `[${reply}](#${reply.toLowerCase()})`).join(" or ")}.`}`,
    "",
    table(
      ["topic", "direction"],
      info.topics.map((topic) => [code(topic), directionOf(topic)]),
    ),
    "",
    ...(headers.length === 0 ? [] : [table(["header", "meaning"], headers), ""]),
    table(["property", "type", "required", "meaning"], properties),
    "",
    "```json",
    JSON.stringify(example, undefined, 2),
    "```",
  ].join("\n");
}

function directionOf(topic: string): string {
  const direction = DIRECTIONS.find(([pattern]) => pattern.test(topic))?.[1];
  if (direction === undefined)
    throw new Error(`Cannot generate: DIRECTIONS of messages-reference.ts does not say who publishes to ${topic}`);
  return direction;
}

function typeOf(schema: JsonSchema): string {
  const types =
    schema["anyOf"] === undefined
      ? [schema["type"]].flat()
      : (schema["anyOf"] as JsonSchema[]).map((one) => one["type"]);
  return types.every((type) => type === undefined) ? "any" : types.join(" or ");
}

/** The fixtures of the .NET original, and what it has none for. */
async function readExamples(): Promise<readonly Example[]> {
  const files = (await readdir(GOLDEN)).sort();
  const golden = await Promise.all(
    files.map(async (file) => JSON.parse(await readFile(`${GOLDEN}/${file}`, "utf8")) as Example),
  );
  const ours = parse(await readFile(new URL("../pages/message-examples.yaml", import.meta.url), "utf8")) as Example[];
  return [...golden, ...ours].map(({ topic, properties, headers, body }) => ({ topic, properties, headers, body }));
}
