import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet } from "@tanstack/react-router";
import { useState } from "react";
import { forgetChats } from "../api/kept-chat.ts";
import { useLive } from "../api/live.ts";
import { me, overview } from "../api/queries.ts";
import { AwayError, logOut } from "../api/session.ts";
import { pages } from "../pages/pages.ts";
import { Palette } from "./palette.tsx";

/** All pages have it: where one can go, who is logged in, what is wrong. */
export function Frame({ onLoggedOut }: { readonly onLoggedOut: () => void }) {
  const { data: who } = useQuery(me);
  const now = useQuery(overview);
  const live = useLive();
  const cache = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const leave = async () => {
    await logOut();
    forgetChats();
    cache.clear();
    onLoggedOut();
  };
  const waiting = now.data?.waiting ?? 0;
  const wrong = now.data?.problems.length ?? 0;
  return (
    <div className="frame">
      <a className="skip" href="#content">
        To the content
      </a>
      <header className="rail">
        <Link to="/" className="brand">
          <img src="/console/mark.svg" alt="" width="26" height="26" />
          RockBot
        </Link>
        <nav aria-label="Pages">
          {pages.map(({ to, name }) => (
            <Link key={to} to={to} activeOptions={{ exact: to === "/" }}>
              {name}
              {to === "/waiting" && waiting > 0 ? <span className="is-warn"> {waiting}</span> : null}
              {to === "/" && wrong > 0 ? <span className="is-bad"> {wrong}</span> : null}
            </Link>
          ))}
        </nav>
        <footer>
          <button type="button" onClick={() => setAsked(true)}>
            Go to… <kbd>Ctrl K</kbd>
          </button>
          <span>
            {now.error instanceof AwayError ? <span className="is-bad">The gateway is away. </span> : ""}
            {who === undefined ? "" : `${who.operator.name}, version ${who.version}`}
          </span>
          <button type="button" onClick={() => void leave()}>
            Log out
          </button>
        </footer>
      </header>
      <main id="content" tabIndex={-1}>
        <p role="status" className={live === "broken" ? "is-warn" : "hidden"}>
          {live === "broken" ? "Not live, trying again." : ""}
        </p>
        <Outlet />
      </main>
      <Palette isOpen={isAsked} onOpenChange={setAsked} />
    </div>
  );
}
