import { getRouteApi } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { AuditFilter } from "../api/audit.ts";
import { TimeField } from "../look/time-field.tsx";
import { Lines } from "./audit/lines.tsx";
import { Logs } from "./audit/logs.tsx";

const route = getRouteApi("/audit");
// In the order of the address, so that a search that is asked again is known.
const FIELDS = ["caller", "tool", "operator"] as const;
const TIMES = ["after", "before"] as const;

export function AuditPage() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const [time, setTime] = useState(Date.now);
  const search = (asked: AuditFilter) => {
    const isSame = JSON.stringify(asked) === JSON.stringify(filter);
    if (isSame) setTime(Date.now());
    else void navigate({ search: asked, replace: true });
  };
  return (
    <>
      <h1>Audit</h1>
      <p className="quiet">
        Each service writes a line for each call that ends in it, and each line has the hash of the line before. Each
        question here leaves a line, too. Logs of other gateways are not asked.
      </p>
      <Logs />
      <h2>Lines</h2>
      <Search key={JSON.stringify(filter)} filter={filter} onSearch={search} />
      <Lines filter={filter} time={time} />
    </>
  );
}

function Search({
  filter,
  onSearch,
}: {
  readonly filter: AuditFilter;
  readonly onSearch: (filter: AuditFilter) => void;
}) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const texts = FIELDS.map((name) => [name, String(form.get(name)).trim()] as const);
    const times = TIMES.map((name) => [name, new Date(String(form.get(name))).getTime()] as const);
    onSearch(Object.fromEntries([...texts, ...times].filter(([, value]) => value)));
  };
  return (
    <form onSubmit={submit}>
      <search className="search">
        {FIELDS.map((name) => (
          <label key={name} className="field">
            <span className="quiet">{name}</span>
            <input name={name} defaultValue={filter[name]} maxLength={256} />
          </label>
        ))}
        {TIMES.map((name) => (
          <TimeField key={name} name={name} at={filter[name]} />
        ))}
      </search>
      <div className="row fields">
        <button type="submit" className="first">
          Search
        </button>
      </div>
    </form>
  );
}
