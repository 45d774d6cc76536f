import { once } from "node:events";
import { get, type RequestListener, request } from "node:http";
import { connect } from "node:net";
import { floodKinds, floodSockets } from "@rockbot/testing";
import { expect, test } from "vitest";
import { letIn, type StartServerOptions, startServer } from "./start-server.ts";

/** Lets in who has the header `token`; what is asked for below `/wait` is not answered. */
const listener: RequestListener = (incoming, outgoing) => {
  if (incoming.headers["token"] !== undefined) letIn(incoming);
  if (incoming.url === "/large") outgoing.end(Buffer.alloc(64 * 1024 * 1024));
  else if (incoming.url === "/wait") outgoing.write("soon");
  else outgoing.end("ok");
};

const start = (options: StartServerOptions = {}) =>
  startServer(listener, { host: "127.0.0.1", port: 0 }, { drainMs: 0, ...options });

/** A connection on which something has been said, and how it ends. */
async function open(port: number, text = "", { localAddress = "127.0.0.1", allowHalfOpen = false } = {}) {
  const socket = connect({ port, host: "127.0.0.1", localAddress, allowHalfOpen });
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString())).on("error", () => {});
  const closed = new Promise<"closed">((done) => socket.once("close", () => done("closed")));
  await once(socket, "connect");
  socket.write(text);
  return {
    socket,
    closed,
    get answer() {
      return answer;
    },
    get isOpen() {
      return !socket.readableEnded && !socket.destroyed;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

const ask = (path: string, headers = ""): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
const TOKEN = "token: x\r\n";

async function status(port: number, localAddress = "127.0.0.1"): Promise<number | undefined> {
  const [response] = await once(get({ port, host: "127.0.0.1", localAddress, agent: false }), "response");
  response.resume();
  return response.statusCode;
}

test.each(Object.keys(floodKinds) as (keyof typeof floodKinds)[])(
  "%s connections, more than there may be, keep nobody out",
  async (kind) => {
    await using server = await start({ maxConnections: 20 });
    using _flood = await floodSockets({ port: server.port, host: "127.0.0.1" }, 60, kind);

    for (let i = 0; i < 3; i++) expect(await status(server.port)).toBe(200);
  },
);

test.each([
  ["says nothing", "", 408],
  ["says half a request", "GET / HTTP/1.1\r\nHost: localhost\r\n", 408],
  ["says what is no HTTP", "\x16\x03\x01\r\n\r\n", 400],
  ["has headers that are too large", ask("/", `x: ${"x".repeat(20_000)}\r\n`), 431],
])("who %s, and never ends the connection, is told so and cut off", async (_, text, expected) => {
  await using server = await start({ requestTimeoutMs: 100, refusal: (code, message) => ({ code, message }) });
  using client = await open(server.port, text, { allowHalfOpen: true });
  await once(client.socket, "end");
  expect(client.answer).toMatch(
    new RegExp(`^HTTP/1.1 ${expected} [^]*"code":${expected},"message":"Cannot read the request: it`),
  );

  // What is written to a connection that has gone is answered by its end.
  const timer = setInterval(() => client.socket.write("x"), 50);
  expect(await client.closed).toBe("closed");
  clearInterval(timer);
});

test("an answer that nobody reads is cut off, also that of a client who was let in, as is a request without end of a stranger; no other", async () => {
  const cut = new Set<string>();
  const listening: RequestListener = (incoming, outgoing) => {
    outgoing.once("close", () => cut.add(`${incoming.url} ${incoming.headers["token"]}`));
    listener(incoming, outgoing);
  };
  await using server = await startServer(
    listening,
    { host: "127.0.0.1", port: 0 },
    { requestTimeoutMs: 100, drainMs: 0 },
  );
  using waiting = await open(server.port, ask("/wait", TOKEN));
  using unread = await open(server.port, ask("/large", TOKEN));
  unread.socket.pause();
  using _stranger = await open(server.port, ask("/wait"));

  await expect.poll(() => [...cut].sort(), { timeout: 10_000 }).toEqual(["/large x", "/wait undefined"]);
  expect([waiting.isOpen, waiting.answer]).toEqual([true, expect.stringContaining("soon")]);
});

test("a newcomer takes the place of the network with the most strangers, of its oldest first", async () => {
  await using server = await start({ maxConnections: 4 });
  using other = await open(server.port, "", { localAddress: "127.0.0.2" });
  using first = await open(server.port);
  using second = await open(server.port);
  using third = await open(server.port);
  using newcomer = await open(server.port, ask("/"), { localAddress: "127.0.0.3" });
  await expect.poll(() => newcomer.answer).toContain("ok");

  expect(await first.closed).toBe("closed");
  expect([other, second, third].map(({ isOpen }) => isOpen)).toEqual([true, true, true]);
});

test("who was let in keeps the place before strangers; without strangers the longest idle gives way, and a running request never", async () => {
  await using server = await start({ maxConnections: 3 });
  using running = await open(server.port, ask("/wait", TOKEN));
  await expect.poll(() => running.answer).toContain("soon");
  using idle = await open(server.port, ask("/", TOKEN));
  await expect.poll(() => idle.answer).toContain("ok");
  using stranger = await open(server.port);
  using next = await open(server.port, ask("/", TOKEN));
  await expect.poll(() => next.answer).toContain("ok");
  expect(await stranger.closed).toBe("closed");
  expect(idle.isOpen).toBe(true);

  expect(await status(server.port)).toBe(200);
  expect(await idle.closed).toBe("closed");
  expect([running.isOpen, next.isOpen]).toEqual([true, true]);
});

test("when all connections have requests that run, a newcomer is closed, and the next one served when one has ended", async () => {
  await using server = await start({ maxConnections: 1 });
  using running = await open(server.port, ask("/wait", TOKEN));
  await expect.poll(() => running.answer).toContain("soon");
  await expect(status(server.port)).rejects.toThrow();
  running.socket.destroy();

  await expect.poll(() => status(server.port).catch(() => "full")).toBe(200);
});

test("an address has so many strangers' connections once they are half a second old, and a proxy as many as there is room", async () => {
  await using server = await start({ strangersPerAddress: 2, proxies: ["127.0.0.8/29"] });
  const opened = await Promise.all(
    ["127.0.0.2", "127.0.0.9"].map(async (address) => {
      const clients = [];
      for (let i = 0; i < 4; i++) clients.push(await open(server.port, "", { localAddress: address }));
      return clients;
    }),
  );
  using stack = new DisposableStack();
  for (const client of opened.flat()) stack.use(client);
  const count = (clients: (typeof opened)[number] = []): number => clients.filter(({ isOpen }) => isOpen).length;
  expect(opened.map(count)).toEqual([4, 4]);

  await expect
    .poll(async () => {
      for (const address of ["127.0.0.2", "127.0.0.9"]) await status(server.port, address);
      return opened.map(count);
    })
    .toEqual([1, 4]);
});

test("who asks for what cannot be expected is told so", async () => {
  await using server = await start();
  const asked = request({ port: server.port, host: "127.0.0.1", headers: { expect: "miracles" }, agent: false });
  asked.end();
  const [response] = await once(asked, "response");
  response.resume();

  expect(response.statusCode).toBe(417);
});

test("a proxy that is no address stops the start", async () => {
  await expect(start({ proxies: ["ingress"] })).rejects.toThrow(RangeError);
});
