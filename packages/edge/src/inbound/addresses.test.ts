import { expect, test } from "vitest";
import { addressFaults, networkOf, readAddresses } from "./addresses.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8::6", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["", ""],
])("%s is counted for %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test("a list has its addresses and those of its networks, however version 4 is written", () => {
  const list = readAddresses(["10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "::1"]);

  for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "192.0.2.1", "2001:db8:1::1", "::1"])
    expect(list.has(address), address).toBe(true);
  for (const address of ["11.0.0.1", "192.0.2.2", "2001:db9::1", "::2", ""])
    expect(list.has(address), address).toBe(false);
});

test.each(["ingress", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "::/129", "10.0.0/8", ""])(
  "%j is a fault, and says which",
  (text) => {
    expect(addressFaults("proxies", ["10.0.0.1", text])).toEqual([
      expect.stringMatching(/^proxies\.1: expected an address such as /),
    ]);
  },
);
