import type { Pod } from "./store/objects.ts";

/** A pod that ends at once, unless its command does not. */
export const testPod = (name: string, command: readonly string[] = ["python3", "-c", "pass"]): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    securityContext: { runAsUser: 1000, runAsGroup: 1000 },
    containers: [{ name: "main", image: "python:3.12-slim", command }],
  },
});
