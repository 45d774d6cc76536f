import type { Call } from "../api/types.ts";

/** Sizes and hashes of what a call was given and what it gave. */
export function Texts({ call }: { readonly call: Call }) {
  return (
    <section className="card">
      <h2>Arguments</h2>
      <Digest of={call.given} />
      <h2>Result</h2>
      <Digest of={call.gave} />
    </section>
  );
}

function Digest({ of }: { readonly of: Call["given"] }) {
  if (of === undefined) return <p>Nothing is known of it.</p>;
  return (
    <p>
      {of.bytes} bytes
      {of.hash === undefined ? null : (
        <>
          , hash <code>{of.hash}</code>
        </>
      )}
      .
    </p>
  );
}
