import type { Pod, PodSpec } from "./store/objects.ts";

interface TestPodOptions {
  readonly command?: readonly string[];
  readonly image?: string;
  /** Takes input, once. */
  readonly stdin?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Partial<PodSpec>;
}

/** A pod that the restricted profile admits. */
export function testPod(
  name: string,
  {
    command = ["python3", "-c", "pass"],
    image = "python:3.12-slim",
    stdin = false,
    labels = {},
    spec = {},
  }: TestPodOptions = {},
): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [
        {
          name: "main",
          image,
          command,
          stdin,
          stdinOnce: stdin,
          resources: { limits: { cpu: "500m", memory: "64Mi" } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
        },
      ],
      ...spec,
    },
  };
}
