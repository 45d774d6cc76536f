import { stringify } from "yaml";
import type { contractValues } from "./contract-values.ts";
import { inlined, type MessageInfo, messageDefinitions, type SchemaDocument } from "./schema-document.ts";

/** What the document says in words: see `packages/contracts/schema/service/contract.yaml`. */
export interface ContractWords {
  readonly title: string;
  readonly introduction: string;
  readonly sections: readonly { readonly title: string; readonly clauses: Readonly<Record<string, string>> }[];
  readonly topics: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, string>>;
  readonly replies: Readonly<Record<"internal" | "named" | "shared", string>>;
  /** The AMQP properties of messages. */
  readonly properties: Readonly<Record<string, string>>;
  /** The headers that all messages have. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface AsyncApiOptions {
  readonly words: ContractWords;
  readonly values: typeof contractValues;
  /** Puts values in the place of their names. */
  readonly withValues: (text: string) => string;
}

/**
 * The AsyncAPI 3 document of the bus: a channel for each topic, an operation for each message on it, and the clauses
 * that a tool service keeps.
 */
// Long because: it is one document, in the order in which it is read
export function asyncApiDocument(
  definitions: SchemaDocument["definitions"],
  { words, values, withValues }: AsyncApiOptions,
): string {
  const messages = messageDefinitions(definitions);
  const topics = [...new Set(messages.flatMap(([, info]) => info.topics))].sort();
  const channelId = (topic: string) => topic.replaceAll(/[{}]/g, "").replaceAll(".", "-");
  /** The topic's own, if it has one; else the first that carries the first of these answers, which share it. */
  const replyTopic = (topic: string, [first]: readonly string[]) =>
    topics.find((other) => other === `${topic}.answer`) ??
    messages.find(([name]) => name === first)?.[1].topics[0] ??
    "tool.result";
  const replyChannel = (topic: string, answers: readonly string[]) => channelId(replyTopic(topic, answers));
  const textOf = (part: "topics" | "parameters", key: string): string => {
    const text = words[part][key];
    if (text === undefined) throw new Error(`Cannot generate: the contract's words have no ${part}.${key}`);
    return text;
  };
  const channels = Object.fromEntries(
    topics.map((topic) => {
      const parameters = [...topic.matchAll(/\{(\w+)\}/g)].map(([, name]) => [
        String(name),
        { description: textOf("parameters", String(name)) },
      ]);
      const carried = messages.filter(([, info]) => info.topics.includes(topic));
      return [
        channelId(topic),
        {
          address: topic,
          description: textOf("topics", topic),
          ...(parameters.length > 0 ? { parameters: Object.fromEntries(parameters) } : {}),
          messages: Object.fromEntries(carried.map(([name]) => [name, { $ref: `#/components/messages/${name}` }])),
          bindings: { amqp: { is: "routingKey", exchange: values.exchanges[0], bindingVersion: "0.3.0" } },
        },
      ];
    }),
  );
  const operations = Object.fromEntries(
    messages.flatMap(([name, info]) =>
      info.topics.map((topic) => [
        `send${name}-${channelId(topic)}`,
        {
          action: "send",
          channel: { $ref: `#/channels/${channelId(topic)}` },
          messages: [{ $ref: `#/channels/${channelId(topic)}/messages/${name}` }],
          ...(info.reply === undefined
            ? {}
            : {
                reply: {
                  address: {
                    location: "$message.header#/replyTo",
                    description: replyAddress(words.replies, topic, replyTopic(topic, info.reply)),
                  },
                  channel: { $ref: `#/channels/${replyChannel(topic, info.reply)}` },
                  messages: info.reply.map((reply) => ({
                    $ref: `#/channels/${replyChannel(topic, [reply])}/messages/${reply}`,
                  })),
                },
              }),
        },
      ]),
    ),
  );
  const document = {
    asyncapi: "3.0.0",
    info: { title: words.title, version: "1.0.0", description: withValues(descriptionOf(words)) },
    defaultContentType: "application/json",
    channels,
    operations,
    components: {
      messages: Object.fromEntries(
        messages.map(([name, info, schema]) => [
          name,
          {
            name: info.type,
            title: name,
            summary: schema.description,
            correlationId: { $ref: "#/components/correlationIds/call" },
            ...(info.headers === undefined ? {} : { headers: headersSchema(info.headers) }),
            traits: [{ $ref: "#/components/messageTraits/all" }],
            payload: inlined(schema, definitions),
            bindings: { amqp: { contentEncoding: "utf-8", messageType: info.type, bindingVersion: "0.3.0" } },
          },
        ]),
      ),
      messageTraits: { all: { headers: headersSchema(words.headers), "x-amqp-properties": words.properties } },
      correlationIds: {
        call: { location: "$message.header#/correlation-id", description: words.properties["correlation-id"] },
      },
    },
    "x-rockbot": values,
  };
  return `# Generated by \`npm run generate\` from packages/contracts/schema. Do not edit.\n${stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

function descriptionOf({ introduction, sections }: ContractWords): string {
  const parts = sections.map(({ title, clauses }) =>
    [`## ${title}`, ...Object.entries(clauses).map(([id, text]) => `**${id}**: ${text}`)].join("\n\n"),
  );
  return [introduction, ...parts].join("\n\n");
}

/** Where the answer to a request on `topic` goes, and what becomes of a request that does not say. */
function replyAddress(replies: ContractWords["replies"], topic: string, to: string): string {
  const text = to === `${topic}.answer` ? replies.internal : to.includes("{") ? replies.named : replies.shared;
  return text.replaceAll("$TOPIC", to);
}

const headersSchema = (headers: NonNullable<MessageInfo["headers"]>) => ({
  type: "object",
  properties: Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { type: "string", description }]),
  ),
});
