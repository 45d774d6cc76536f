import { AlertDialog } from "@base-ui/react/alert-dialog";
import type { ReactNode } from "react";

/** Asks before anything that cannot be taken back. */
export function Confirm({
  isOpen,
  onOpenChange,
  title,
  yes,
  onYes,
  children,
}: {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  readonly title: string;
  readonly yes: string;
  readonly onYes: () => void;
  readonly children: ReactNode;
}) {
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={onOpenChange}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description>{children}</AlertDialog.Description>
          <div className="row">
            <AlertDialog.Close render={<button type="button" className="first" onClick={onYes} />}>
              {yes}
            </AlertDialog.Close>
            <AlertDialog.Close render={<button type="button" />}>No</AlertDialog.Close>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
