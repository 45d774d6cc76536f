import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { callAgain } from "../api/playground.ts";
import type { Call } from "../api/types.ts";
import { AnswerView } from "../look/answer.tsx";
import { ConfirmCall } from "./confirm-call.tsx";

/** Makes a call once more, as its caller. It always asks: the record does not say whether the tool only reads. */
export function CallAgain({ call }: { readonly call: Call }) {
  const [isAsking, setAsking] = useState(false);
  const again = useMutation({ mutationFn: () => callAgain(call.toolCallId) });
  const { data: end, error } = again;
  return (
    <>
      <div className="row">
        <button type="button" disabled={again.isPending} onClick={() => setAsking(true)}>
          {again.isPending ? "Calling again…" : "Call again"}
        </button>
      </div>
      <ConfirmCall
        tool={call.toolName}
        as={call.onBehalfOf ?? call.caller.split(".", 1)[0] ?? ""}
        isOpen={isAsking}
        onOpenChange={setAsking}
        onYes={() => again.mutate()}
      />
      {error === null ? null : (
        <p role="alert" className="is-bad">
          {error.message}
        </p>
      )}
      {end === undefined ? null : (
        <section className="card" aria-live="polite">
          <h2>The answer of the call made again</h2>
          {end.kind === "answer" ? (
            <>
              <AnswerView text={end.answer.content ?? ""} />
              <Link to="/calls/$id" params={{ id: end.answer.toolCallId }}>
                what happened
              </Link>
            </>
          ) : (
            <p className="is-bad">
              <code>{end.code}</code>: {end.message}
            </p>
          )}
        </section>
      )}
    </>
  );
}
