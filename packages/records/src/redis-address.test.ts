import { expect, test } from "vitest";
import { parseRedisAddress } from "./redis-address.ts";

test.each([
  ["redis://localhost", { host: "localhost", port: 6379, db: 0, isTls: false, label: "redis://localhost:6379/0" }],
  [
    "rediss://:p%2Fw@cache:7000/3",
    { host: "cache", port: 7000, db: 3, password: "p/w", isTls: true, label: "rediss://cache:7000/3" },
  ],
  [
    "redis://u%40x:p@[::1]:1234/",
    { host: "::1", port: 1234, db: 0, username: "u@x", password: "p", isTls: false, label: "redis://[::1]:1234/0" },
  ],
  [
    "redis+sentinel://u:p@one,two:7000,[::1]/claims/2",
    {
      host: "one",
      port: 26379,
      db: 2,
      username: "u",
      password: "p",
      isTls: false,
      sentinels: {
        nodes: [
          { host: "one", port: 26379 },
          { host: "two", port: 7000 },
          { host: "::1", port: 26379 },
        ],
        master: "claims",
        isOpen: false,
      },
      label: "redis+sentinel://one:26379,two:7000,[::1]:26379/claims/2",
    },
  ],
  [
    "rediss+sentinel://:p@one/m?sentinels=open",
    {
      host: "one",
      port: 26379,
      db: 0,
      password: "p",
      isTls: true,
      sentinels: { nodes: [{ host: "one", port: 26379 }], master: "m", isOpen: true },
      label: "rediss+sentinel://one:26379/m/0",
    },
  ],
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
  "redis://:secret@a,b",
  "redis+sentinel://:secret@a,b",
  "redis+sentinel://:secret@a,/master",
  "redis+sentinel://:secret@a,u:secret@b/master",
  "redis+sentinel://:secret@a/master/first",
  "redis+sentinel://:secret@a/master/1/2",
  "redis+sentinel://:secret@a/master?sentinels=secret",
])("refuses %j without repeating it", (url) => {
  expect(() => parseRedisAddress(url)).toThrow(RangeError);
  expect(() => parseRedisAddress(url)).not.toThrow(/secret/);
});
