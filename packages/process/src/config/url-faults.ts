import { parseRedisAddress } from "@rockbot/records/redis-address";

/**
 * The fault of a property that is an address: none, or one. Its words do not hold the address, which may have a
 * password in it.
 */
export function urlFaults(property: string, text: string | undefined): string[] {
  if (text === undefined) return [];
  if (/^rediss?(\+sentinel)?:/i.test(text)) return redisFaults(property, text);
  if (URL.canParse(text)) return [];
  return [
    `${property}: is not a valid address. Check the host and the port; in user and password, write % as %25, @ as %40 and the like`,
  ];
}

function redisFaults(property: string, text: string): string[] {
  try {
    parseRedisAddress(text);
    return [];
  } catch (error) {
    return [`${property}: ${(error as RangeError).message}`]; // it never holds the address
  }
}
