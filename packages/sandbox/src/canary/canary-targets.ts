import { getServers } from "node:dns";

/** Something that scripts must not reach. */
export interface CanaryTarget {
  /** The name for people, such as "the broker". */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** How it shows that it was reached: it takes a connection, or answers a question. @default tcp */
  readonly protocol?: "tcp" | "dns" | undefined;
  /** Without having tried this one nothing is known. @default false */
  readonly isRequired?: boolean | undefined;
}

/** The addresses around the scripts that they must not reach. */
export interface CanaryTargetsOptions {
  /** The API server of the cluster that runs the scripts, if one does. */
  readonly apiServer?: URL | undefined;
  /** `amqp:` or `amqps:`; none for a bus within the process. */
  readonly brokerUrl?: URL | undefined;
  /** @default those of this process */
  readonly dnsServers?: readonly string[] | undefined;
}

/** Where clouds hand their machines' credentials out. */
const METADATA = "169.254.169.254";
/** Any address of the internet would do. */
const PUBLIC = "1.1.1.1";

/** All that a script must not reach from where it runs, as seen from here. */
export function canaryTargets({
  apiServer,
  brokerUrl,
  dnsServers = getServers(),
}: CanaryTargetsOptions): CanaryTarget[] {
  const [dns] = dnsServers;
  return [
    ...(apiServer === undefined ? [] : [required("the API server", apiServer, 443)]),
    ...(brokerUrl === undefined
      ? []
      : [required("the broker", brokerUrl, brokerUrl.protocol === "amqps:" ? 5671 : 5672)]),
    ...(dns === undefined ? [] : [{ name: "DNS", ...hostAndPort(dns), protocol: "dns" as const }]),
    { name: "the metadata address", host: METADATA, port: 80 },
    { name: "a public address", host: PUBLIC, port: 443 },
  ];
}

function required(name: string, { hostname, port }: URL, standardPort: number): CanaryTarget {
  return {
    name,
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? standardPort : Number(port),
    isRequired: true,
  };
}

/** As Node writes name servers: an address, or with a port `1.2.3.4:5353` and `[::1]:5353`. */
function hostAndPort(server: string): { readonly host: string; readonly port: number } {
  const [, host, port] = /^\[(.*)\]:(\d+)$/.exec(server) ?? /^([\d.]+):(\d+)$/.exec(server) ?? [];
  return host === undefined ? { host: server, port: 53 } : { host, port: Number(port) };
}
