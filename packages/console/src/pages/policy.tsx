import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { tools } from "../api/queries.ts";
import { askJson } from "../api/session.ts";
import type { PolicyInForce } from "../api/types.ts";
import { Shown } from "../look/states.tsx";
import { Explanation, Uses } from "./policy/uses.tsx";
import { WhatIfCard } from "./what-if.tsx";

const route = getRouteApi("/policy");

export function PolicyPage() {
  const question = route.useSearch();
  const navigate = route.useNavigate();
  const { data: known = [] } = useQuery(tools);
  const asked = useQuery({
    queryKey: ["policy", question],
    queryFn: ({ signal }) =>
      askJson<PolicyInForce>(`/operator/policy?${new URLSearchParams({ ...question })}`, { signal }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [caller, tool] = ["caller", "tool"].map((name) => String(form.get(name)).trim());
    void navigate({ search: { ...(caller && { caller }), ...(tool && { tool }) } });
  };
  return (
    <>
      <h1>Policy</h1>
      <form className="row fields" onSubmit={submit} key={JSON.stringify(question)}>
        <label className="field">
          <span className="quiet">may this caller</span>
          <input name="caller" list="callers" defaultValue={question.caller} />
        </label>
        <label className="field">
          <span className="quiet">use this tool?</span>
          <input name="tool" list="tools" defaultValue={question.tool} />
        </label>
        <Names id="callers" names={asked.data?.callers ?? []} />
        <Names id="tools" names={known.map(({ name }) => name)} />
        <button type="submit" className="first">
          Explain
        </button>
      </form>
      <p className="quiet">
        Without a tool you see all tools of the caller, and without a caller all callers of the tool.
      </p>
      <Shown of={asked}>
        {({ revision, callers, uses, more = 0 }) => (
          <section className="card" aria-label="in force">
            <p>
              In force: revision <code>{revision}</code>
            </p>
            {uses === undefined ? <Callers names={callers} /> : null}
            {uses?.length === 1 && uses[0] !== undefined ? <Explanation use={uses[0]} /> : null}
            {uses !== undefined && uses.length !== 1 ? (
              <Uses uses={uses} by={question.caller ? "tool" : "caller"} />
            ) : null}
            {more > 0 ? <p className="quiet">{more} more are left out.</p> : null}
          </section>
        )}
      </Shown>
      <WhatIfCard />
    </>
  );
}

const Names = ({ id, names }: { readonly id: string; readonly names: readonly string[] }) => (
  <datalist id={id}>
    {names.map((name) => (
      <option key={name} value={name} />
    ))}
  </datalist>
);

const Callers = ({ names }: { readonly names: readonly string[] }) => (
  <p className="row">
    <span className="quiet">It names:</span>
    {names.length === 0
      ? "no caller, so all have the same rights"
      : names.map((caller) => (
          <Link key={caller} to="/policy" search={{ caller }}>
            {caller}
          </Link>
        ))}
  </p>
);
