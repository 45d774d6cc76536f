import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";

const START_DEADLINE_MS = 90_000;

/** Waits until an AMQP server on a port of 127.0.0.1 begins its handshake. `explain` says what is known if it does not. */
export async function untilAmqpAnswers(port: number, explain: () => Promise<string>): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!(await answers(port))) {
    if (performance.now() > deadline) {
      const reason = await explain().catch(() => "nothing is known about why");
      throw new Error(`RabbitMQ does not answer on port ${port} after ${START_DEADLINE_MS} ms: ${reason}`);
    }
    await setTimeout(50);
  }
}

/** A port may be open before the broker is: Docker's proxy accepts at once. Only the first frame counts. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", timeout: 2_000 });
    const done = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.on("connect", () => socket.write("AMQP\0\0\x09\x01"));
    socket.on("data", () => done(true));
    socket.on("error", () => done(false));
    socket.on("timeout", () => done(false));
    socket.on("close", () => resolve(false));
  });
}
