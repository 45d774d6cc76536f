import { useMemo, useState } from "react";
import type { WaitingCall, WaitingQuestion } from "../../api/types.ts";
import { visible } from "../../look/visible.ts";
import { type ArgumentFault, argumentFaults } from "../tool/argument-faults.ts";
import { Arguments, Faults, objectIn } from "../tool/arguments.tsx";
import { firstArguments } from "../tool/first-arguments.ts";
import { formSchema } from "../tool/form-schema.ts";
import { Code, Refused, useSettle } from "./decide.tsx";

const NO_FAULTS: readonly ArgumentFault[] = [];

/** An object as it is. Another value becomes `answer` of an object, so that a form can be made of it. */
const objectSchema = (schema: object): { readonly schema: object; readonly isWrapped: boolean } =>
  "properties" in schema || ("type" in schema && schema.type === "object")
    ? { schema, isWrapped: false }
    : { schema: { type: "object", required: ["answer"], properties: { answer: schema } }, isWrapped: true };

/** The answer to a tool's question, as a form or as JSON. */
export function Answer({
  question: { hash, schema },
  ...settling
}: {
  readonly call: WaitingCall;
  readonly question: WaitingQuestion;
  readonly needsCode: boolean;
  readonly onDone: (said: string) => void;
}) {
  const { call, needsCode } = settling;
  const asked = useMemo(() => objectSchema(schema), [schema]);
  const form = useMemo(() => formSchema(asked.schema), [asked]);
  const [text, setText] = useState(() => JSON.stringify(firstArguments(asked.schema), undefined, 2));
  const [code, setCode] = useState("");
  const [isChecked, setChecked] = useState(false);
  const args = useMemo(() => objectIn(text), [text]);
  const faults = useMemo(
    () => (isChecked && args !== undefined && "schema" in form ? argumentFaults(form.schema, args) : NO_FAULTS),
    [isChecked, args, form],
  );
  const answered = useSettle(settling);
  if (call.mayDecide !== true) return <p className="breaks">You cannot answer: {visible(call.mayDecide)}.</p>;
  const send = () => {
    setChecked(true);
    const wrong = args === undefined || ("schema" in form && argumentFaults(form.schema, args).length > 0);
    const value = asked.isWrapped ? args?.["answer"] : args;
    if (!wrong && value !== undefined) answered.mutate({ hash, value, ...(needsCode ? { code } : {}) });
  };
  return (
    <section className="card" aria-label="Answer">
      <h2>Answer</h2>
      <p className="quiet breaks">
        {visible(call.tool)} of {visible(call.service)} goes on for {visible(call.caller)} with what you answer.
        {asked.isWrapped ? " The tool gets the value of “answer”." : ""}
      </p>
      <Arguments what="answer" form={form} text={text} args={args} faults={faults} onText={setText} />
      <Faults what="answer" faults={faults} />
      {needsCode ? <Code code={code} onCode={setCode} /> : null}
      <Refused error={answered.error} />
      <button
        type="button"
        className="first"
        disabled={args === undefined || (needsCode && code === "") || answered.isPending}
        onClick={send}
      >
        Send the answer
      </button>
    </section>
  );
}
