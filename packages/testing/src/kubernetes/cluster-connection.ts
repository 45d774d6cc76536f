import { chmodSync, writeFileSync } from "node:fs";

/** How to reach a cluster as somebody. */
export interface ClusterConnection {
  /** An `https:` URL. */
  readonly server: string;
  /** The authority that its certificate is signed by, in PEM. */
  readonly certificate: string;
  /** A bearer token. */
  readonly token: string;
}

/** What kubectl and client libraries read as a kubeconfig: JSON, which is YAML too. */
export function kubeconfigOf({ server, certificate, token }: ClusterConnection, namespace = "default"): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [
      { name: "test", cluster: { server, "certificate-authority-data": Buffer.from(certificate).toString("base64") } },
    ],
    users: [{ name: "test", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test", namespace } }],
  });
}

/** Writes it for its owner alone. */
export function writeKubeconfig(file: string, connection: ClusterConnection, namespace?: string): void {
  writeFileSync(file, kubeconfigOf(connection, namespace), { mode: 0o600 });
  chmodSync(file, 0o600);
}
