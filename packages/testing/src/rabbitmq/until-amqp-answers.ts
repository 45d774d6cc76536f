import { untilAnswers } from "../machine/servers/until-answers.ts";

/** Waits until an AMQP server on a port of 127.0.0.1 begins its handshake: with its first frame. */
export function untilAmqpAnswers(port: number, explain: () => Promise<string>): Promise<void> {
  return untilAnswers(port, {
    name: "RabbitMQ",
    hello: "AMQP\0\0\x09\x01",
    isReady: (answer) => answer !== "",
    explain,
  });
}
