import { BlockList, isIP } from "node:net";

/** Addresses of IP, single ones and whole networks. */
export interface AddressList {
  has(address: string): boolean;
}

/** @throws {RangeError} for a text that is neither an address of IP nor a network, such as 10.0.0.0/8 */
export function readAddresses(texts: readonly string[]): AddressList {
  const list = new BlockList();
  for (const text of texts) {
    const [address = "", bits, ...more] = text.split("/");
    const [type, most] = isIP(address) === 6 ? (["ipv6", 128] as const) : (["ipv4", 32] as const);
    if (
      isIP(address) === 0 ||
      more.length > 0 ||
      (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most))
    )
      throw new RangeError(
        `expected an address such as 10.0.0.1, or a network such as 10.0.0.0/8, got ${JSON.stringify(text.slice(0, 80))}`,
      );
    list.addSubnet(address, bits === undefined ? most : Number(bits), type);
  }
  return {
    has(address) {
      const family = isIP(plain(address));
      return family !== 0 && list.check(plain(address), family === 6 ? "ipv6" : "ipv4");
    },
  };
}

/** The faults of a property that lists addresses, for `loadConfig`. */
export function addressFaults(property: string, texts: readonly string[] | undefined = []): string[] {
  return texts.flatMap((text, i) => {
    try {
      readAddresses([text]);
      return [];
    } catch (error) {
      return [`${property}.${i}: ${(error as Error).message}`];
    }
  });
}

/**
 * The name that an address is counted under: the address itself. One machine has as many addresses of version 6 as it
 * likes. So an address of version 6 is counted under its network of 64 bits, written as such.
 */
export function networkOf(address: string): string {
  const text = plain(address);
  if (isIP(text) !== 6) return text;
  const [head = "", tail] = text.split("::");
  const [left, right] = [head, tail ?? ""].map((part) => part.split(":").filter((group) => group !== ""));
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - (left?.length ?? 0) - (right?.length ?? 0))).fill("0");
  return `${[...(left ?? []), ...zeros, ...(right ?? [])].slice(0, 4).join(":")}::/64`;
}

/** The address without its zone, and as one of version 4 where version 6 only wraps it. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
