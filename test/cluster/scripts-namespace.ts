import { join } from "node:path";
import { type KubeObject, kubernetesTool, run, temporaryFolder, writeKubeconfig } from "@rockbot/testing";
import { parseAllDocuments } from "yaml";
import { type Cluster, uniqueName } from "./cluster.ts";

const CHART = join(import.meta.dirname, "../../helm/rockbot");
const IMAGE = "python:3.12-slim";

/** What the chart makes around the pods of scripts, with nothing that runs, so that a test is the manager itself. */
export interface ScriptsNamespace extends AsyncDisposable {
  readonly name: string;
  /** Of the manager's account. */
  readonly token: string;
  readonly kubeconfigFile: string;
  /** What the chart has the manager name in its pods. */
  readonly podNames: { readonly serviceAccountName: string; readonly priorityClassName: string };
}

/** @param values of the chart, over what a namespace of its own needs */
export async function makeScriptsNamespace(cluster: Cluster, values: Readonly<Record<string, unknown>> = {}): Promise<ScriptsNamespace> {
  const tool = await kubernetesTool("helm");
  if ("why" in tool) throw new Error(tool.why);
  await using making = new AsyncDisposableStack();
  const folder = making.use(temporaryFolder());
  const release = uniqueName("rb");
  const { name: managers } = making.use(await cluster.namespace("managers"));
  const name = uniqueName("scripts");
  const scripts = { namespace: { name }, admissionPolicy: { enabled: true, allowedImages: [IMAGE] }, ...values };
  const file = folder.write("values.json", { scripts, scriptsManager: { settings: { kubernetesImage: IMAGE } } });
  const rendered = await run(tool.program, ["template", release, CHART, "--namespace", managers, "--values", file], { timeoutMs: 60_000 });
  const objects = parseAllDocuments(rendered)
    .map((document) => document.toJS() as KubeObject | null)
    .filter((object) => object !== null && isAroundScripts(object, { name, manager: `${release}-scripts-manager` })) as KubeObject[];
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
  const { server, authority } = await cluster.address();
  writeKubeconfig(kubeconfigFile, { server, certificate: Buffer.from(authority, "base64").toString(), token, user: "" });
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
function isAroundScripts({ kind, metadata }: KubeObject, { name, manager }: { readonly name: string; readonly manager: string }): boolean {
  if (metadata.namespace === name || (kind === "Namespace" && metadata.name === name)) return true;
  if (kind === "ServiceAccount") return metadata.name === manager;
  return kind === "PriorityClass" ? metadata.name.endsWith("-script") : kind?.startsWith("ValidatingAdmissionPolicy") === true;
}
