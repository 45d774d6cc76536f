import {
  copyArguments,
  DEAD_LETTER_EXCHANGE,
  EXCHANGE,
  resultArguments,
  serviceQueues,
} from "@rockbot/bus-rabbitmq/queue-plan";
import { contractNumbers } from "@rockbot/conformance/contract-values";
import { namePattern, replyTopicPattern, ToolErrorCode } from "@rockbot/contracts";

/** The values of the contract for programs: what is declared at the broker, numbers, patterns and codes. */
export const contractValues = {
  exchanges: [EXCHANGE, DEAD_LETTER_EXCHANGE].map((name) => ({ name, type: "topic", durable: true })),
  serviceQueues: serviceQueues("{subscription}").map(({ part, name, arguments: args, deadLetterKeys }) => ({
    part,
    name,
    durable: true,
    arguments: args,
    bindings: [
      ...(part === "main" ? [{ exchange: EXCHANGE, key: "tool.invoke.{service}" }] : []),
      ...deadLetterKeys.map((key) => ({ exchange: DEAD_LETTER_EXCHANGE, key })),
    ],
  })),
  copyQueue: { name: "", exclusive: true, autoDelete: true, durable: false, arguments: copyArguments },
  resultQueue: {
    name: "rockbot.result.{agent}.{instance}.v1",
    durable: true,
    arguments: resultArguments,
    note: "Of callers. A service declares none.",
  },
  values: contractNumbers,
  patterns: { name: namePattern.source, replyTopic: replyTopicPattern.source },
  errorCodes: Object.values(ToolErrorCode),
};
