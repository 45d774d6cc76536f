import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { tools } from "../api/queries.ts";
import { askJson } from "../api/session.ts";
import { Shown } from "../look/states.tsx";
import { WhatIfCard } from "./what-if.tsx";

interface Explained {
  readonly revision: string;
  readonly explanation?: readonly string[];
}

export function PolicyPage() {
  const [question, setQuestion] = useState<{ readonly caller: string; readonly tool: string }>();
  const { data: known = [] } = useQuery(tools);
  const asked = useQuery({
    queryKey: ["policy", question],
    queryFn: ({ signal }) => askJson<Explained>(`/operator/policy?${new URLSearchParams(question ?? {})}`, { signal }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setQuestion({ caller: String(form.get("caller")).trim(), tool: String(form.get("tool")).trim() });
  };
  return (
    <>
      <h1>Policy</h1>
      <form className="row fields" onSubmit={submit}>
        <label className="field">
          <span className="quiet">may this caller</span>
          <input name="caller" required />
        </label>
        <label className="field">
          <span className="quiet">use this tool?</span>
          <input name="tool" list="tools" required />
        </label>
        <datalist id="tools">
          {known.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <button type="submit" className="first">
          Explain
        </button>
      </form>
      <Shown of={asked}>
        {({ revision, explanation }) => (
          <section className="card">
            <p>
              In force: revision <code>{revision}</code>
            </p>
            {explanation === undefined ? null : (
              <ul>
                {explanation.map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            )}
          </section>
        )}
      </Shown>
      <WhatIfCard />
    </>
  );
}
