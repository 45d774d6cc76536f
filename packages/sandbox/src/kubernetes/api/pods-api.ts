import type { IncomingMessage } from "node:http";
import {
  ApiException,
  type ConfigurationOptions,
  CoreV1Api,
  Observable,
  type ObservableMiddleware,
  PatchStrategy,
  setHeaderOptions,
  type V1Pod,
} from "@kubernetes/client-node";
import { ALL_PODS, CONTAINER } from "../pods/pod-marks.ts";
import { type PodView, viewPod } from "../pods/pod-view.ts";
import { ApiError } from "./api-error.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { openStream } from "./open-stream.ts";
import { retried } from "./retried.ts";

/** Pods of a list at once. */
const PAGE = 250;
/** The server ends a watch then, so that none lasts on a server that is to go. */
const WATCH_S = 300;

export interface PodList {
  readonly pods: readonly PodView[];
  /** From where a watch goes on. */
  readonly resourceVersion: string;
}

/** What is changed of a pod's metadata. */
export interface PodMarks {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * The pods of one namespace, as the API server tells of them. Requests that change nothing when made twice are made
 * again, see `retried`; the pods are those of managers only. All throw `ApiError`, and the signal's reason once it
 * aborts.
 */
export class PodsApi {
  readonly #config: ClusterConfig;
  readonly #core: CoreV1Api;
  readonly namespace: string;

  constructor(config: ClusterConfig, namespace: string) {
    this.#config = config;
    this.#core = config.makeApiClient(CoreV1Api);
    this.namespace = namespace;
  }

  /** Made again, it may meet what it has made before: then the answer is 409. */
  async create(body: V1Pod, signal: AbortSignal): Promise<PodView> {
    return await this.#ask("create a pod", signal, (options) =>
      this.#core.createNamespacedPod({ namespace: this.namespace, body }, options),
    );
  }

  /** @returns undefined if there is none of that name */
  async get(name: string, signal: AbortSignal): Promise<PodView | undefined> {
    return await orNone(
      this.#ask("look at a pod", signal, (options) =>
        this.#core.readNamespacedPod({ namespace: this.namespace, name }, options),
      ),
    );
  }

  /** All of them, page by page. */
  async list(
    signal: AbortSignal,
    { labelSelector = ALL_PODS }: { readonly labelSelector?: string } = {},
  ): Promise<PodList> {
    const pods: PodView[] = [];
    for (let next: string | undefined; ; ) {
      const page = {
        namespace: this.namespace,
        labelSelector,
        limit: PAGE,
        ...(next === undefined ? {} : { _continue: next }),
      };
      const { items, metadata } = await answered("list pods", this.#core.listNamespacedPod(page, withSignal(signal)));
      pods.push(...items.map(viewPod));
      next = metadata?._continue;
      if (!next) return { pods, resourceVersion: metadata?.resourceVersion ?? "" };
    }
  }

  /** @throws {ApiError} 409 if the pod is no longer at `resourceVersion`, 404 if it is gone */
  async mark(
    name: string,
    { resourceVersion, ...marks }: PodMarks & { readonly resourceVersion?: string },
    signal: AbortSignal,
  ): Promise<PodView> {
    const metadata = { ...marks, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    return await this.#ask("mark a pod", signal, (options) =>
      this.#core.patchNamespacedPod(
        { namespace: this.namespace, name, body: { metadata } },
        setHeaderOptions("Content-Type", PatchStrategy.MergePatch, options),
      ),
    );
  }

  /** Ends a pod at once. If it is gone already, or another pod has its name, that is as good. */
  async delete({ name, uid }: { readonly name: string; readonly uid: string }, signal: AbortSignal): Promise<void> {
    const body = { preconditions: { uid }, gracePeriodSeconds: 0 };
    try {
      await retried(signal, (attempt) =>
        answered(
          "delete a pod",
          this.#core.deleteNamespacedPod({ namespace: this.namespace, name, body }, withSignal(attempt)),
        ),
      );
    } catch (error) {
      if (!(error instanceof ApiError && (error.status === 404 || error.status === 409))) throw error;
    }
  }

  /** What happens to pods from there on: lines of JSON. */
  async watch(resourceVersion: string, signal: AbortSignal): Promise<IncomingMessage> {
    const query = {
      watch: true,
      allowWatchBookmarks: true,
      labelSelector: ALL_PODS,
      resourceVersion,
      timeoutSeconds: WATCH_S,
    };
    return await openStream(this.#config, `/api/v1/namespaces/${this.namespace}/pods`, {
      what: "watch pods",
      query,
      signal,
    });
  }

  /**
   * What a pod's container has written, from its first byte on, and what it writes until it ends if it is to be
   * followed.
   */
  async log(
    name: string,
    { follow, limitBytes }: { readonly follow: boolean; readonly limitBytes: number },
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const query = { container: CONTAINER, follow, limitBytes };
    return await openStream(this.#config, `/api/v1/namespaces/${this.namespace}/pods/${name}/log`, {
      what: "read the log of a pod",
      query,
      signal,
    });
  }

  async #ask(what: string, signal: AbortSignal, request: (options: Options) => Promise<V1Pod>): Promise<PodView> {
    return viewPod(await retried(signal, (attempt) => answered(what, request(withSignal(attempt)))));
  }
}

type Options = ConfigurationOptions<ObservableMiddleware>;

/** The library passes over a signal that is given any other way. */
const withSignal = (signal: AbortSignal): Options => ({
  middleware: [
    {
      pre: (context) => {
        context.setSignal(signal);
        return new Observable(Promise.resolve(context));
      },
      post: (context) => new Observable(Promise.resolve(context)),
    },
  ],
  middlewareMergeStrategy: "append",
});

async function answered<T>(what: string, request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw error instanceof ApiException ? ApiError.from(what, error) : error;
  }
}

async function orNone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
