/** What is missing in an answer, in the gateway's words. */
export const Said = ({ problems }: { readonly problems: readonly string[] }) =>
  problems.map((words) => (
    <p key={words} role="alert" className="is-warn breaks">
      {words}
    </p>
  ));
