import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { BROKER_IMAGE, docker } from "./docker.ts";
import { freePort } from "./free-port.ts";
import type { TestBroker } from "./test-broker.ts";
import { untilAmqpAnswers } from "./until-amqp-answers.ts";

/** A RabbitMQ in a container, on a port of 127.0.0.1 that it keeps over restarts. */
export async function startContainerBroker(): Promise<TestBroker> {
  const port = await freePort();
  const password = randomBytes(12).toString("hex");
  const options = ["--detach", "--label", "rockbot.test-broker", "--publish", `127.0.0.1:${port}:5672`];
  const settings = { RABBITMQ_DEFAULT_USER: "test", RABBITMQ_DEFAULT_PASS: password, RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "+sbwt none" };
  const environment = Object.entries(settings).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
  const id = (await docker(["run", ...options, ...environment, BROKER_IMAGE])).trim();

  const removeAtExit = () => execFileSync("docker", ["rm", "--force", "--volumes", id], { stdio: "ignore" });
  process.once("exit", removeAtExit);
  const stop = async () => {
    process.off("exit", removeAtExit);
    await docker(["rm", "--force", "--volumes", id]);
  };
  const started = () => untilAmqpAnswers(port, async () => `the container says: ${(await docker(["logs", "--tail", "5", id])).trim()}`);
  try {
    await started();
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    url: `amqp://test:${password}@127.0.0.1:${port}`,
    kill: async () => void (await docker(["kill", "--signal", "KILL", id])),
    restart: async () => {
      await docker(["start", id]);
      await started();
    },
    pause: async () => void (await docker(["pause", id])),
    resume: async () => void (await docker(["unpause", id])),
    ctl: (...args) => docker(["exec", id, "rabbitmqctl", ...args]),
    [Symbol.asyncDispose]: stop,
  };
}
