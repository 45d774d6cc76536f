import { connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { startTcpFaultProxy } from "./tcp-fault-proxy.ts";

test("forwards, cuts after as many bytes as asked, and goes on for the next connection", async () => {
  await using server = await startEcho();
  await using proxy = await startTcpFaultProxy(server.url);
  const first = client(proxy.through(server.url));
  first.socket.write("hello");
  await expect.poll(first.text).toBe("hello");
  expect(proxy.open).toBe(1);

  const cut = proxy.cutAt({ direction: "toBroker", afterBytes: 3 });
  first.socket.write("again");
  await cut;
  await expect.poll(() => first.socket.destroyed).toBe(true);
  expect(proxy.bytes.toBroker).toBe("hello".length + 3);
  expect(proxy.open).toBe(0);

  const second = client(proxy.through(server.url));
  second.socket.write("still here");
  await expect.poll(second.text).toBe("still here");
  proxy.cutAll();
  await expect.poll(() => second.socket.destroyed).toBe(true);
  expect(proxy.accepted).toBe(2);
});

test("while silent holds everything back, and loses none of it", async () => {
  await using server = await startEcho();
  await using proxy = await startTcpFaultProxy(server.url);
  proxy.setSilent(true);
  const one = client(proxy.through(server.url));
  one.socket.write("late");
  await expect.poll(() => proxy.open).toBe(1);
  expect(proxy.bytes).toEqual({ toBroker: 0, toClient: 0 });
  proxy.setSilent(false);
  await expect.poll(one.text).toBe("late");
});

test("silent in one direction it forwards in the other", async () => {
  await using server = await startEcho();
  await using proxy = await startTcpFaultProxy(server.url);
  proxy.setSilent(true, "toClient");
  const one = client(proxy.through(server.url));
  one.socket.write("heard");
  await expect.poll(() => proxy.bytes).toEqual({ toBroker: "heard".length, toClient: 0 });
  proxy.setSilent(false, "toClient");
  await expect.poll(one.text).toBe("heard");
});

function client(url: string): { readonly socket: Socket; readonly text: () => string } {
  let received = "";
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString();
  });
  socket.on("error", () => {}); // a reset is what is asked for
  return { socket, text: () => received };
}

async function startEcho(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `amqp://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
