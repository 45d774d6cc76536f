import { expect, test } from "vitest";
import { createFrontDoor } from "./front-door.ts";

const faultOf = createFrontDoor({ allowedHosts: ["Tools.Internal"], allowedOrigins: ["HTTPS://Chat.example:443"] });
const request = (headers: Record<string, string>, { url = "/", twice = "" } = {}) =>
  faultOf({
    url,
    headers,
    headersDistinct: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, name === twice ? [value, value] : [value]])),
  });

test.each([
  ["loopback", { host: "127.0.0.1:8480" }],
  ["a name of ours, in any case", { host: "tools.INTERNAL" }],
  ["a page that may", { host: "localhost", origin: "https://chat.example" }],
])("a request passes that comes by %s", (_, headers) => {
  expect(request(headers)).toBeUndefined();
});

test.each([
  ["a strange name", { host: "evil.example" }, {}, "denied"],
  ["no name", {}, {}, "denied"],
  ["a strange name in its first line", { host: "localhost" }, { url: "http://evil.example/" }, "denied"],
  ["a strange page", { host: "localhost", origin: "https://evil.example" }, {}, "denied"],
  ["two tokens", { host: "localhost", authorization: "Bearer x" }, { twice: "authorization" }, "malformed"],
  ["an encoding in an encoding", { host: "localhost", "transfer-encoding": "gzip, chunked" }, {}, "malformed"],
])("a request with %s is refused in words", (_, headers, more, kind) => {
  expect(request(headers as Record<string, string>, more)).toEqual({ kind, message: expect.stringMatching(/^Cannot answer (the request:|a request) /) });
});
