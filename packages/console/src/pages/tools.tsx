import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { tools } from "../api/queries.ts";
import { Badge } from "../look/badge.tsx";
import { Empty, Shown } from "../look/states.tsx";

export function ToolsPage() {
  const asked = useQuery(tools);
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  return (
    <>
      <h1>Tools</h1>
      <label className="field">
        <span className="quiet">name or description contains</span>
        <input type="search" value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      <Shown of={asked}>
        {(all) => {
          const found = all.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted));
          if (found.length === 0)
            return <Empty>{all.length === 0 ? "No service offers a tool." : "No tool is like that."}</Empty>;
          return (
            <section className="card flush">
              <table className="stacks">
                <thead>
                  <tr>
                    <th>tool</th>
                    <th>service</th>
                    <th>what it does</th>
                  </tr>
                </thead>
                <tbody>
                  {found.map(({ name, service, description, readOnly, dangerous }) => (
                    <tr key={name}>
                      <td>
                        <Link to="/tools/$name" params={{ name }}>
                          {name}
                        </Link>{" "}
                        {dangerous === true ? <Badge tone="bad">dangerous</Badge> : null}
                        {readOnly === true ? <Badge tone="quiet">only reads</Badge> : null}
                      </td>
                      <td>{service}</td>
                      <td className="quiet">
                        <span className="two-lines">{description.split("\n", 1)[0]}</span>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          );
        }}
      </Shown>
    </>
  );
}
