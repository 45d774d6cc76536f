import { useQuery } from "@tanstack/react-query";
import { keptTexts } from "../api/queries.ts";
import type { Call, KeptText } from "../api/types.ts";
import { AnswerView } from "../look/answer.tsx";
import { Shown } from "../look/states.tsx";
import { Moment } from "../look/time.tsx";

/** What a call was given and what it gave; where that is not kept or not seen, its size and hash. */
export function Texts({ call }: { readonly call: Call }) {
  const kept = useQuery(keptTexts(call.toolCallId, call.state));
  return (
    <section className="card">
      <Shown of={kept}>
        {({ arguments: args, result }) => (
          <>
            <h2>Arguments</h2>
            <One text={args} digest={call.given} sight="arguments" />
            <h2>Result</h2>
            <One text={result} digest={call.gave} sight="results" />
          </>
        )}
      </Shown>
    </section>
  );
}

function One({
  text,
  digest,
  sight,
}: {
  readonly text: KeptText;
  readonly digest: Call["given"];
  readonly sight: string;
}) {
  if (text.state === "kept")
    return (
      <>
        <AnswerView text={text.text} />
        <p className="quiet">
          {text.isCut ? `The beginning of ${digest?.bytes ?? "more"} bytes: the policy keeps no more. ` : null}
          {text.isRedacted ? "Secrets, and what looked like one, are taken out. " : null}
          Kept until <Moment at={text.until} />.
        </p>
      </>
    );
  const what = digest === undefined ? "Nothing is known of it" : `${digest.bytes} bytes`;
  return (
    <p>
      {what}
      {digest?.hash === undefined ? null : (
        <>
          , hash <code>{digest.hash}</code>
        </>
      )}
      .{" "}
      <span className="quiet">
        {text.state === "not-seen"
          ? `You may not see it: your “sees” in the policy does not have “${sight}”.`
          : "It is not kept: the policy says what is, under “keep”."}
      </span>
    </p>
  );
}
