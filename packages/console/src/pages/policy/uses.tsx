import { Link } from "@tanstack/react-router";
import type { PolicyUse } from "../../api/types.ts";
import { Badge } from "../../look/badge.tsx";
import { Empty } from "../../look/states.tsx";

const named = (caller: string): string => (caller === "" ? "everyone else" : caller);

/** What the policy says of one use, and what comes of it. */
export function Explanation({ use }: { readonly use: PolicyUse }) {
  const { caller, tool, isAllowed, because, isDangerous, bounds } = use;
  return (
    <>
      <p className="breaks">
        <strong className={isAllowed ? "is-good" : "is-bad"}>
          {named(caller)} {isAllowed ? "may" : "may not"} use {tool}
        </strong>
        : {because}. {isDangerous ? <Badge tone="bad">dangerous</Badge> : null}
      </p>
      {isAllowed ? (
        <>
          <Bounds lines={bounds} />
          <p>So such a call runs. A call beyond one of these bounds is refused, and its caller is told why.</p>
        </>
      ) : (
        <p>
          So the service refuses such a call with the code <code>denied</code>, before the tool runs. To allow it, name
          the tool {isDangerous ? "in full " : ""}under “allow”, and nowhere under “deny”.
        </p>
      )}
    </>
  );
}

/** All tools of a caller, or all callers of a tool. What holds for all of them stands above. */
export function Uses({ uses, by }: { readonly uses: readonly PolicyUse[]; readonly by: "tool" | "caller" }) {
  const [allowed, denied] = [uses.filter(({ isAllowed }) => isAllowed), uses.filter(({ isAllowed }) => !isAllowed)];
  const common = (allowed[0]?.bounds ?? []).filter((line) => allowed.every(({ bounds }) => bounds.includes(line)));
  if (uses.length === 0) return <Empty>No service offers a tool.</Empty>;
  return (
    <>
      {common.length === 0 ? null : (
        <>
          <p>This holds for {by === "tool" ? "each tool that it may use" : "each caller that may use it"}:</p>
          <Bounds lines={common} />
        </>
      )}
      <Table uses={allowed} by={by} without={common} />
      {denied.length === 0 ? null : (
        <details open={allowed.length === 0}>
          <summary>
            {by === "tool" ? `${denied.length} tools that it may not use` : `${denied.length} that may not use it`}
          </summary>
          <Table uses={denied} by={by} without={common} />
        </details>
      )}
    </>
  );
}

function Table({
  uses,
  by,
  without,
}: {
  readonly uses: readonly PolicyUse[];
  readonly by: "tool" | "caller";
  readonly without: readonly string[];
}) {
  if (uses.length === 0) return null;
  return (
    <table className="stacks">
      <thead>
        <tr>
          <th>{by}</th>
          <th>decision</th>
          <th>bounds, credentials</th>
        </tr>
      </thead>
      <tbody>
        {uses.map(({ caller, tool, isAllowed, because, isDangerous, bounds }) => (
          <tr key={`${caller} ${tool}`}>
            <td className="breaks">
              {caller === "" ? (
                named(caller)
              ) : (
                <Link to="/policy" search={{ caller, tool }}>
                  {by === "tool" ? tool : caller}
                </Link>
              )}{" "}
              {isDangerous ? <Badge tone="bad">dangerous</Badge> : null}
            </td>
            <td className="breaks">
              <Badge tone={isAllowed ? "good" : "bad"}>{isAllowed ? "allowed" : "denied"}</Badge>{" "}
              <span className="quiet">{because}</span>
            </td>
            <td className="breaks">{isAllowed ? bounds.filter((line) => !without.includes(line)).join("; ") : null}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const Bounds = ({ lines }: { readonly lines: readonly string[] }) => (
  <ul>
    {lines.map((line) => (
      <li key={line} className="breaks">
        {line}
      </li>
    ))}
  </ul>
);
