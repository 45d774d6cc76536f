import type { ReactNode } from "react";
import { AwayError } from "../api/session.ts";

/** The part of a TanStack query that decides what is shown. */
interface Asked<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
}

/** What a query gave. The last answer stays while a later one fails, and says how old it may be. */
export function Shown<T>({
  of: { data, error },
  children,
}: {
  readonly of: Asked<T>;
  readonly children: (data: T) => ReactNode;
}) {
  return (
    <>
      {error === null ? null : (
        <p role="alert" className="is-bad">
          {error.message}
          {error instanceof AwayError && data !== undefined ? " Below is what was seen last." : ""}
        </p>
      )}
      {data === undefined ? error === null ? <p className="quiet">Loading…</p> : null : children(data)}
    </>
  );
}

export const Empty = ({ children }: { readonly children: ReactNode }) => <p className="quiet">{children}</p>;
