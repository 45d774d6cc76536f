// A real RabbitMQ: one that tests share, or one's own to harm.

export { type OwnVirtualHost, offerSharedBroker, ownVirtualHost, sharedAmqpUrl } from "./rabbitmq/shared-broker.ts";
export {
  type BrokerCluster,
  type BrokerNode,
  type PartitionHandling,
  startBrokerCluster,
  whyNoBrokerCluster,
} from "./rabbitmq/start-broker-cluster.ts";
export { startOwnBroker } from "./rabbitmq/start-own-broker.ts";
export type { TestBroker } from "./rabbitmq/test-broker.ts";

// A real Redis, likewise.

export { postgresMissing, startOwnPostgres, type TestPostgres } from "./postgres/start-own-postgres.ts";
export { offerSharedRedis, sharedRedisUrl } from "./redis/shared-redis.ts";
export { startOwnRedis } from "./redis/start-own-redis.ts";
export type { StartOwnRedisOptions, TestRedis } from "./redis/test-redis.ts";

// What networks do to AMQP connections, and TLS in front of a server that has none.

export { type AmqpMethod, amqpMethods } from "./amqp-method-scanner.ts";
export { canMakeCertificates } from "./make-certificate.ts";
export { type CutPoint, type Direction, startTcpFaultProxy, type TcpFaultProxy } from "./tcp-fault-proxy.ts";
export { startTlsPeer, type TlsPeer } from "./tls-peer.ts";

// A program as a process, a port for it, and the clients of Docker and Kubernetes.

export { canRunContainers, docker } from "./machine/docker.ts";
export { freePort } from "./machine/free-port.ts";
export { kubernetesTool } from "./machine/kubernetes-tools.ts";
export { type RunOptions, run } from "./machine/run.ts";
export { type TemporaryFolder, temporaryFolder } from "./machine/temporary-folder.ts";
export { type NodeProgram, type StartNodeProgramOptions, startNodeProgram } from "./node-program.ts";
export { PROGRAM_FOLDER, programFile } from "./program-file.ts";

// Namespaces, and the program that makes them.

export { hasBubblewrap, missingNamespaces } from "./machine/namespaces.ts";

// A gateway's HTTP.

export { type GatewayAnswer, type GatewayClient, gatewayClient } from "./gateway-client.ts";

// An OpenTelemetry collector.

export {
  type CollectedMetric,
  type CollectedRequest,
  type CollectedSpan,
  type OtlpCollector,
  startOtlpCollector,
} from "./otlp-collector.ts";

// The web: pages that behave or not, search services, GitHub, and a service that keeps what it is sent.

export { type AnthropicAdminServer, startAnthropicAdminServer } from "./anthropic/admin-server.ts";
export { type GithubDocument, type GithubFault, type GithubServer, startGithubServer } from "./github/github-server.ts";
export { type LinkedinJobsSite, type SitePosting, startLinkedinJobsSite } from "./linkedin/jobs-site.ts";
export {
  badPages,
  type Page,
  type PageAnswer,
  type PageRequest,
  type PageServer,
  startPageServer,
} from "./page-server.ts";
export { type RecordedRequest, type RecordingServer, startRecordingServer } from "./recording-server.ts";
export { type BraveResult, type FakeBrave, startFakeBrave } from "./search/fake-brave.ts";
export { type FakeSearxng, type SearxngResult, startFakeSearxng } from "./search/fake-searxng.ts";
export type { SearchFault } from "./search/search-fault.ts";

// Google: OAuth, Gmail and Calendar.

export type { GmailMessage, GmailPart } from "./google/google-account.ts";
export { type GoogleServer, startGoogleServer } from "./google/google-server.ts";

// Strangers who open connections and do nothing good with them.

export { floodKinds, floodSockets, type SocketFlood } from "./socket-flood.ts";

// The OpenRouter API.

export { type FakeOpenRouter, type OpenRouterFault, startFakeOpenRouter } from "./fake-openrouter.ts";

// A model behind HTTP, in the protocols of OpenAI and Anthropic.

export { type MisusedTool, type ModelMisbehaviour, modelMisbehaviours } from "./model/model-misbehaviours.ts";
export type { ModelScript, ModelServerRequest, ModelStep, ScriptedCall, SentMessage } from "./model/model-script.ts";
export { type ModelServer, type StartModelServerOptions, startModelServer } from "./model/start-model-server.ts";

// OAuth: who gives out tokens, and who wants them.

export {
  type AuthorizationServer,
  type StartAuthorizationServerOptions,
  startAuthorizationServer,
} from "./oauth/authorization-server.ts";
export { type ProtectedResource, startProtectedResource } from "./oauth/protected-resource.ts";

// MCP servers that misbehave.

export { canRunAs } from "./mcp/can-run-as.ts";
export { type FaultAnswer, type FaultHttpServer, httpFaults, startFaultHttpServer } from "./mcp/fault-http-server.ts";
export { type FaultServerBehaviour, faultServer, isProcessAlive } from "./mcp/fault-server.ts";
export type { RawAnswers } from "./mcp/raw-answers.ts";
export { type RawHttpServer, startRawHttpServer } from "./mcp/raw-http-server.ts";
export { rawServer } from "./mcp/raw-server.ts";
export { type SpyReport, spy } from "./mcp/spy.ts";

// A Kubernetes cluster: an API server with nodes that run pods as processes of this machine.

export { CHART, managerRights, renderChart } from "./kubernetes/chart.ts";
export { type ClusterConnection, kubeconfigOf, writeKubeconfig } from "./kubernetes/cluster-connection.ts";
export type { ApiFault } from "./kubernetes/faults.ts";
export { whyNoPods } from "./kubernetes/kubelet/isolation.ts";
export type { PodEnding, StartFault } from "./kubernetes/kubelet/pod-worker.ts";
export type { TestNode } from "./kubernetes/kubelet/test-node.ts";
export type { LoggedRequest } from "./kubernetes/requests/request-handler.ts";
export {
  type KubernetesApi,
  type StartKubernetesApiOptions,
  startKubernetesApi,
} from "./kubernetes/start-kubernetes-api.ts";
export type { KubeObject, Pod } from "./kubernetes/store/objects.ts";
export { logIn, type TestCluster, testCluster, whyNoFaults } from "./kubernetes/test-cluster.ts";

// Python packages: wheels, and an index of them.

export {
  type PackageIndex,
  type PackageIndexFault,
  type PackageIndexFile,
  startPackageIndex,
} from "./python/package-index.ts";
export { type Wheel, type WheelOptions, wheel } from "./python/wheel.ts";
export { zip } from "./python/zip.ts";
