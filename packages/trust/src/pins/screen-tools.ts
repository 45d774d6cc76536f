import { definitionHash, FIRST_SIGHT, type HeldTool, type Pin, type PinRecord, type SeenTool, shapeOf } from "./pin.ts";
import { suspicionsOf } from "./suspicions.ts";

/** Which definitions are pinned without an operator: those of a server that is seen for the first time, or none. */
export type PinMode = "first-sight" | "file";

export interface Screening<Tool extends SeenTool> {
  /** The record to keep from now on; undefined as long as the server has shown no tool. */
  readonly record: PinRecord | undefined;
  /** The tools that may be announced and called, in their order. */
  readonly offered: readonly Tool[];
  /** The names of those that an operator or a lock file has approved. Others were pinned at first sight. */
  readonly approved: ReadonlySet<string>;
}

export interface ScreenOptions {
  readonly server: string;
  readonly mode: PinMode;
  /** Pins of the operator's file, which count as those of the record do. */
  readonly filed?: readonly Pin[] | undefined;
  /** ISO 8601. */
  readonly now: string;
}

/** All definitions of a record together, in characters; beyond, only their hashes are kept. */
const MAX_KEPT_DEFINITIONS = 1024 * 1024;
const MAX_KEPT_DEFINITION = 32 * 1024;

/**
 * Decides which of the tools that a server lists now may be used: those that are as they were pinned. The tools of a
 * server without a record are pinned at first sight. Tools that look as if they were written to mislead a model are not
 * pinned. A tool that has changed, is new, or has another name is held. A pin of a tool that is gone stays: it may come
 * back, and only as it was. A tool that was pinned without a title is offered without one, whatever title it has now.
 */
export function screenTools<Tool extends SeenTool>(
  record: PinRecord | undefined,
  tools: readonly Tool[],
  options: ScreenOptions,
): Screening<Tool> {
  const { server, mode, filed = [], now } = options;
  if (tools.length === 0 && record === undefined) return { record: undefined, offered: [], approved: new Set() };
  const isFirstSight = record === undefined && filed.length === 0 && mode === "first-sight";
  const pins = new Map((record?.pins ?? []).map((pin) => [pin.name, pin]));
  const approved = new Map<string, Set<string>>();
  for (const { name, hash } of [...pins.values(), ...filed])
    approved.set(name, (approved.get(name) ?? new Set()).add(hash));
  const listed = new Set(tools.map(({ name }) => name));
  const gone = [...pins.values(), ...filed].filter(({ name }) => !listed.has(name));
  const before = new Map((record?.held ?? []).map((held) => [held.name, held]));
  const room = { left: MAX_KEPT_DEFINITIONS - lengthOfKept(record) };
  const offered: Tool[] = [];
  const approvals = new Set<string>();
  const isApproved = (name: string, hash: string): boolean =>
    mode === "file" ||
    filed.some((pin) => pin.name === name && pin.hash === hash) ||
    (pins.get(name)?.hash === hash && pins.get(name)?.by !== FIRST_SIGHT);
  const held: HeldTool[] = [];
  for (const listedTool of tools) {
    const { name } = listedTool;
    const forms = formsOf(listedTool);
    const tool =
      forms.find((form) => approved.get(name)?.has(definitionHash(form))) ??
      forms.find((form) => before.get(name)?.hash === definitionHash(form)) ??
      listedTool;
    const hash = definitionHash(tool);
    if (approved.get(name)?.has(hash) === true) {
      offered.push(tool);
      if (isApproved(name, hash)) approvals.add(name);
      continue;
    }
    const known = before.get(name);
    if (known?.hash === hash) {
      held.push(known);
      continue;
    }
    const shapes = forms.map(shapeOf);
    const [shape, suspicions] = [shapeOf(tool), [...(tool.concerns ?? []), ...suspicionsOf(tool)]];
    const definition = keep(tool, room);
    if (isFirstSight && suspicions.length === 0) {
      pins.set(name, { name, hash, shape, definition, by: FIRST_SIGHT, at: now });
      offered.push(tool);
      continue;
    }
    const renamedFrom = approved.has(name) ? undefined : gone.find((pin) => shapes.includes(pin.shape))?.name;
    const reason = isFirstSight
      ? "suspicious"
      : approved.has(name)
        ? "changed"
        : renamedFrom === undefined
          ? "new"
          : "renamed";
    held.push({
      name,
      hash,
      shape,
      definition,
      reason,
      ...(renamedFrom === undefined ? {} : { renamedFrom }),
      ...(suspicions.length === 0 ? {} : { suspicions }),
      at: now,
    });
  }
  return { record: { server, pins: [...pins.values()], held }, offered, approved: approvals };
}

/** The tool as it is listed, and as a pin without a title knows it. */
function formsOf<Tool extends SeenTool>(tool: Tool): readonly Tool[] {
  return tool.title === undefined ? [tool] : [tool, { ...tool, title: undefined }];
}

function lengthOfKept(record: PinRecord | undefined): number {
  const kept = [...(record?.pins ?? []), ...(record?.held ?? [])];
  return kept.reduce(
    (sum, { definition }) => sum + (definition === undefined ? 0 : JSON.stringify(definition).length),
    0,
  );
}

/** The definition without what else the tool carries, if there is room. */
function keep(
  { name, title, description, inputSchema, outputSchema, annotations }: SeenTool,
  room: { left: number },
): SeenTool | undefined {
  const definition = {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations,
  };
  const { length } = JSON.stringify(definition);
  if (length > Math.min(MAX_KEPT_DEFINITION, room.left)) return undefined;
  room.left -= length;
  return definition;
}
