import { MAX_REQUEST_BYTES } from "@rockbot/contracts";
import { must } from "../breach.ts";
import type { Case } from "../case.ts";
import { ANSWER_MS, type Examiner, mustBe, type SendOptions } from "../examiner.ts";
import { described, type Exchange } from "../exchange.ts";

/** A service that dies over one of these must not get it for ever. */
const EXPIRATION_MS = 2_000;
/** Longer ones are dropped as too large. */
const TOO_MUCH = "x".repeat(MAX_REQUEST_BYTES);

/** Messages that may bring a service down: tried one after the other, each followed by a good call. */
export const robustnessCases: readonly Case[] = [
  unreadable("a request that is not JSON", { body: "{ this is not JSON" }),
  unreadable("a request that is no UTF-8", { body: new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]) }),
  unreadable("a request whose fields have other types", { body: '{"toolCallId":7,"toolName":["a"],"arguments":{}}' }),
  unreadable("a message of another type", { type: "RockBot.Tools.SomethingElse" }),
  {
    name: "a request that is too large is answered with too_large",
    clause: "request-size",
    async run(examiner) {
      const call = await sendBad(examiner, { more: { sessionId: TOO_MUCH } });
      mustBe("too_large", await call.reply(ANSWER_MS), `a request of more than ${MAX_REQUEST_BYTES} bytes`);
    },
  },
  {
    name: "nothing is sent to a topic that no answer may go to, and its request is parked",
    clause: "reply-topic",
    async run(examiner) {
      let strays = 0;
      const replyTo = examiner.topicFor(() => strays++, "");
      const before = (await examiner.look("parked"))?.messages ?? 0;
      const call = await sendBad(examiner, { replyTo });
      const isParked = await examiner.until(
        async () => ((await examiner.look("parked"))?.messages ?? 0) > before,
        ANSWER_MS,
      );
      must(strays === 0, `the service has answered on "${replyTo}", as a request's reply-to has asked it to`);
      must(call.replies.length === 0, "the service has answered a request that names no topic for answers");
      must(isParked, `a request with the reply-to "${replyTo}" was not parked within ${ANSWER_MS} ms`);
    },
  },
];

function unreadable(what: string, options: SendOptions): Case {
  return {
    name: `${what} is answered with invalid_arguments, and the service stays up`,
    clause: "request-form",
    async run(examiner) {
      const before = (await examiner.look("parked"))?.messages ?? 0;
      const call = await sendBad(examiner, options);
      const isOver = async () =>
        call.replies.length > 0 ||
        ((await examiner.look("parked"))?.messages ?? 0) > before ||
        ((await examiner.look())?.consumers ?? 0) === 0;
      await examiner.until(isOver, ANSWER_MS);
      const [reply] = call.replies;
      must(await examiner.isUp(), `after ${what} the service answers no good request within ${ANSWER_MS} ms`);
      must(
        reply !== undefined || ((await examiner.look("parked"))?.messages ?? 0) > before,
        `${what} was neither answered nor parked`,
      );
      if (reply !== undefined)
        must(
          reply.code === "invalid_arguments",
          `${what} was answered with ${described(reply)}; expected the error invalid_arguments`,
        );
    },
  };
}

const sendBad = (examiner: Examiner, options: SendOptions): Promise<Exchange> =>
  examiner.send({ expirationMs: EXPIRATION_MS, ...options });
