import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { postText } from "./post-text.ts";

/** The address of a server that answers so, for one test. */
async function serve(answer: RequestListener): Promise<URL> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/here`);
}

const post = (url: URL, signal?: AbortSignal) =>
  postText(url, { headers: new Headers({ "content-type": "text/plain" }), body: "ä", signal });

test.each([
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
  ["deflate", deflateSync],
  ["zstd", zstdCompressSync],
  ["gzip, br", (text: string) => brotliCompressSync(gzipSync(text))],
  ["identity", Buffer.from],
  ["constructor", Buffer.from],
])("what a server answers is read where it is packed as %s", async (encoding, pack) => {
  const url = await serve(async (request, response) => {
    const said = `${request.method} ${request.headers["content-type"]} ${await text(request)}`;
    response.writeHead(201, { "content-encoding": encoding, "x-more": ["1", "2"] }).end(pack(said));
  });
  const { status, headers, body } = await post(url);

  expect([status, headers.get("x-more"), await text(body)]).toEqual([201, "1, 2", "POST text/plain ä"]);
});

test("a piece of a packed answer is there before the next one comes", async () => {
  const url = await serve((_, response) => {
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
    gzip.pipe(response.writeHead(200, { "content-encoding": "gzip" }));
    gzip.write("first");
  });
  const { body } = await post(url);

  for await (const piece of body) {
    expect(String(piece)).toBe("first");
    break;
  }
  expect(body.destroyed).toBe(true);
});

test("an answer that breaks off fails its reader, and nobody where none reads", async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { "content-length": "100" }).write("begun", () => response.destroy());
  });

  await expect(text((await post(url)).body)).rejects.toThrow();
  (await post(url)).body.destroy();
});

test("no answer is an error that says why, and an aborted post is the signal's reason", async () => {
  const url = await serve((_, response) => response.destroy());
  await expect(post(url)).rejects.toMatchObject({ name: "TypeError", cause: { code: "UND_ERR_SOCKET" } });

  const silent = await serve(() => {});
  const controller = new AbortController();
  const posted = post(silent, controller.signal);
  controller.abort(new Error("enough"));
  await expect(posted).rejects.toThrow("enough");
});

test("a post that is aborted ends at once, also where its connection is not there yet", async () => {
  const silent = createTcpServer(() => {}); // never answers the handshake of TLS
  await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
  onTestFinished(() => void silent.close());
  const url = new URL(`https://127.0.0.1:${(silent.address() as AddressInfo).port}/`);
  const controller = new AbortController();
  silent.once("connection", (socket) => {
    onTestFinished(() => void socket.destroy());
    controller.abort(new Error("enough"));
  });

  await expect(post(url, controller.signal)).rejects.toThrow("enough");
  await expect(post(url, controller.signal)).rejects.toThrow("enough");
});

test("an answer that is packed more often than anybody packs is not unpacked", async () => {
  const packedAs = Array(200).fill("gzip").join(", ");
  const url = await serve((_, response) => response.writeHead(200, { "content-encoding": packedAs }).end("x"));
  await expect(post(url)).rejects.toMatchObject({ cause: { message: "more than 5 content encodings" } });
});

test("what nobody reads ends no process, also where it is not packed as it says", async () => {
  const url = await serve((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip"));
  const { body } = await post(url);
  const closed = new Promise((resolve) => body.once("close", resolve));
  body.resume();
  await closed;
  await expect(text((await post(url)).body)).rejects.toMatchObject({ code: "Z_DATA_ERROR" });
});

test("a guarded post takes no redirect for an answer, and reaches no strange address", async () => {
  const url = await serve((_, response) => response.writeHead(307, { location: "/there" }).end());
  const guarded = (allowAddresses: readonly string[]) =>
    postText(url, { headers: new Headers(), body: "", signal: undefined, guard: { allowAddresses } });

  await expect(guarded([url.host])).rejects.toMatchObject({ cause: { message: "unexpected redirect" } });
  await expect(guarded([])).rejects.toMatchObject({ cause: { name: "BlockedAddressError" } });
  expect((await post(url)).headers.get("location")).toBe("/there");
});
