import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import type { ScriptJob, ScriptOutcome, ScriptRunner } from "../script-runner.ts";
import { type CanaryTarget, canaryTargets } from "./canary-targets.ts";
import { checkNetwork } from "./check-network.ts";

const { signal } = new AbortController();

/** Something that takes connections. */
async function listener(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((socket) => socket.end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

/** A name server that knows no name. */
async function nameServer(): Promise<AsyncDisposable & { readonly port: number }> {
  const socket = createSocket("udp4");
  socket.on("message", (question, { port, address }) => {
    const answer = Buffer.from(question);
    answer.writeUInt16BE(0x8183, 2);
    answer.writeUInt16BE(0, 10); // without what the asker adds behind its question
    socket.send(answer.subarray(0, 12 + "example.com".length + 6), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    port: socket.address().port,
    async [Symbol.asyncDispose]() {
      socket.close();
    },
  };
}

/** Runs a script in the network of this machine: what a sandbox must not be. */
const openRunner: ScriptRunner = {
  kind: "open",
  isResumable: false,
  async run({ script, input = "" }: ScriptJob): Promise<ScriptOutcome> {
    const { promise, resolve } = Promise.withResolvers<ScriptOutcome>();
    const child = execFile("python3", ["-c", script], (error, stdout, stderr) =>
      resolve({
        stdout,
        stderr,
        droppedBytes: { stdout: 0, stderr: 0 },
        exitCode: error === null ? 0 : 1,
        signal: null,
        limit: null,
        strangers: 0,
        passedFiles: 0,
        timeoutMs: 0,
        durations: { waitMs: 0, runMs: 0 },
        isWarm: false,
      }),
    );
    child.stdin?.end(input);
    return await promise;
  },
  async [Symbol.asyncDispose]() {},
};

/** Runs it where every connection is refused. */
const walledRunner: ScriptRunner = {
  ...openRunner,
  run: (job, options) =>
    openRunner.run(
      {
        ...job,
        script: `import socket\ndel socket.socket\n${job.script}`.replace("except OSError", "except Exception"),
      },
      options,
    ),
};

const closed: CanaryTarget = { name: "a closed port", host: "127.0.0.1", port: 1 };

test("scripts that reach what they must not are refused, by name", async () => {
  await using broker = await listener();
  await using dns = await nameServer();
  const targets = canaryTargets({
    brokerUrl: new URL(`amqp://user:secret@127.0.0.1:${broker.port}`),
    dnsServers: [`127.0.0.1:${dns.port}`],
  }).slice(0, 2);

  const { verdicts, refusal } = await checkNetwork(openRunner, [...targets, closed], { signal });

  expect(verdicts).toEqual({
    "the broker": "reached",
    DNS: "reached",
    "a closed port": "not testable",
    "the manager": "reached",
  });
  expect(refusal).toMatch(/^No scripts are run: a script reaches the broker, DNS, the manager\. .*NetworkPolicy/);
  expect(refusal).not.toContain("secret");
});

test("scripts are refused where the manager does not reach what has to be tried", async () => {
  const { verdicts, refusal } = await checkNetwork(walledRunner, [{ ...closed, isRequired: true }], { signal });

  expect(verdicts).toEqual({ "a closed port": "not testable", "the manager": "blocked" });
  expect(refusal).toContain("the manager itself does not reach a closed port");
});

test("scripts are refused where none could try", async () => {
  await using broker = await listener();
  const brokenRunner: ScriptRunner = {
    ...openRunner,
    run: async () => Promise.reject(new Error("there is no sandbox")),
  };

  const { verdicts, refusal } = await checkNetwork(
    brokenRunner,
    [{ name: "the broker", host: "127.0.0.1", port: broker.port }],
    { signal },
  );

  expect(verdicts).toEqual({ "the broker": "not testable", "the manager": "not testable" });
  expect(refusal).toContain("there is no sandbox");
});

test("nothing is refused where a script reaches nobody, this process included", async () => {
  expect((await checkNetwork(walledRunner, [closed], { signal })).refusal).toBeUndefined();
  expect((await checkNetwork(openRunner, [closed], { signal })).refusal).toContain("a script reaches the manager");
});

test("the API server and the broker have to be tried; their standard ports are known", () => {
  const targets = canaryTargets({
    apiServer: new URL("https://[fd00::1]"),
    brokerUrl: new URL("amqps://mq.example"),
    dnsServers: ["[fd00::53]:5353"],
  });

  expect(targets.map(({ name, host, port, isRequired = false }) => [name, host, port, isRequired])).toEqual([
    ["the API server", "fd00::1", 443, true],
    ["the broker", "mq.example", 5671, true],
    ["DNS", "fd00::53", 5353, false],
    ["the metadata address", "169.254.169.254", 80, false],
    ["a public address", "1.1.1.1", 443, false],
  ]);
});
