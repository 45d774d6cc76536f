import type { Bus } from "@rockbot/bus";
import { createEnvelope, type Envelope, encodeMessage, messages } from "@rockbot/contracts";

/** A program that sends users' messages, and hears the replies. */
export async function hearReplies(bus: Bus, replyTo = "user.response.users") {
  const replies: { readonly correlationId: string | undefined; readonly content: string; readonly isFinal: boolean }[] =
    [];
  const subscription = await bus.subscribe(
    { name: `result.${replyTo.split(".").at(-1)}`, topics: [replyTo], kind: "result" },
    async ({ correlationId, body }) => {
      const { content, isFinal = true } = JSON.parse(Buffer.from(body).toString()) as {
        content: string;
        isFinal?: boolean;
      };
      replies.push({ correlationId, content, isFinal });
    },
  );
  return {
    finals: () => replies.filter(({ isFinal }) => isFinal),
    /** @param content also names the message */
    ask: (sessionId: string, content: string, more: Partial<Envelope> = {}) =>
      bus.publish(
        createEnvelope({
          topic: "user.message",
          type: messages.UserMessage.type,
          source: "users",
          replyTo,
          correlationId: content,
          body: encodeMessage("UserMessage", { content, sessionId, userId: "somebody", targetAgent: null }),
          ...more,
        }),
      ),
    [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
  };
}
