/** The bus that a command means: the option, else ROCKBOT_BUS, else BUS_URL, else the in-memory bus. */
export function chooseBusUrl(option: string | undefined, env: Readonly<Record<string, string | undefined>>): string {
  return option ?? (env["ROCKBOT_BUS"] || env["BUS_URL"] || MEMORY_BUS);
}

export const MEMORY_BUS = "memory:";

/** The faults of a bus's address, in words that show no password. */
export function busUrlFaults(url: string): string[] {
  if (url === MEMORY_BUS) return [];
  if (/^amqps?:\/\//.test(url) && URL.canParse(url)) return [];
  return ["the bus: expected memory: or amqp(s)://user:password@host/vhost (from --bus, ROCKBOT_BUS or BUS_URL)"];
}

/** The address without user and password, for people. */
export function displayBusUrl(url: string): string {
  if (url === MEMORY_BUS) return "the in-memory bus";
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}
