import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { askJson } from "../api/session.ts";
import type { WhatIf, WhatIfRow } from "../api/types.ts";
import { Empty, Shown } from "../look/states.tsx";
import { Moment } from "../look/time.tsx";

/** Tries a pasted policy against the calls that were made. The console never writes one. */
export function WhatIfCard() {
  const trial = useMutation({
    mutationFn: (body: string) => askJson<WhatIf>("/operator/policy/what-if", { method: "POST", body }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    trial.mutate(String(new FormData(event.currentTarget).get("policy")));
  };
  return (
    <>
      <section className="card">
        <h2>What if</h2>
        <form onSubmit={submit}>
          <label className="field">
            <span className="quiet">
              What would this policy have said of the calls that were made? Nothing changes by it.
            </span>
            <textarea name="policy" rows={12} required spellCheck={false} placeholder="callers: …" />
          </label>
          <button type="submit" className="first" disabled={trial.isPending}>
            {trial.isPending ? "Trying…" : "Try it"}
          </button>
        </form>
      </section>
      {trial.isIdle || trial.isPending ? null : <Shown of={trial}>{(answer) => <Outcome {...answer} />}</Shown>}
    </>
  );
}

function Outcome({ calls, since, rows, more, notes, inForce, proposed }: WhatIf) {
  const changed = rows.filter((row) => row.inForce !== row.tried);
  return (
    <>
      <p>
        <strong>{changed.reduce((sum, row) => sum + row.calls, 0)}</strong> of {calls} calls would be judged otherwise
        {since === null ? null : (
          <>
            {" "}
            since <Moment at={since} />
          </>
        )}
        . In force is <code>{inForce}</code>, and tried was <code>{proposed}</code>. Rates, other limits and approvals
        are left out.
      </p>
      {notes.map((note) => (
        <p key={note} className="quiet">
          {note}
        </p>
      ))}
      {rows.length === 0 ? <Empty>There are no calls to judge yet.</Empty> : <Rows rows={rows} />}
      {more === 0 ? null : <p className="quiet">{more} more rows are left out.</p>}
    </>
  );
}

const Rows = ({ rows }: { readonly rows: readonly WhatIfRow[] }) => (
  <div className="card flush">
    <table>
      <thead>
        <tr>
          {["Caller", "Tool", "Calls", "In force", "Tried", "Why", "Newest"].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ caller, tool, calls, inForce, tried, because, newest }) => (
          <tr key={`${caller} ${tool} ${inForce} ${tried} ${because}`}>
            <td>{caller}</td>
            <td>{tool}</td>
            <td className="number">{calls}</td>
            <td>{WORDS[inForce]}</td>
            <td className={inForce === tried ? "" : tried === "allowed" ? "is-good" : "is-bad"}>{WORDS[tried]}</td>
            <td>{because}</td>
            <td>
              <Link to="/calls/$id" params={{ id: newest.toolCallId }}>
                <Moment at={newest.at} />
              </Link>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const WORDS = { allowed: "allowed", denied: "denied", unknown: "cannot be judged" } as const;
