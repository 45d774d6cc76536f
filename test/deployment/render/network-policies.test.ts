import { type KubeObject, renderChart } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { parties, type Talk, whoTalks } from "../../../scripts/deployment/who-talks.ts";
import { services } from "../services.ts";
import { helm, helmProgram, named, peers, places, profiles } from "./profiles.ts";

interface Peer {
  readonly podSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  readonly namespaceSelector?: object;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly port: number }[];
}

type NetworkPolicy = KubeObject & {
  readonly spec: {
    readonly podSelector: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly policyTypes: readonly string[];
    readonly ingress: readonly Rule[];
    readonly egress: readonly Rule[];
  };
};

const NAME = "app.kubernetes.io/name";

/** Who a peer of a rule is, in the words of the table. */
function partyOf({ podSelector, namespaceSelector, ipBlock }: Peer): string {
  if (JSON.stringify(podSelector) === JSON.stringify(peers.clients.podSelector)) return parties.clients;
  if (JSON.stringify(podSelector) === JSON.stringify(peers.readers.podSelector)) return parties.readers;
  if (podSelector?.matchLabels?.["k8s-app"] === "kube-dns" && namespaceSelector !== undefined) return parties.names;
  if (ipBlock?.cidr === "0.0.0.0/0" || ipBlock?.cidr === "::/0") return parties.internet;
  if (ipBlock?.cidr === places.apiServer) return parties.apiServer;
  if (ipBlock?.cidr === places.model) return parties.configured;
  if (ipBlock?.cidr === places.collector) return parties.collector;
  return (
    (namespaceSelector === undefined && podSelector?.matchLabels?.[NAME]) ||
    `nobody that the table knows: ${JSON.stringify({ podSelector, namespaceSelector, ipBlock })}`
  );
}

/** Each connection once, such as `gateway > broker 5672`. */
const lines = (talks: readonly Pick<Talk, "from" | "to" | "ports">[]): string[] =>
  [...new Set(talks.flatMap(({ from, to, ports }) => ports.map((port) => `${from} > ${to} ${port}`)))].sort();

const portsOf = ({ ports = [] }: Rule): number[] => ports.map(({ port }) => port);
const everyone = [{}];

function allowed(policies: readonly NetworkPolicy[], direction: "ingress" | "egress") {
  return policies.flatMap(({ spec }) => {
    const self = spec.podSelector.matchLabels?.[NAME];
    if (self === undefined) return [];
    return spec[direction].flatMap((rule) => {
      const others = (direction === "egress" ? rule.to : rule.from) ?? everyone;
      return others.map((peer) => ({
        from: direction === "egress" ? self : partyOf(peer),
        to: direction === "egress" ? partyOf(peer) : self,
        ports: portsOf(rule),
      }));
    });
  });
}

async function policiesOf({
  args,
  values,
}: (typeof profiles)["everything"] | (typeof profiles)["production"]): Promise<readonly NetworkPolicy[]> {
  const objects = await renderChart(helmProgram, args, values);
  return objects.filter(({ kind }) => kind === "NetworkPolicy") as unknown as readonly NetworkPolicy[];
}

describe.skipIf("why" in helm)(named("network policies"), () => {
  const talks = whoTalks(services);
  const names = new Set(services.map(({ name }) => name));

  test("allow each part what the table of who talks to whom says, and nothing else", async () => {
    const policies = await policiesOf(profiles.everything);
    const ours = (from: string) =>
      names.has(from) || [parties.test, parties.broker, parties.redis, parties.rights].some((party) => party === from);
    // Where an address is the operator's, the table has no port for it: the profile's rules name one.
    const open: Readonly<Record<string, number>> = { [parties.configured]: 443, [parties.collector]: 4318 };
    const wanted = talks.map(({ from, to, ports }) => ({ from, to, ports: to in open ? [open[to] ?? 0] : ports }));
    // web-tools and mcp-bridge reach what is public; the profile gives them no rule besides.
    const rules = wanted.filter(
      ({ from, to }) => !(to === parties.configured && ["web-tools", "mcp-bridge"].includes(from)),
    );

    expect(lines(allowed(policies, "egress").filter(({ from }) => ours(from)))).toEqual(
      lines(rules.filter(({ from }) => ours(from))),
    );
    expect(lines(allowed(policies, "ingress").filter(({ to }) => ours(to)))).toEqual(
      lines(rules.filter(({ to }) => ours(to))),
    );
  });

  test("hold for every pod, and deny the rest both ways in the namespaces of services and of scripts", async () => {
    const policies = await policiesOf(profiles.everything);
    expect(
      policies.filter(({ spec }) => !(spec.policyTypes.includes("Ingress") && spec.policyTypes.includes("Egress"))),
    ).toEqual([]);
    const denying = policies.filter(({ spec }) => Object.keys(spec.podSelector).length === 0);
    expect(denying.map(({ metadata, spec }) => [metadata.namespace, spec.ingress, spec.egress])).toEqual(
      expect.arrayContaining([
        ["rockbot", [], []],
        ["rockbot-scripts", [], []],
      ]),
    );
    expect(denying).toHaveLength(2);
  });

  test("leave private, link-local and metadata addresses out of what is public", async () => {
    const policies = await policiesOf(profiles.everything);
    const blocks = policies.flatMap(({ spec }) =>
      spec.egress.flatMap(({ to = [] }) =>
        to.flatMap(({ ipBlock }) => (ipBlock?.except === undefined ? [] : [ipBlock])),
      ),
    );
    expect(blocks.length).toBeGreaterThan(0);
    for (const { cidr, except = [] } of blocks) {
      const left =
        cidr === "::/0"
          ? ["fc00::/7", "fe80::/10"]
          : ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "127.0.0.0/8"];
      expect(except).toEqual(expect.arrayContaining(left));
    }
  });

  test("lead to a broker and a Redis elsewhere where the values name them", async () => {
    const policies = await policiesOf(profiles.production);
    const addresses = policies.flatMap(({ spec }) =>
      spec.egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock?.cidr ?? [])),
    );
    expect(addresses).toEqual(expect.arrayContaining([places.broker, places.redis]));
  });
});
