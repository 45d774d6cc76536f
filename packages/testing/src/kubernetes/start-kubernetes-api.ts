import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { makeCertificate } from "../make-certificate.ts";
import type { ClusterConnection } from "./cluster-connection.ts";
import type { ApiFault } from "./faults.ts";
import { TestNode } from "./kubelet/test-node.ts";
import { type LoggedRequest, RequestHandler } from "./requests/request-handler.ts";
import { Scheduler } from "./scheduler.ts";
import type { Pod } from "./store/objects.ts";
import { PodStore } from "./store/pod-store.ts";

export interface StartKubernetesApiOptions {
  /** Pods that are there from the start. @default none */
  readonly pods?: readonly Pod[] | undefined;
  /** The most pods that a quota grants. @default any number */
  readonly mostPods?: number | undefined;
  /** True if pods reach nothing, as under a NetworkPolicy that is enforced. @default true */
  readonly enforcesNetworkPolicies?: boolean | undefined;
  /** Put on each new pod: it is not gone until somebody takes them away. @default none */
  readonly podFinalizers?: readonly string[] | undefined;
}

/** A Kubernetes API server for tests, and the node that runs its pods. Disposal ends all pods. */
export interface KubernetesApi extends AsyncDisposable {
  /** The connection of the one known user. */
  readonly connection: ClusterConnection;
  /** The requests in order of arrival. */
  readonly requests: readonly LoggedRequest[];
  /** The rights that the requests so far need of a Role, such as `get pods/log`, sorted. */
  usedRights(): readonly string[];
  /** The faults for the next requests that they befall. */
  readonly faults: ApiFault[];
  readonly node: TestNode;
  pods(): readonly Pod[];
  /** Closes all watches, as a server that restarts. */
  closeWatches(): void;
  /** Sends nothing to the watches that are open, which stay open. */
  silenceWatches(): void;
  /** The same to the logs that are followed. */
  silenceLogs(): void;
}

/**
 * Speaks as much of the Kubernetes API as the runner of scripts asks for, over TLS: pods, their watch, their logs, and
 * attach, with versions and conflicts. Pods run as real processes (see `startContainerProcess`), which are gone after
 * disposal, and when this process ends in whatever way.
 *
 * It is for what no real cluster does on demand: its faults, and the ends of its pods. Rights, admission, Pod Security
 * and network policies are those of a real cluster: test/cluster tests them there.
 */
export async function startKubernetesApi({
  pods = [],
  mostPods = Number.POSITIVE_INFINITY,
  enforcesNetworkPolicies = true,
  podFinalizers: finalizers = [],
}: StartKubernetesApiOptions = {}): Promise<KubernetesApi> {
  const store = new PodStore();
  const node = new TestNode(store, { name: "node-1", hasNetwork: !enforcesNetworkPolicies });
  const token = randomBytes(16).toString("hex");
  const handler = new RequestHandler({ store, node, token, mostPods, finalizers });
  const { key, certificate } = makeCertificate();
  // Speaks HTTP/2 with clients that offer it, as a real server does; what the handler uses of requests and answers is
  // the same in both.
  const server = createSecureServer({ key, cert: certificate, allowHTTP1: true });
  server.on(
    "request",
    (request: unknown, response: unknown) =>
      void handler.handle(request as IncomingMessage, response as ServerResponse),
  );
  const sockets = new Set<TLSSocket>();
  server.on("secureConnection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on(
    "upgrade",
    (request: IncomingMessage, socket: Duplex, head: Buffer) => void handler.upgrade(request, socket, head),
  );
  server.on("tlsClientError", () => {}); // clients that do not trust us
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const scheduler = new Scheduler(store, node);
  for (const pod of pods) store.create(pod);

  return {
    connection: { server: `https://127.0.0.1:${port}`, certificate, token },
    requests: handler.log,
    usedRights() {
      const rights = handler.log.map(({ verb, resource }) => `${verb} ${resource}`);
      // A stream is opened by a GET, and does more than one: a server asks for both.
      if (rights.includes("get pods/attach")) rights.push("create pods/attach");
      return [...new Set(rights)].sort();
    },
    faults: handler.faults,
    node,
    pods: () => store.list(),
    closeWatches() {
      for (const watch of handler.watches) watch.close();
    },
    silenceWatches() {
      for (const watch of handler.watches) watch.silence();
    },
    silenceLogs() {
      for (const log of handler.logs) log.silence();
    },
    async [Symbol.asyncDispose]() {
      scheduler[Symbol.dispose]();
      const closed = new Promise((resolve) => server.close(resolve));
      handler[Symbol.dispose]();
      for (const socket of sockets) socket.destroy();
      await node[Symbol.asyncDispose]();
      await closed;
    },
  };
}
