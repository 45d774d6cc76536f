import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { messages } from "./generated/messages.ts";
import { decodeMessage, encodeMessage, type MessageName } from "./messages/decode.ts";
import { fromWire, toWire } from "./messages/wire.ts";

interface Golden {
  readonly topic: string;
  readonly properties: Record<string, unknown> & { readonly type: string };
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

const folder = join(import.meta.dirname, "../golden");
const byType = new Map<string, MessageName>(
  Object.entries(messages).map(([name, { type }]) => [type, name as MessageName]),
);
const golden = readdirSync(folder).map((file): [string, Golden] => [
  file,
  JSON.parse(readFileSync(join(folder, file), "utf8")) as Golden,
]);
/** Messages of features that do not exist yet have no entry in `messages`. */
const existing = golden.filter(([, { properties }]) => byType.has(properties.type));

test("there are golden messages of every kind that the original shares with us", () => {
  expect(new Set(existing.map(([, { properties }]) => properties.type)).size).toBe(26);
  expect(existing.length).toBe(48);
});

test.each(existing)(
  "%s reads, and writes back to the same bytes on the wire",
  (_file, { topic, properties, headers, body }) => {
    const envelope = fromWire(topic, { ...properties, headers }, Buffer.from(JSON.stringify(body)));
    const wire = toWire(envelope);
    expect(wire).toEqual({ ...properties, headers });
    const name = byType.get(properties.type) as MessageName;
    const decoded = decodeMessage(name, envelope.body);
    expect(decoded.ok && JSON.parse(Buffer.from(encodeMessage(name, decoded.value)).toString())).toEqual(body);
  },
);
