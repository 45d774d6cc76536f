import { existsSync } from "node:fs";
import { run } from "@rockbot/testing";
import type { Cluster } from "./cluster.ts";
import { clusterFile } from "./cluster-processes.ts";

const CONTAINERD_MS = 60_000;

interface ImagePod {
  readonly status: { readonly containerStatuses?: readonly { readonly name: string; readonly imageID: string }[] };
}

/**
 * The digest by which a pod may name each image. A node knows it of images that it has pulled. For an image that came
 * under its tag alone, the test tells the cluster's containerd, where its socket lies beside the finds of
 * `clusterFile`.
 * @param images each with its tag
 * @throws {Error} if a node has an image under its tag alone
 */
export async function imageDigests(cluster: Cluster, images: readonly string[]): Promise<ReadonlyMap<string, string>> {
  await nameByDigest(images);
  await using namespace = await cluster.namespace("digests");
  const containers = images.map((image, index) => ({
    name: `image-${index}`,
    image,
    imagePullPolicy: "IfNotPresent",
    command: ["/none"],
  }));
  const spec = { restartPolicy: "Never", terminationGracePeriodSeconds: 0, containers };
  await cluster.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "images", namespace: namespace.name },
    spec,
  } as never);
  const wait = ["wait", "--for=jsonpath={.status.phase}=Failed", "--timeout=200s", "pod/images"]; // no image has such a program
  await cluster.kubectl(["--namespace", namespace.name, ...wait], { timeoutMs: 210_000 });
  const { status } = await cluster.json<ImagePod>(["--namespace", namespace.name, "get", "pod", "images"]);
  const found = new Map<string, string>();
  for (const { name, imageID } of status.containerStatuses ?? []) {
    const image = images[Number(name.split("-")[1])] as string;
    const digest = imageID.split("@")[1];
    if (digest === undefined)
      throw new Error(
        `A node has ${image} under its tag alone: import it with its digest (ctr images import --digests), or pull it`,
      );
    found.set(image, digest);
  }
  return found;
}

async function nameByDigest(images: readonly string[]): Promise<void> {
  const socket = clusterFile("containerd.sock");
  if (socket === undefined || !existsSync(socket)) return;
  const ctr = (...args: readonly string[]): Promise<string> =>
    run("ctr", ["--address", socket, "--namespace", "k8s.io", "images", ...args], { timeoutMs: CONTAINERD_MS });
  const known = (await ctr("list")).split("\n").map((line) => line.split(/\s+/));
  for (const image of images) {
    const full = image.split("/").length === 1 ? `docker.io/library/${image}` : `docker.io/${image}`;
    const [, , digest] = known.find(([name]) => name === full || name === image) ?? [];
    if (digest !== undefined) await ctr("tag", "--force", full, `${full.split(":")[0]}@${digest}`);
  }
}
