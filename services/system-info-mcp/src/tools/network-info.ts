import { networkInterfaces } from "node:os";

export function networkInfo(): object {
  const interfaces = Object.entries(networkInterfaces()).map(([name, addresses = []]) => ({
    name,
    isInternal: addresses.every(({ internal }) => internal),
    addresses: addresses.map(({ address, family, cidr }) => ({ address, family, cidr })),
  }));
  return { interfaces };
}
