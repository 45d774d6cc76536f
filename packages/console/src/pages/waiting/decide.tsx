import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { RefusedError } from "../../api/session.ts";
import type { WaitingAnswer, WaitingCall, WaitingDecision } from "../../api/types.ts";
import { settle, waitingCall, waitingCalls } from "../../api/waiting.ts";
import { Confirm } from "../../look/confirm.tsx";
import { visible } from "../../look/visible.ts";
import { outcomeWords } from "./words.ts";

const MAX_NOTE = 2_000;

interface Settling {
  readonly call: WaitingCall;
  readonly needsCode: boolean;
  /** Hears in words what became of the call. */
  readonly onDone: (said: string) => void;
}

/** Sends a decision or an answer, and has what is seen read anew. */
export function useSettle({ call: { id, kind }, onDone }: Settling) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (words: WaitingDecision | WaitingAnswer) => settle(id, words),
    onSuccess: async (decided) => {
      onDone(outcomeWords(kind, decided));
      await cache.invalidateQueries({ queryKey: waitingCalls.queryKey, exact: true });
    },
    onError: async (error) => {
      const isStale = error instanceof RefusedError && (error.status === 409 || error.status === 404);
      await cache.invalidateQueries({ queryKey: waitingCalls.queryKey, exact: true });
      if (isStale) await cache.invalidateQueries({ queryKey: waitingCall(id).queryKey });
    },
  });
}

/** Approve or reject, with a note, and where the operator needs it the code. */
export function Decide(settling: Settling) {
  const { call, needsCode } = settling;
  const { mayDecide, shown } = call;
  const [note, setNote] = useState("");
  const [code, setCode] = useState("");
  const [wanted, setWanted] = useState<WaitingDecision["verdict"]>();
  const decided = useSettle(settling);
  const [tool, caller, service] = [visible(call.tool), visible(call.caller), visible(call.service)];
  const needed = call.asked.some((each) => each.needed > 1) || call.asked.length > 1;
  if (mayDecide !== true) return <p className="breaks">You cannot decide: {visible(mayDecide)}.</p>;
  const isReady = shown !== undefined && (!needsCode || code !== "") && !decided.isPending;
  const send = (verdict: WaitingDecision["verdict"]) =>
    shown !== undefined &&
    decided.mutate({ verdict, shown, ...(note === "" ? {} : { note }), ...(needsCode ? { code } : {}) });
  return (
    <section className="card" aria-label="Decide">
      <h2>Decide</h2>
      <p className="breaks">
        If you approve, the service {service} runs {tool} once for {caller}, with exactly these arguments
        {needed ? ", once all who are needed have approved" : ""}.
      </p>
      <label className="field">
        <span className="quiet">note, for the audit log, and for the caller if you reject</span>
        <textarea
          className="short"
          value={note}
          maxLength={MAX_NOTE}
          onChange={({ target }) => setNote(target.value)}
        />
      </label>
      {needsCode ? <Code code={code} onCode={setCode} /> : null}
      <Refused error={decided.error} />
      <div className="row">
        <button type="button" className="first" disabled={!isReady} onClick={() => setWanted("approve")}>
          Approve
        </button>
        <button type="button" className="bad" disabled={!isReady} onClick={() => setWanted("reject")}>
          Reject
        </button>
      </div>
      <Confirm
        isOpen={wanted !== undefined}
        onOpenChange={(isOpen) => isOpen || setWanted(undefined)}
        title={`${wanted === "reject" ? "Reject" : "Approve"} ${tool} for ${caller}?`}
        yes={`Yes, ${wanted ?? ""}`}
        onYes={() => wanted !== undefined && send(wanted)}
      >
        {wanted === "reject"
          ? "The call ends, and does not run."
          : `The service ${service} runs it with exactly the arguments that are shown. That cannot be taken back.`}
      </Confirm>
    </section>
  );
}

export const Code = ({ code, onCode }: { readonly code: string; readonly onCode: (code: string) => void }) => (
  <label className="field">
    <span className="quiet">code, as “rockbot up” has printed it at its terminal</span>
    <input
      value={code}
      autoComplete="off"
      spellCheck={false}
      placeholder="XXXX-XXXX-XX"
      onChange={({ target }) => onCode(target.value)}
    />
  </label>
);

export const Refused = ({ error }: { readonly error: Error | null }) =>
  error === null ? null : (
    <p role="alert" className="is-bad breaks">
      {visible(error.message)}
    </p>
  );
