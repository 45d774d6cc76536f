import { BlockList, isIP } from "node:net";

/**
 * Tells whether packets to `address` go to the public Internet: global unicast, and none of the special ranges below.
 * Decided on the address's bytes. An IPv6 address that carries an IPv4 one (mapped, NAT64, 6to4, Teredo) is never
 * public: it would reach the IPv4 address inside. Anything that is not an address in canonical text is not public.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, "ipv4");
    case 6:
      return globalUnicast6.check(withoutZone(address), "ipv6") && !special.check(withoutZone(address), "ipv6");
    default:
      return false;
  }
}

const withoutZone = (address: string): string => address.split("%")[0] ?? address;

/**
 * The one block of IPv6 from which global unicast addresses are given out.
 * @see https://www.iana.org/assignments/ipv6-address-space
 */
const globalUnicast6 = blockList(["2000::/3"]);

/**
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry and
 * https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const special = blockList([
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "168.63.129.16/32", // Azure's host agent, in public space
  "169.254.0.0/16", // link-local, and the clouds' metadata services
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.31.196.0/24", // AS112
  "192.52.193.0/24", // AMT relays
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "192.175.48.0/24", // AS112
  "198.18.0.0/15", // benchmarking
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
  "2001::/23", // protocol assignments: Teredo, benchmarking, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "2620:4f:8000::/48", // AS112
  "3fff::/20", // documentation
]);

function blockList(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [net = "", prefix] = subnet.split("/");
    list.addSubnet(net, Number(prefix), isIP(net) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
