import { expect, test } from "vitest";
import { addressFault, createAddressPolicy } from "./address-policy.ts";

const target = (host: string, port: number, address = host) => ({ host, port, address });

test("public addresses are permitted on the allowed ports only", () => {
  const policy = createAddressPolicy({ allowPorts: [443] });

  expect(policy.permits(target("example.com", 443, "93.184.216.34"))).toBe(true);
  expect(policy.permits(target("example.com", 22, "93.184.216.34"))).toBe(false);
  expect(policy.permitsPort("example.com", 22)).toBe(false);
});

test("HOST:PORT permits whatever that host resolves to, on that port", () => {
  const policy = createAddressPolicy({ allowAddresses: ["Intranet.example.:9000"] });

  expect(policy.permitsPort("intranet.example", 9000)).toBe(true);
  expect(policy.permits(target("intranet.example", 9000, "10.1.2.3"))).toBe(true);
  expect(policy.permits(target("INTRANET.example.", 9000, "fd00::1"))).toBe(true);
  expect(policy.permits(target("intranet.example", 80, "10.1.2.3"))).toBe(false);
  expect(policy.permits(target("evil.example", 9000, "10.1.2.3"))).toBe(false);
  expect(policy.permitsPort("evil.example", 9000)).toBe(false);
  expect([
    policy.names("INTRANET.example.", 9000),
    policy.names("intranet.example", 80),
    policy.names("evil.example", 9000),
  ]).toEqual([true, false, false]);
});

test.each([
  ["127.0.0.1:9000", "127.0.0.1"],
  ["[fd00::1]:9000", "fd00::1"],
  ["127.0.0.0/8:9000", "127.9.9.9"],
  ["[fd00::/8]:9000", "fd12::1"],
  ["fd00::/8:9000", "fd12::1"],
])("%s permits its addresses under any name, on that port", (exception, address) => {
  const policy = createAddressPolicy({ allowAddresses: [exception] });

  expect(policy.permits(target("any.example", 9000, address))).toBe(true);
  expect(policy.permits(target("any.example", 80, address))).toBe(false);
  expect(policy.permits(target("any.example", 9000, "192.168.0.1"))).toBe(false);
});

test.each([
  ["10.0.0.0/8", "10.1.2.3"],
  ["10.1.2.3", "10.1.2.3"],
  ["fd00::/8", "fd00::7"],
  ["[fd00::/8]", "fd00::7"],
  ["::1", "::1"],
])("%s permits its addresses on the allowed ports", (exception, address) => {
  const policy = createAddressPolicy({ allowAddresses: [exception] });

  expect(policy.permits(target("any.example", 80, address))).toBe(true);
  expect(policy.permits(target("any.example", 9000, address))).toBe(false);
  expect(policy.permits(target("any.example", 80, "192.168.0.1"))).toBe(false);
});

test.each([
  "",
  "host",
  "host:",
  "host:0",
  "host:70000",
  "host:80:80",
  "http://host:80",
  "host:80/path",
  "10.0.0.0/33",
  "10.0.0.0/",
  "10.0.0:80",
  "fd00::/129",
  "[fd00::1:80",
  "user@host:80",
  "*:80",
  "a b:80",
  "fe80::1%eth0",
])("%j cannot be read, and the fault says what can", (text) => {
  expect(addressFault(text)).toContain("expected HOST:PORT");
  expect(() => createAddressPolicy({ allowAddresses: [text] })).toThrow(RangeError);
});
