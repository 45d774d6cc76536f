import { type KubeObject, renderChart, temporaryFolder, writeKubeconfig } from "@rockbot/testing";
import { type Cluster, neededTool, uniqueName } from "./cluster.ts";

const IMAGE = "python:3.12-slim";

/** What the chart makes around the pods of scripts, with nothing that runs, so that a test is the manager itself. */
export interface ScriptsNamespace extends AsyncDisposable {
  readonly name: string;
  /** The token of the manager's account. */
  readonly token: string;
  readonly kubeconfigFile: string;
  /** What the chart has the manager name in its pods. */
  readonly podNames: { readonly serviceAccountName: string; readonly priorityClassName: string };
}

export async function makeScriptsNamespace(cluster: Cluster): Promise<ScriptsNamespace> {
  await using making = new AsyncDisposableStack();
  const folder = making.use(temporaryFolder());
  const release = uniqueName("rb");
  const { name: managers } = making.use(await cluster.namespace("managers"));
  const name = uniqueName("scripts");
  const scripts = { namespace: { name }, admissionPolicy: { enabled: true, allowedImages: [IMAGE] } };
  const values = { scripts, scriptsManager: { settings: { kubernetesImage: IMAGE } } };
  const rendered = await renderChart(await neededTool("helm"), [], values, { release, namespace: managers });
  const objects = rendered.filter((object) => isAroundScripts(object, { name, manager: `${release}-scripts-manager` }));
  const ofAll = objects.filter(({ metadata, kind }) => metadata.namespace === undefined && kind !== "Namespace");
  making.defer(async () => {
    const left = ofAll.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    await cluster.kubectl(["delete", "--ignore-not-found", ...left]);
    await cluster.kubectl(["delete", "namespace", name, "--wait=false", "--ignore-not-found"]);
  });
  await cluster.apply(...objects.filter(({ kind }) => kind === "Namespace" || kind === "PriorityClass"));
  await cluster.apply(...objects);
  const token = await cluster.tokenOf(managers, `${release}-scripts-manager`);
  const kubeconfigFile = folder.write("kubeconfig", "");
  writeKubeconfig(kubeconfigFile, await cluster.connectionAs(token));
  const made = making.move();
  return {
    name,
    token,
    kubeconfigFile,
    podNames: { serviceAccountName: "rockbot-script", priorityClassName: `${release}-script` },
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
}

/** The scripts' namespace with what is in it, the manager's account, and what belongs to all namespaces. */
function isAroundScripts(
  { kind, metadata }: KubeObject,
  { name, manager }: { readonly name: string; readonly manager: string },
): boolean {
  if (metadata.namespace === name || (kind === "Namespace" && metadata.name === name)) return true;
  if (kind === "ServiceAccount") return metadata.name === manager;
  return kind === "PriorityClass"
    ? metadata.name.endsWith("-script")
    : kind?.startsWith("ValidatingAdmissionPolicy") === true;
}
