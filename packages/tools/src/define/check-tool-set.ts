import {
  type AnnouncedTool,
  decodeMessage,
  encodeMessage,
  faultsText,
  type ToolAnnouncement,
  type ToolGuide,
} from "@rockbot/contracts";

/** A tool set in its announced form. */
export interface CheckedToolSet {
  readonly tools: readonly AnnouncedTool[];
  readonly guides: readonly ToolGuide[];
}

/**
 * Sees to it that callers can read what would be announced: of a list with one fault they read nothing.
 * @throws {TypeError} that names every fault
 */
export function checkToolSet(service: string, { tools, guides }: CheckedToolSet): void {
  const faults = [
    ...twice(tools).map((name) => `two of its tools have the same name, "${name}"`),
    ...twice(guides).map((name) => `two of its guides have the same name, "${name}"`),
    ...tools.flatMap((tool) => faultOf(`the tool "${tool.name}"`, service, { tools: [tool], guides: [] })),
    ...guides.flatMap((guide) => faultOf(`the guide "${guide.name}"`, service, { tools: [], guides: [guide] })),
  ];
  if (faults.length > 0) throw new TypeError(`Cannot serve "${service}": ${faults.join("; ")}`);
}

const twice = (named: readonly { readonly name: string }[]): string[] => {
  const names = named.map(({ name }) => name);
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
};

function faultOf(what: string, service: string, content: Pick<ToolAnnouncement, "tools" | "guides">): string[] {
  const decoded = decodeMessage(
    "ToolAnnouncement",
    encodeMessage("ToolAnnouncement", {
      service,
      instance: "check",
      epoch: 1,
      hash: NO_HASH,
      page: 0,
      pages: 1,
      ...content,
    }),
  );
  if (decoded.ok) return [];
  const { faults, message } = decoded.fault;
  const within = faults.map((fault) => ({ ...fault, path: fault.path.replace(/^\/(tools|guides)\/0/, "") }));
  return [`${what}: ${within.length > 0 ? faultsText(within) : message}`];
}

const NO_HASH = "0".repeat(16);
