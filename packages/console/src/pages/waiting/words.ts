import type { WaitingCall, WaitingDecided } from "../../api/types.ts";

/** The operators who are asked, in words. */
export const whoIsAsked = ({ kind, asked }: Pick<WaitingCall, "kind" | "asked">): string =>
  kind === "question"
    ? "any operator with the right to decide"
    : asked.map(({ by, needed }) => (needed === 1 ? by.join(" or ") : `${needed} of ${by.join(", ")}`)).join(", and ");

/** What became of a call by a decision, or by an answer. */
export function outcomeWords(kind: WaitingCall["kind"], { state }: WaitingDecided): string {
  if (kind === "question")
    return "Answered: the tool goes on. If the answer does not fit, it asks again, and says here what is wrong.";
  switch (state) {
    case "parked":
      return "Noted. The call needs further approvals.";
    case "ended":
      return "Rejected: the call has ended, and its caller hears of it.";
    default:
      return "Approved: the service runs the call now.";
  }
}
