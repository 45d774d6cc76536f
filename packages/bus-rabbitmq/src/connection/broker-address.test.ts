import { expect, test } from "vitest";
import { parseBrokerAddresses } from "./broker-address.ts";

test.each([
  [
    "amqp://localhost",
    { protocol: "amqp", hostname: "localhost", port: 5672, username: "guest", password: "guest", vhost: "/" },
    "amqp://localhost:5672/",
  ],
  [
    "amqps://a:b@broker/tenant",
    { protocol: "amqps", hostname: "broker", port: 5671, username: "a", password: "b", vhost: "tenant" },
    "amqps://broker:5671/tenant",
  ],
  [
    "amqp://u%40x:p%2Fw@[::1]:1234/%2F",
    { protocol: "amqp", hostname: "::1", port: 1234, username: "u@x", password: "p/w", vhost: "%2F" },
    "amqp://[::1]:1234/%2F",
  ],
])("reads %s", (url, connect, label) => {
  expect(parseBrokerAddresses(url)).toEqual([{ connect, user: connect.username, label }]);
});

test.each([
  "",
  "http://a:secret@b",
  "amqp:",
  "broker:5672",
  "amqp://a:secret@b/?heartbeat=1",
  "amqp://a:secret%@b",
  "amqp://a:secret@b,,c",
])("refuses %j without repeating it", (url) => {
  expect(() => parseBrokerAddresses(url)).toThrow(RangeError);
  expect(() => parseBrokerAddresses(url)).not.toThrow(/secret/);
});

test("reads the nodes of a cluster, each with the user, the password and the virtual host", () => {
  const read = parseBrokerAddresses("amqp://u:p%2Cw@one,two:1234,[::1]:5/v").map(({ connect, label }) => [
    connect.hostname,
    connect.password,
    label,
  ]);
  expect(read).toEqual([
    ["one", "p,w", "amqp://one:5672/v"],
    ["two", "p,w", "amqp://two:1234/v"],
    ["::1", "p,w", "amqp://[::1]:5/v"],
  ]);
});
