import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { callTool } from "../../api/playground.ts";
import type { Tool } from "../../api/types.ts";
import { Badge } from "../../look/badge.tsx";
import { Empty, Shown } from "../../look/states.tsx";
import { Moment } from "../../look/time.tsx";

/** A row of a tool's list, by its field. */
type Row = Readonly<Record<string, unknown>>;

/** A list that a tool gives to its caller. */
interface List {
  readonly tool: string;
  /** The field of the result that has the rows. */
  readonly field: string;
  readonly name: string;
  readonly none: string;
  readonly columns: Readonly<Record<string, (row: Row) => ReactNode>>;
}

const text = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value) : "");

const time = (value: unknown): ReactNode => {
  const at = Date.parse(text(value));
  return Number.isNaN(at) ? "none" : <Moment at={at} />;
};

const whose = (row: Row): ReactNode => (
  <span className="row">
    {row["is_own"] === true ? <Badge tone="quiet">its own</Badge> : null}
    {row["is_shared"] === true ? <Badge tone="quiet">shared</Badge> : null}
    {row["is_untrusted"] === true ? <Badge tone="warn">words of strangers</Badge> : null}
  </span>
);

/** The last run of a scheduled task, with the beginning of its answer. */
function lastRun({ last_run: run }: Row): ReactNode {
  if (typeof run !== "object" || run === null) return "none";
  const { outcome, fire, text: answer } = run as Row;
  return (
    <details>
      <summary>
        <Badge tone={outcome === "answered" ? "good" : "bad"}>{text(outcome)}</Badge> {time(fire)}
      </summary>
      <pre>{text(answer)}</pre>
    </details>
  );
}

const LISTS: readonly List[] = [
  {
    tool: "list_scheduled_tasks",
    field: "tasks",
    name: "Scheduled tasks",
    none: "There are no scheduled tasks.",
    columns: {
      name: (row) => text(row["name"]),
      cron: (row) => `${text(row["cron"])} ${text(row["time_zone"])}`,
      "next fire": (row) => (row["is_running"] === true ? <Badge tone="quiet">runs</Badge> : time(row["next_fire"])),
      "last answer": lastRun,
      what: (row) => text(row["description"]),
    },
  },
  {
    tool: "list_skills",
    field: "skills",
    name: "Skills",
    none: "There are no skills.",
    columns: {
      name: (row) => `${text(row["name"])}, version ${text(row["version"])}`,
      whose,
      what: (row) => text(row["summary"]),
    },
  },
  {
    tool: "robot_list",
    field: "robots",
    name: "Robots",
    none: "There are no robots.",
    columns: { name: (row) => text(row["name"]), whose, what: (row) => text(row["description"]) },
  },
];

/** What the agent and the scheduler keep for a caller, as far as there are tools that list it. */
export function Kept({ as, tools }: { readonly as: string; readonly tools: readonly Tool[] }) {
  const there = LISTS.filter(({ tool }) => tools.some(({ name, readOnly }) => name === tool && readOnly === true));
  return there.map((list) => <ListCard key={`${list.tool} ${as}`} list={list} as={as} />);
}

/** A list by a call of its tool, which is made once, and again when somebody asks for it. */
function ListCard({ list: { tool, field, name, none, columns }, as }: { readonly list: List; readonly as: string }) {
  const asked = useQuery({
    queryKey: ["kept", tool, as],
    queryFn: async ({ signal }) => {
      const end = await callTool(tool, {}, { as, signal, onProgress: () => {} });
      if (end.kind === "error" || end.answer.isError)
        throw new Error(end.kind === "error" ? end.message : text(end.answer.content));
      const rows = (end.answer["structured"] as Row | undefined)?.[field];
      return { rows: Array.isArray(rows) ? (rows as readonly Row[]) : [], id: end.answer.toolCallId };
    },
    staleTime: Infinity,
  });
  return (
    <section className="card" aria-label={name}>
      <div className="head">
        <h2>{name}</h2>
        <button type="button" disabled={asked.isFetching} onClick={() => void asked.refetch()}>
          Look again
        </button>
      </div>
      <Shown of={asked}>
        {({ rows, id }) => (
          <>
            {rows.length === 0 ? <Empty>{none}</Empty> : <Rows rows={rows} columns={columns} />}
            <Link to="/calls/$id" params={{ id }}>
              the call that listed them
            </Link>
          </>
        )}
      </Shown>
    </section>
  );
}

function Rows({ rows, columns }: { readonly rows: readonly Row[]; readonly columns: List["columns"] }) {
  return (
    <div className="scrolls">
      <table>
        <thead>
          <tr>
            {Object.keys(columns).map((column) => (
              <th key={column}>{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {Object.entries(columns).map(([column, cellOf]) => (
                <td key={column}>{cellOf(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
