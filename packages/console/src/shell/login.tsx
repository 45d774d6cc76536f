import { type FormEvent, useState } from "react";
import { logIn } from "../api/session.ts";

/** @param fault why the link that led here opened nothing */
export function Login({ fault, onDone }: { readonly fault?: string | undefined; readonly onDone: () => void }) {
  const [message, setMessage] = useState(fault);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get("token") ?? "").trim();
    setBusy(true);
    try {
      await logIn({ token });
      onDone();
    } catch (error) {
      setMessage((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className="login">
      <h1>RockBot console</h1>
      <p>
        On the machine that runs <code>npm start</code>, <code>./rockbot open</code> opens this page with a link that is
        good once. Elsewhere an operator's token opens it.
      </p>
      {message === undefined ? null : (
        <p role="alert" className="is-bad">
          {message}
        </p>
      )}
      <form className="card" onSubmit={(event) => void submit(event)}>
        <label className="field">
          Operator's token
          <input name="token" type="password" autoComplete="off" required />
        </label>
        <p />
        <button type="submit" className="first" disabled={isBusy}>
          Open the console
        </button>
      </form>
    </main>
  );
}
