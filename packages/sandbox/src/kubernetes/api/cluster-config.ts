import { KubeConfig, type RequestContext } from "@kubernetes/client-node";

export interface ClusterConfigOptions {
  /** @default what a pod of a cluster finds in itself */
  readonly kubeconfigFile?: string | undefined;
  /** Takes a kubeconfig that does not have the API server's certificate checked. @default false */
  readonly allowUnverifiedTls?: boolean | undefined;
}

/** How long the opening of a WebSocket may take. */
const HANDSHAKE_MS = 10_000;

/**
 * Over HTTP/2 a request with a body that is called off as it is sent has Node.js write empty frames without end, into
 * memory.
 */
const HTTP_1_ONLY = { allowH2: false };

type WebSocketOptions = Parameters<KubeConfig["applyToHTTPSOptions"]>[0];
type DispatcherOptions = ReturnType<KubeConfig["createDispatcherOptions"]>;

/**
 * The address of the API server, and the credentials for it. The library makes connections of its own for each request,
 * each with a handshake, and lets WebSockets open for ever: here requests share their connections, all of HTTP/1.1, and
 * a handshake has its time.
 */
export class ClusterConfig extends KubeConfig implements AsyncDisposable {
  #dispatcher: ReturnType<RequestContext["getDispatcher"]>;

  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    await super.applySecurityAuthentication(context);
    this.#dispatcher ??= context.getDispatcher();
    if (this.#dispatcher !== undefined) context.setDispatcher(this.#dispatcher);
  }

  override createDispatcherOptions(...of: Parameters<KubeConfig["createDispatcherOptions"]>): DispatcherOptions {
    const options = super.createDispatcherOptions(...of);
    if (options.type === "none") return { type: "agent", connect: { keepAlive: true, ...HTTP_1_ONLY } };
    if (options.type === "agent") return { ...options, connect: { ...options.connect, ...HTTP_1_ONLY } };
    return { ...options, requestTls: { ...options.requestTls, ...HTTP_1_ONLY } };
  }

  override async applyToHTTPSOptions(options: WebSocketOptions): Promise<void> {
    await super.applyToHTTPSOptions(options);
    if (!("handshakeTimeout" in options)) Object.assign(options, { handshakeTimeout: HANDSHAKE_MS });
  }

  /** Ends all requests. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispatcher?.destroy();
  }
}

/** @throws {Error} that says what is wrong with the configuration */
export function loadClusterConfig({ kubeconfigFile, allowUnverifiedTls = false }: ClusterConfigOptions): ClusterConfig {
  const config = new ClusterConfig();
  if (kubeconfigFile === undefined) config.loadFromCluster();
  else config.loadFromFile(kubeconfigFile);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error("Cannot use the kubeconfig: it names no current context with a cluster");
  if (!allowUnverifiedTls && (cluster.skipTLSVerify === true || !cluster.server.startsWith("https://"))) {
    throw new Error(
      "Cannot use the kubeconfig: the API server's certificate would not be verified. Give its certificate-authority, or allow unverified TLS",
    );
  }
  return config;
}
