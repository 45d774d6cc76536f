import { type ReactNode, useState } from "react";
import type { Me, OperatorSight } from "../../api/types.ts";

/** Something of a caller that is read only when somebody asks for it, as each reading is noted. */
export function Reading({
  name,
  sight,
  of: { operator },
  children,
}: {
  readonly name: string;
  readonly sight: OperatorSight;
  readonly of: Me;
  readonly children: ReactNode;
}) {
  const [isAsked, setAsked] = useState(false);
  const maySee = operator.sees.includes(sight);
  return (
    <section className="card" aria-label={name}>
      <div className="head">
        <h2>{name}</h2>
        {maySee && !isAsked ? (
          <button type="button" onClick={() => setAsked(true)}>
            Read
          </button>
        ) : null}
      </div>
      {maySee ? (
        isAsked ? (
          children
        ) : (
          <p className="quiet">The audit log gets a line for each reading.</p>
        )
      ) : (
        <p className="quiet">You may not see it: your “sees” in the policy does not have “{sight}”.</p>
      )}
    </section>
  );
}

/** The way to the next page, and what is missing from those that are there. */
export function More({
  of: { hasNextPage, isFetching, fetchNextPage },
  isPartial,
  name,
}: {
  readonly of: { readonly hasNextPage: boolean; readonly isFetching: boolean; fetchNextPage(): Promise<unknown> };
  readonly isPartial: boolean;
  readonly name: string;
}) {
  return (
    <>
      {isPartial ? <p className="is-warn">Not all instances of the agent answered, so some may be missing.</p> : null}
      {hasNextPage ? (
        <button type="button" disabled={isFetching} onClick={() => void fetchNextPage()}>
          {name}
        </button>
      ) : null}
    </>
  );
}
