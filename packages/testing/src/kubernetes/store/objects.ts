/** What is kept of any object: only what this server reads is typed. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Metadata;
}

export interface Metadata {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly object[];
}

export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly restartPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly priorityClassName?: string;
  readonly priority?: number;
  readonly runtimeClassName?: string;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly hostUsers?: boolean;
  readonly securityContext?: PodSecurityContext;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly EnvironmentVariable[];
  readonly envFrom?: readonly object[];
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
  readonly ports?: readonly { readonly containerPort: number; readonly hostPort?: number }[];
  readonly resources?: {
    readonly limits?: Readonly<Record<string, string>>;
    readonly requests?: Readonly<Record<string, string>>;
  };
  readonly volumeMounts?: readonly VolumeMount[];
  readonly securityContext?: ContainerSecurityContext;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: { readonly postStart?: Probe; readonly preStop?: Probe };
}

interface Probe {
  readonly httpGet?: { readonly host?: string };
  readonly tcpSocket?: { readonly host?: string };
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly optional?: boolean };
    readonly configMapKeyRef?: { readonly name: string; readonly optional?: boolean };
    readonly fieldRef?: { readonly fieldPath: string };
  };
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  readonly subPath?: string;
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
  readonly projected?: object;
  readonly [kind: string]: unknown;
}

interface SecurityContext {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly seccompProfile?: { readonly type: string };
  readonly appArmorProfile?: { readonly type: string };
  readonly seLinuxOptions?: { readonly type?: string; readonly user?: string; readonly role?: string };
  readonly windowsOptions?: { readonly hostProcess?: boolean };
}

export interface PodSecurityContext extends SecurityContext {
  readonly fsGroup?: number;
  readonly sysctls?: readonly { readonly name: string }[];
}

export interface ContainerSecurityContext extends SecurityContext {
  readonly allowPrivilegeEscalation?: boolean;
  readonly privileged?: boolean;
  readonly procMount?: string;
  readonly readOnlyRootFilesystem?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
}

export interface PodStatus {
  readonly phase: string;
  readonly reason?: string;
  readonly message?: string;
  readonly qosClass?: string;
  readonly hostIP?: string;
  readonly podIP?: string;
  readonly startTime?: string;
  readonly conditions?: readonly Condition[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restartCount: number;
  readonly state: ContainerState;
  readonly lastState: object;
}

export interface ContainerState {
  readonly waiting?: { readonly reason: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: TerminatedState;
}

export interface TerminatedState {
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string;
  readonly startedAt: string | null;
  readonly finishedAt: string;
  readonly containerID?: string;
}

/** As the API writes times: whole seconds. */
export const timestamp = (at: Date = new Date()): string => `${at.toISOString().slice(0, 19)}Z`;
