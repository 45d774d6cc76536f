import { expect, test } from "vitest";
import { parseRedisAddress } from "./redis-address.ts";

test.each([
  ["redis://localhost", { host: "localhost", port: 6379, db: 0, isTls: false, label: "redis://localhost:6379/0" }],
  ["rediss://:p%2Fw@cache:7000/3", { host: "cache", port: 7000, db: 3, password: "p/w", isTls: true, label: "rediss://cache:7000/3" }],
  ["redis://u%40x:p@[::1]:1234/", { host: "::1", port: 1234, db: 0, username: "u@x", password: "p", isTls: false, label: "redis://[::1]:1234/0" }],
])("reads %s", (url, address) => {
  expect(parseRedisAddress(url)).toEqual(address);
});

test.each([
  "",
  "http://:secret@b",
  "redis:",
  "redis:///1",
  "cache:6379",
  "redis://:secret@b/?enableOfflineQueue=true",
  "redis://:secret@b/#1",
  "redis://:secret@b/first",
  "redis://:secret@b/-1",
  "redis://:secret%@b",
])("refuses %j without repeating it", (url) => {
  expect(() => parseRedisAddress(url)).toThrow(RangeError);
  expect(() => parseRedisAddress(url)).not.toThrow(/secret/);
});
