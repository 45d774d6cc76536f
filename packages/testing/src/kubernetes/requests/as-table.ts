import { type KubeObject, type Pod, timestamp } from "../store/objects.ts";

interface Column {
  readonly name: string;
  readonly priority?: number;
  readonly cell: (object: KubeObject) => string | number;
}

const COLUMNS: readonly Column[] = [
  { name: "Name", cell: ({ metadata }) => metadata.name },
  { name: "Age", cell: ({ metadata }) => age(metadata.creationTimestamp) },
];

const POD_COLUMNS: readonly Column[] = [
  { name: "Name", cell: ({ metadata }) => metadata.name },
  { name: "Ready", cell: (object) => ready(object as Pod) },
  { name: "Status", cell: (object) => statusWord(object as Pod) },
  { name: "Restarts", cell: () => 0 },
  { name: "Age", cell: ({ metadata }) => age(metadata.creationTimestamp) },
  { name: "IP", priority: 1, cell: (object) => (object as Pod).status?.podIP ?? "<none>" },
  { name: "Node", priority: 1, cell: (object) => (object as Pod).spec.nodeName ?? "<none>" },
];

/** Whether a client prefers its answer as rows and columns, as kubectl does for people. */
export const wantsTable = (accept: string | undefined): boolean =>
  (accept ?? "").split(",")[0]?.includes("as=Table") === true;

/** Objects as rows and columns for people. */
export function asTable(kind: string, objects: readonly KubeObject[], resourceVersion: string): object {
  const columns = kind === "Pod" ? POD_COLUMNS : COLUMNS;
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion },
    columnDefinitions: columns.map(({ name, priority = 0 }) => ({
      name,
      type: "string",
      format: name === "Name" ? "name" : "",
      description: name,
      priority,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object)),
      object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata },
    })),
  };
}

function ready({ spec, status }: Pod): string {
  return `${(status?.containerStatuses ?? []).filter((container) => container.ready).length}/${spec.containers.length}`;
}

function statusWord({ metadata, status }: Pod): string {
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  const states = (status?.containerStatuses ?? []).map(
    ({ state }) => state.waiting?.reason ?? state.terminated?.reason,
  );
  return status?.reason ?? states.find((reason) => reason !== undefined) ?? status?.phase ?? "Unknown";
}

function age(created: string = timestamp()): string {
  const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(created)) / 1_000));
  return seconds < 120 ? `${seconds}s` : `${Math.floor(seconds / 60)}m`;
}
