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

/** Shows something to operators with the right, and to others which right they lack. */
export function Needs({
  right,
  of: { operator },
  children,
}: {
  readonly right: OperatorRight;
  readonly of: Me;
  readonly children: ReactNode;
}) {
  if (operator.may.includes(right)) return children;
  return (
    <p className="quiet">
      You may not {words[right]}: the right “{right}” is missing. The policy gives it to “{operator.name}” under “may”.
    </p>
  );
}
