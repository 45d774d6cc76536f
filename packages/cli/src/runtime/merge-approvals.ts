import type { OperatorApprovals, ToolApprovals } from "@rockbot/trust";

/**
 * What operators decide about MCP servers, OpenAPI documents and A2A agents, as if it were one. Each of them takes of a
 * decision what is its own.
 */
export function mergeApprovals(
  bridge: OperatorApprovals | undefined,
  ...others: readonly (ToolApprovals | undefined)[]
): OperatorApprovals | undefined {
  const all: readonly ToolApprovals[] = [bridge, ...others].filter((one) => one !== undefined);
  if (all.every((one) => one === bridge)) return bridge;
  const ask = async <Answer extends object>(question: (one: ToolApprovals) => Promise<Answer>): Promise<Answer> =>
    joined(await Promise.all(all.map(question)));
  return {
    waiting: () => ask((one) => one.waiting()),
    approve: (approval, by) => ask((one) => one.approve(approval, by)),
    rejected: () => ask((one) => one.rejected()),
    reject: (rejection, by) => ask((one) => one.reject(rejection, by)),
    registered: async () => (await bridge?.registered()) ?? [],
    remove: async (servers, by) =>
      (await bridge?.remove(servers, by)) ?? { done: [], stale: servers.map(({ server }) => server) },
  };
}

/** Answers that are lists by their names, as one. */
function joined<Answer extends object>([first, ...others]: readonly Answer[]): Answer {
  const lists = Object.entries(first ?? {}).map(([name, list]) => [
    name,
    [list, ...others.map((other) => other[name as keyof Answer])].flat(),
  ]);
  return Object.fromEntries(lists) as Answer;
}
