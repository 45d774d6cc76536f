import type { ModelMessage } from "@rockbot/llm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Conversation } from "./conversation.ts";
import { fence } from "./fence.ts";

const system: ModelMessage = { role: "system", content: "rules" };
const asked: ModelMessage = { role: "user", content: "question" };

/** Every call has its result right behind it, and no result is without its call. */
function expectPaired(messages: readonly ModelMessage[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      expect(open).toContain(message.toolCallId);
      open = open.filter((id) => id !== message.toolCallId);
      continue;
    }
    expect(open).toEqual([]);
    if (message.role === "assistant") open = (message.toolCalls ?? []).map(({ id }) => id);
  }
  expect(open).toEqual([]);
}

const lengths = fc.array(fc.array(fc.nat({ max: 30_000 }), { maxLength: 4 }), { maxLength: 6 });

test("a conversation that is made to fit keeps its rules and what is asked, and no call without its result", async () => {
  await fc.assert(
    fc.asyncProperty(
      lengths,
      fc.array(fc.nat({ max: 5_000 }), { maxLength: 10 }),
      fc.nat({ max: 20_000 }),
      async (answers, earlier, maxTokens) => {
        const history = earlier.map(
          (length, index): ModelMessage => ({
            role: index % 2 === 0 ? "user" : "assistant",
            content: "h".repeat(length),
          }),
        );
        const conversation = new Conversation([system], history, [asked]);
        for (const [at, results] of answers.entries()) {
          const toolCalls = results.map((_, index) => ({ id: `${at}-${index}`, name: "t", arguments: "{}" }));
          conversation.addAnswer({ text: "a", toolCalls });
          for (const [index, length] of results.entries())
            conversation.addResult(toolCalls[index] as (typeof toolCalls)[number], "r".repeat(length), false);
        }
        const before = conversation.messages.reduce((sum, { content }) => sum + content.length, 0);
        await conversation.fit(maxTokens, []);
        const { messages } = conversation;
        expectPaired(messages);
        expect(messages[0]).toEqual(system);
        expect(messages).toContainEqual(asked);
        if (maxTokens * 3.5 > 2 * before + 10_000)
          expect(messages.reduce((sum, { content }) => sum + content.length, 0)).toBe(before);
      },
    ),
  );
});

test("results give way to what a model can read: the oldest first, no more than has to go, their fences and their wholes kept", async () => {
  const conversation = new Conversation([system], [], [asked]);
  const kept: string[] = [];
  const add = (id: string, content: string): void => {
    const call = { id, name: "t", arguments: "{}" };
    conversation.addAnswer({ text: "", toolCalls: [call] });
    conversation.addResult(call, content, false, async () => {
      kept.push(id);
      return `key-${id}`;
    });
  };
  const results = () => conversation.messages.flatMap((message) => (message.role === "tool" ? [message.content] : []));
  add("old", fence("x".repeat(150_000), { nonce: "0123456789abcdef", origin: undefined }));
  add("new", "y".repeat(10_000));
  await conversation.fit(16_000, []);
  const [old, newest] = results();
  expect(newest).toHaveLength(10_000);
  expect(old?.length).toBeGreaterThan(44_000); // 16 000 tokens, less those of the rest
  expect(conversation.tokens([])).toBeLessThanOrEqual(16_000);
  expect(old).toMatch(
    /^<untrusted-0123456789abcdef>\n[\s\S]*characters left out.*key "key-old"[\s\S]*\n<\/untrusted-0123456789abcdef>$/,
  );
  expect(await conversation.trimForOverflow(8_000, [])).toBe(true);
  expect(conversation.tokens([])).toBeLessThanOrEqual(8_000);
  expect(await conversation.trimForOverflow(undefined, [])).toBe(true);
  expect(conversation.tokens([])).toBeLessThanOrEqual((8_000 * 2) / 3);
  expect(results().map((content) => content.match(/characters left out/g)?.length)).toEqual([1, undefined]);
  expect([...new Set(kept)]).toEqual(["old"]);
});

test("no content can write the mark that ends its fence", () => {
  const nonce = "0123456789abcdef";
  const pieces = fc.array(
    fc.constantFrom("</untrusted-", nonce, nonce.slice(0, 8), nonce.slice(8), nonce.toUpperCase(), ">", "\n", "text"),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(pieces, (parts) => {
      const fenced = fence(parts.join(""), { nonce, origin: `"><x ${nonce}` });
      const inside = fenced.slice(fenced.indexOf("\n") + 1, fenced.lastIndexOf("\n"));
      expect(inside.toLowerCase()).not.toContain(nonce);
    }),
  );
});
