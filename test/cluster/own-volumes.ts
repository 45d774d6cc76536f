import { type Cluster, uniqueName } from "./cluster.ts";

const SIZE = "1Gi";
/** The parent folder on a node. */
const PARENT = "/var/tmp";
/** For `python3 -c`, with `make` or `remove` and folders: that anybody may write to. */
const FOLDERS_PROGRAM = `
import os, shutil, sys
for folder in sys.argv[2:]:
    if sys.argv[1] == "remove": shutil.rmtree(folder)
    else: os.makedirs(folder); os.chmod(folder, 0o777)
`;

/**
 * Volumes for claims of a class of their own, on the disk of one node: a small cluster may have nothing that makes
 * volumes.
 */
export interface OwnVolumes extends AsyncDisposable {
  readonly className: string;
  readonly size: string;
}

/** Disposal removes them with their data: after their claims. */
export async function ownVolumes(cluster: Cluster, count: number): Promise<OwnVolumes> {
  const className = uniqueName("volumes");
  const names = Array.from({ length: count }, (_, number) => `${className}-${number}`);
  const parent = `${PARENT}/rockbot-test-${className}`;
  const node = await onNode(cluster, { args: ["make", ...names.map((name) => `${parent}/${name}`)] });
  await cluster.apply(
    ...names.map((name) => ({
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name },
      spec: {
        storageClassName: className,
        capacity: { storage: SIZE },
        accessModes: ["ReadWriteOnce"],
        persistentVolumeReclaimPolicy: "Retain",
        local: { path: `${parent}/${name}` },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }],
          },
        },
      },
    })),
  );
  return {
    className,
    size: SIZE,
    async [Symbol.asyncDispose]() {
      await cluster.kubectl(["delete", "persistentvolumes", ...names, "--ignore-not-found", "--timeout=50s"]);
      await onNode(cluster, { args: ["remove", parent], node });
    },
  };
}

interface OnNodeOptions {
  readonly args: readonly string[];
  /** @default whichever the scheduler takes */
  readonly node?: string;
}

/** Runs FOLDERS_PROGRAM as root in a pod. @returns the node that it was on */
async function onNode(cluster: Cluster, { args, node }: OnNodeOptions): Promise<string> {
  await using namespace = await cluster.namespace("volumes");
  const container = {
    name: "folders",
    image: "python:3.12-slim",
    command: ["python3", "-c", FOLDERS_PROGRAM, ...args],
    volumeMounts: [{ name: "volumes", mountPath: PARENT }],
  };
  const volumes = [{ name: "volumes", hostPath: { path: PARENT } }];
  const spec = {
    restartPolicy: "Never",
    containers: [container],
    volumes,
    ...(node === undefined ? {} : { nodeName: node }),
  };
  await cluster.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "folders", namespace: namespace.name },
    spec,
  } as never);
  const inNamespace = ["--namespace", namespace.name];
  await cluster.kubectl([
    ...inNamespace,
    "wait",
    "--for=jsonpath={.status.phase}=Succeeded",
    "--timeout=50s",
    "pod/folders",
  ]);
  return await cluster.kubectl([...inNamespace, "get", "pod", "folders", "--output", "jsonpath={.spec.nodeName}"]);
}
