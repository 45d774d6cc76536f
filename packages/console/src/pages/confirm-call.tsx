import { useQuery } from "@tanstack/react-query";
import { explanation } from "../api/queries.ts";
import { Confirm } from "../look/confirm.tsx";

/** Asks before a call that may change something: as whom, with whose account, and of which tool. */
export function ConfirmCall({
  tool,
  as,
  isOpen,
  onOpenChange,
  onYes,
}: {
  readonly tool: string;
  readonly as: string;
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  readonly onYes: () => void;
}) {
  const { data: lines, isPending } = useQuery({ ...explanation(as, tool), enabled: isOpen });
  const accounts = lines?.flatMap((line) => /uses the credential (.+)/.exec(line)?.[1] ?? []) ?? [];
  return (
    <Confirm
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      title={`Call ${tool} as ${as}?`}
      yes={`Yes, call ${tool}`}
      onYes={onYes}
    >
      This tool may change something outside. The call is made as the caller {as}, and carries your name.{" "}
      {isPending
        ? "The account is being looked up."
        : accounts.length === 0
          ? "Its service chooses the account."
          : `The account is ${accounts.join(", ")}, if the tool needs one.`}
    </Confirm>
  );
}
