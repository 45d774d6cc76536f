import { expect, test } from "vitest";
import { createFrontDoor } from "./front-door.ts";

const faultOf = createFrontDoor({ allowedHosts: ["Tools.Internal"], allowedOrigins: ["HTTPS://Chat.example:443"] });
const request = (headers: Record<string, string>, { url = "/", twice = "" } = {}) =>
  faultOf({
    url,
    headers,
    rawHeaders: Object.entries(headers).flatMap(([name, value]) =>
      name === twice ? [name, value, name.toUpperCase(), value] : [name, value],
    ),
  });

test.each([
  ["loopback", { host: "127.0.0.1:8480" }],
  ["a name of ours, in any case", { host: "tools.INTERNAL" }],
  ["a page that may", { host: "localhost", origin: "https://chat.example" }],
  ["a page of our own", { host: "localhost:8480", origin: "http://localhost:8480" }],
  ["a page of our own behind a proxy that ends TLS", { host: "tools.internal", origin: "https://tools.internal" }],
  [
    "a page of our own that says its port, which it need not",
    { host: "Tools.Internal:443", origin: "https://tools.internal" },
  ],
])("a request passes that comes by %s", (_, headers) => {
  expect(request(headers)).toBeUndefined();
});

test.each([
  ["a strange name", { host: "evil.example" }, {}, "denied"],
  ["no name", {}, {}, "denied"],
  ["a strange name in its first line", { host: "localhost" }, { url: "http://evil.example/" }, "denied"],
  ["a strange page", { host: "localhost", origin: "https://evil.example" }, {}, "denied"],
  ["a page on another port of this machine", { host: "localhost:8480", origin: "http://localhost:8481" }, {}, "denied"],
  ["a page of another name of this machine", { host: "localhost:8480", origin: "http://127.0.0.1:8480" }, {}, "denied"],
  ["a page of a name rebound to us", { host: "evil.example", origin: "http://evil.example" }, {}, "denied"],
  [
    "a page of an origin that only ends like ours",
    { host: "localhost", origin: "http://evil@localhost" },
    {},
    "denied",
  ],
  ["a page of no web", { host: "localhost", origin: "file://localhost" }, {}, "denied"],
  ["two tokens", { host: "localhost", authorization: "Bearer x" }, { twice: "authorization" }, "malformed"],
  ["an encoding in an encoding", { host: "localhost", "transfer-encoding": "gzip, chunked" }, {}, "malformed"],
])("a request with %s is refused in words", (_, headers, more, kind) => {
  expect(request(headers as Record<string, string>, more)).toEqual({
    kind,
    message: expect.stringMatching(/^Cannot answer (the request:|a request) /),
  });
});
