import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";

const START_DEADLINE_MS = 90_000;

export interface Greeting {
  /** The server's name, for people. */
  readonly name: string;
  /** What a client says first. */
  readonly hello: string;
  readonly isReady: (answer: string) => boolean;
  /** Says what is known if the server does not get ready. */
  readonly explain: () => Promise<string>;
}

/**
 * Waits until the server on a port of 127.0.0.1 answers a greeting. A port may be open before: Docker's proxy accepts
 * at once.
 */
export async function untilAnswers(port: number, { name, hello, isReady, explain }: Greeting): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!(await answers(port, hello, isReady))) {
    if (performance.now() > deadline) {
      const reason = await explain().catch(() => "nothing is known about why");
      throw new Error(`${name} does not answer on port ${port} after ${START_DEADLINE_MS} ms: ${reason}`);
    }
    await setTimeout(50);
  }
}

function answers(port: number, hello: string, isReady: Greeting["isReady"]): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", timeout: 2_000 });
    let answer = "";
    const done = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.on("connect", () => socket.write(hello));
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString("latin1");
      if (isReady(answer)) done(true);
    });
    socket.on("error", () => done(false));
    socket.on("timeout", () => done(false));
    socket.on("close", () => resolve(false));
  });
}
