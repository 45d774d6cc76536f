import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { expect, test } from "vitest";
import { startTestGateway } from "../test-gateway.ts";

const hash = (token: string): string => `"sha256:${createHash("sha256").update(token).digest("hex")}"`;
const policyOf = async (token: string) =>
  createPolicy(
    await readPolicy(
      `callers: { gateway: { allow: [echo] } }\noperators: [{ name: ops, tokens: [{ hash: ${hash(token)} }] }]`,
      "policy.yaml",
    ),
  );
const OPS = { authorization: "Bearer of-ops" };

interface Overview {
  readonly calls: { readonly ended: number; readonly codes: object } | null;
  readonly services: readonly { readonly name: string; readonly state: string }[];
}

/** The overviews of a stream, until it ends. */
async function* follow(url: string, headers: Readonly<Record<string, string>>): AsyncGenerator<Overview> {
  const { status, body } = await fetch(`${url}/operator/stream`, { headers });
  if (body === null || status !== 200) throw new Error(`status ${status}`);
  let text = "";
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const events = (text + part).split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = /^event: overview\ndata: (.*)$/.exec(event)?.[1];
      if (data !== undefined) yield JSON.parse(data) as Overview;
    }
  }
}

async function until(stream: AsyncGenerator<Overview>, isSo: (now: Overview) => boolean): Promise<Overview> {
  for (let next = await stream.next(); !next.done; next = await stream.next()) if (isSo(next.value)) return next.value;
  throw new Error("the stream has ended");
}

test("the stream shows calls as services count them, and ends once the token does not hold", async () => {
  let policy = await policyOf("of-ops");
  await using gateway = await startTestGateway({}, { ...holdPolicy(policy), current: () => policy });
  const stream = follow(gateway.url, OPS);
  await until(stream, ({ services }) => services.some(({ name }) => name === "test-tools"));
  for (let i = 0; i < 3; i++) await gateway.invoke("echo", { i });
  await until(stream, ({ calls }) => calls?.ended === 3);
  policy = await policyOf("of-somebody-else");
  for await (const _ of stream); // else the test never ends
  await expect(follow(gateway.url, OPS).next()).rejects.toThrow("401");
});

test("a session's stream needs both its halves, and ends with its logout", async () => {
  await using gateway = await startTestGateway({}, holdPolicy(await policyOf("of-ops")));
  const login = await gateway.send({ path: "/console/login", method: "POST", headers: OPS });
  const cookie = login.headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? "";
  const session = { cookie, "rb-console": String(login.json?.["value"]) };
  await expect(follow(gateway.url, { cookie }).next()).rejects.toThrow("401");
  const stream = follow(gateway.url, session);
  expect((await stream.next()).done).toBe(false);
  expect((await gateway.send({ path: "/console/logout", method: "POST", headers: session })).status).toBe(204);
  for await (const _ of stream);
});

test("one operator follows at most so many streams, and others still find a place", async () => {
  await using gateway = await startTestGateway({}, holdPolicy(await policyOf("of-ops")));
  const streams = Array.from({ length: 40 }, () => follow(gateway.url, OPS));
  const began = await Promise.allSettled(streams.map((stream) => stream.next()));
  expect(began.filter(({ status }) => status === "fulfilled").length).toBe(32);
  expect((await gateway.send({ path: "/operator/overview", headers: OPS })).status).toBe(200);
  for (const stream of streams) await stream.return(undefined);
  const again = async (): Promise<string> => {
    const stream = follow(gateway.url, OPS);
    const began = await stream.next().then(() => "follows", String);
    await stream.return(undefined);
    return began;
  };
  await expect.poll(again, { timeout: 30_000 }).toBe("follows"); // whoever leaves gives up the place
});

test("HEAD of the stream is answered, and holds no place though its connection stays", async () => {
  await using gateway = await startTestGateway({}, holdPolicy(await policyOf("of-ops")));
  const request = `HEAD /operator/stream HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${OPS.authorization}\r\n\r\n`;
  const sockets = Array.from({ length: 40 }, () => connect(gateway.port, "127.0.0.1").setEncoding("utf8"));
  for (const socket of sockets) socket.write(request);
  const answers = await Promise.all(sockets.map((socket) => once(socket, "data")));
  expect(answers.map(([text]) => String(text).split("\r\n", 1)[0])).toEqual(Array(40).fill("HTTP/1.1 200 OK"));
  const stream = follow(gateway.url, OPS);
  expect((await stream.next()).done).toBe(false);
  await stream.return(undefined);
  for (const socket of sockets) socket.destroy();
});
