import { once } from "node:events";
import { createConnection } from "node:net";
import { expect, test } from "vitest";
import { Cluster } from "./cluster.ts";
import { startClusterServers } from "./cluster-servers.ts";

const cluster = await Cluster.open();

test("a test's namespace is there with its labels, and is gone after it", async () => {
  let name: string;
  {
    await using namespace = await cluster.namespace("harness", { "pod-security.kubernetes.io/enforce": "restricted" });
    name = namespace.name;
    expect(await cluster.kubectl(["get", "namespace", name, "--output", "jsonpath={.metadata.labels}"])).toContain(
      "restricted",
    );
    const token = await cluster.tokenOf(name, "default");
    await expect(cluster.kubectlAs(token, ["--namespace", name, "get", "pods"])).rejects.toThrow(/Forbidden/);
  }
  await expect
    .poll(() => cluster.kubectl(["get", "namespace", name, "--ignore-not-found", "--output", "name"]))
    .toBe("");
});

test("a broker, a Redis and a pod under no policy come up, and a port of them is reached from here", async () => {
  await using servers = await startClusterServers(cluster, "harness");
  const { namespace, brokerAddresses } = servers;
  const reach = `import socket\nfor address in ${JSON.stringify(brokerAddresses)}: socket.create_connection((address, 5672), 5); print("reached")`;
  expect(await servers.python(reach)).toBe("reached\nreached\n");

  await using redis = await cluster.forward(namespace, "service/redis", 6379);
  const socket = createConnection(redis.port, "127.0.0.1").end("PING\r\n");
  const [answer] = await once(socket, "data");
  expect(String(answer)).toBe("+PONG\r\n");
});
