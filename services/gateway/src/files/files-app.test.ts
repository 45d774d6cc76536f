import { createHash, randomBytes } from "node:crypto";
import { connect } from "node:net";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { createMemoryFileStore, MAX_FILE_BYTES } from "@rockbot/records/files";
import { expect, test } from "vitest";
import { startTestGateway } from "../test-gateway.ts";

const hashOf = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const yaml = `
everyone: { allow: ["*"] }
callers:
  ann: { tokens: [{ hash: "${hashOf("ann-token")}" }] }
  bob: { tokens: [{ hash: "${hashOf("bob-token")}" }] }
operators: [{ name: ops, tokens: [{ hash: "${hashOf("ops-token")}" }] }]
`;

async function startWithFiles() {
  await using stack = new AsyncDisposableStack();
  const { files } = stack.use(createMemoryFileStore());
  const policy = holdPolicy(createPolicy(await readPolicy(yaml, "of the test")));
  const gateway = stack.use(await startTestGateway({}, policy, undefined, { files }));
  const parts = stack.move();
  return {
    ...gateway,
    files,
    put: (name: string, body: string | Buffer, headers: Record<string, string> = bearer("ann-token")) =>
      gateway.send({ method: "PUT", path: `/v1/files?name=${encodeURIComponent(name)}`, headers }, body),
    get: (path: string, headers: Record<string, string> = bearer("ann-token")) =>
      gateway.send({ path: `/v1/files${path}`, headers }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const handleOf = ({ json }: { readonly json: Record<string, unknown> | undefined }): string => String(json?.["handle"]);

test("a caller keeps a file, reads it in whole and in part, lists it and deletes it", async () => {
  await using gateway = await startWithFiles();
  const put = await gateway.put("data.csv", "a,b\n1,2\n", { ...bearer("ann-token"), "rockbot-untrusted": "true" });
  expect(put.status).toBe(201);
  expect(put.json).toMatchObject({ name: "data.csv", type: "text/csv", size: 8, isUntrusted: true });
  const path = `/${handleOf(put)}`;
  expect(await gateway.get(path)).toMatchObject({
    status: 200,
    text: "a,b\n1,2\n",
    headers: { "content-length": "8", "rockbot-untrusted": "true" },
  });
  const part = await gateway.get(path, { ...bearer("ann-token"), range: "bytes=4-6" });
  expect(part).toMatchObject({ status: 206, text: "1,2", headers: { "content-range": "bytes 4-6/8" } });
  expect((await gateway.get(path, { ...bearer("ann-token"), range: "bytes=-2" })).text).toBe("2\n");
  expect(await gateway.get(path, { ...bearer("ann-token"), range: "bytes=8-" })).toMatchObject({
    status: 416,
    headers: { "content-range": "bytes */8" },
  });
  expect((await gateway.get(path, { ...bearer("ann-token"), range: "bytes=0-1,4-5" })).status).toBe(200);
  const ifSame = { ...bearer("ann-token"), range: "bytes=4-6", "if-range": '"of another file"' };
  expect(await gateway.get(path, ifSame)).toMatchObject({ status: 200, text: "a,b\n1,2\n" });
  expect((await gateway.get("")).json).toEqual({ files: [put.json] });
  expect(
    (await gateway.send({ method: "DELETE", path: `/v1/files${path}`, headers: bearer("ann-token") })).status,
  ).toBe(204);
  expect((await gateway.get(path)).status).toBe(404);
  expect((await gateway.get("")).json).toEqual({ files: [] });
});

test("a head tells of a file without its bytes, also where it asks for a part of them", async () => {
  await using gateway = await startWithFiles();
  const path = `/v1/files/${handleOf(await gateway.put("data.csv", "a,b\n1,2\n"))}`;
  const head = await gateway.send({ method: "HEAD", path, headers: bearer("ann-token") });
  expect(head).toMatchObject({ status: 200, text: "", headers: { "content-length": "8", "accept-ranges": "bytes" } });
  const ofPart = { method: "HEAD", path, headers: { ...bearer("ann-token"), range: "bytes=8-" } };
  expect((await gateway.send(ofPart)).status).toBe(200);
  const post = await gateway.send({ method: "POST", path, headers: bearer("ann-token") }, "x");
  expect(post).toMatchObject({ status: 405, headers: { allow: "GET, HEAD, DELETE" } });
});

test("a file is not kept under a query that nobody reads", async () => {
  await using gateway = await startWithFiles();
  const query = { method: "PUT", path: "/v1/files?name=data.csv&ttl=5", headers: bearer("ann-token") };
  expect(await gateway.send(query, "a")).toMatchObject({
    status: 400,
    json: { message: expect.stringContaining('"ttl"') },
  });
});

test("a file of many pieces comes back as it went in", async () => {
  await using gateway = await startWithFiles();
  const bytes = randomBytes(9 * 1024 ** 2 + 5);
  const put = await gateway.put("large.bin", bytes);
  const response = await fetch(`${gateway.url}/v1/files/${handleOf(put)}`, { headers: bearer("ann-token") });
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
});

test("a file belongs to its caller: nobody else reads, lists or deletes it", async () => {
  await using gateway = await startWithFiles();
  const path = `/${handleOf(await gateway.put("a.txt", "secret"))}`;
  expect((await gateway.get(path, bearer("bob-token"))).status).toBe(404);
  expect((await gateway.get("", bearer("bob-token"))).json).toEqual({ files: [] });
  const remove = { method: "DELETE", path: `/v1/files${path}`, headers: bearer("bob-token") };
  expect((await gateway.send(remove)).status).toBe(404);
  expect((await gateway.get(path)).text).toBe("secret");
});

test("files are for callers' tokens only: neither an operator's, nor the console's cookie, nor none", async () => {
  await using gateway = await startWithFiles();
  const login = await gateway.send({ method: "POST", path: "/console/login", headers: bearer("ops-token") });
  const cookie = login.headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? "";
  expect(cookie).not.toBe("");
  for (const headers of [{}, { cookie }, bearer("ops-token")])
    expect((await gateway.get("", headers as Record<string, string>)).status).toBe(401);
});

test.each([
  ["evil.svg", "image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
  ["evil.html", "text/html", "<script>alert(1)</script>"],
  ["evil.pdf", "text/html", "<script>alert(1)</script>"],
  ["evil.js", "text/javascript", "alert(1)"],
])("%s is never served as a page or a script", async (name, type, body) => {
  await using gateway = await startWithFiles();
  const put = await gateway.put(name, body, { ...bearer("ann-token"), "content-type": type });
  const { headers } = await gateway.get(`/${handleOf(put)}`);
  expect(headers).toMatchObject({
    "content-type": expect.stringMatching(/^application\/(octet-stream|pdf)$/),
    "content-disposition": `attachment; filename*=UTF-8''${name}`,
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
});

test.each(["", "..", "../../etc/passwd", "a/b", "line\r\nSet-Cookie: x=1", "x".repeat(256)])(
  "a file is not kept under the name %j",
  async (name) => {
    await using gateway = await startWithFiles();
    expect(await gateway.put(name, "x")).toMatchObject({ status: 400, json: { details: { reason: "file_name" } } });
  },
);

test("a name with quotes and letters of all kinds goes out as one name", async () => {
  await using gateway = await startWithFiles();
  const put = await gateway.put(`Übersicht "1" (a).csv`, "x");
  const { headers } = await gateway.get(`/${handleOf(put)}`);
  expect(headers["content-disposition"]).toBe("attachment; filename*=UTF-8''%C3%9Cbersicht%20%221%22%20%28a%29.csv");
});

test("a body that is said to be too large is not read, and a caller without room is told so", async () => {
  await using gateway = await startWithFiles();
  const headers = { ...bearer("ann-token"), "content-length": String(MAX_FILE_BYTES + 1) };
  const answer = await new Promise<string>((resolve, reject) => {
    const lines = [
      `PUT /v1/files?name=a HTTP/1.1`,
      "host: 127.0.0.1",
      ...Object.entries(headers).map((pair) => pair.join(": ")),
    ];
    const socket = connect(gateway.port, "127.0.0.1", () => socket.write(`${lines.join("\r\n")}\r\n\r\n`));
    socket.once("data", (data) => {
      socket.destroy();
      resolve(data.toString());
    });
    socket.once("error", reject);
  });
  expect(answer).toMatch(/^HTTP\/1.1 413 /);
  expect(await gateway.put("large", Buffer.alloc(65 * 1024 ** 2))).toMatchObject({
    status: 413,
    json: { details: { reason: "file_room" } },
  });
  expect((await gateway.get("")).json).toEqual({ files: [] });
});

test("a client that goes away in the midst of its file leaves nothing", async () => {
  await using gateway = await startWithFiles();
  const socket = connect(gateway.port, "127.0.0.1");
  socket.write(
    `PUT /v1/files?name=cut HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ann-token\r\ncontent-length: 5000000\r\n\r\n`,
  );
  await new Promise<void>((resolve) => socket.write(Buffer.alloc(2_000_000), () => resolve()));
  socket.destroy();
  // The room is that of one file of 63 MiB only once all of the other is gone.
  await expect
    .poll(async () => (await gateway.put("whole", Buffer.alloc(63 * 1024 ** 2))).status, { timeout: 10_000 })
    .toBe(201);
  expect((await gateway.get("")).json).toMatchObject({ files: [{ name: "whole" }] });
});

test("the OpenAPI document has the paths of files where there are files", async () => {
  await using gateway = await startWithFiles();
  const document = await gateway.send({ path: "/openapi.json", headers: bearer("ann-token") });
  expect(Object.keys(document.json?.["paths"] as object)).toEqual(
    expect.arrayContaining(["/v1/files", "/v1/files/{handle}"]),
  );
  await using without = await startTestGateway();
  expect((await without.send({ path: "/v1/files" })).status).toBe(404);
});
