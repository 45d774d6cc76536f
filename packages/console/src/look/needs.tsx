import type { ReactNode } from "react";
import type { Me, OperatorRight } from "../api/types.ts";

const words: Readonly<Record<OperatorRight, string>> = {
  read: "see what happens",
  cancel: "cancel calls",
  call: "call tools",
  decide: "decide what waits for approval",
  letters: "look after dead letters",
  servers: "decide about servers and their tools",
};

/** Says which right the operator lacks, and where it would come from; undefined if it has the right. */
export const lacks = (right: OperatorRight, { operator }: Me): string | undefined =>
  operator.may.includes(right)
    ? undefined
    : `You may not ${words[right]}: the right “${right}” is missing. The policy gives it to “${operator.name}” under “may”.`;

/** Shows something to operators with the right, and to others which right they lack. */
export function Needs({
  right,
  of,
  children,
}: {
  readonly right: OperatorRight;
  readonly of: Me;
  readonly children: ReactNode;
}) {
  const lack = lacks(right, of);
  return lack === undefined ? children : <p className="quiet">{lack}</p>;
}
