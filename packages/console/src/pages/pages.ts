/** The pages of the rail, in its order. */
export const pages = [
  { to: "/", name: "Now" },
  { to: "/calls", name: "Calls" },
  { to: "/waiting", name: "Waiting" },
  { to: "/tools", name: "Tools" },
  { to: "/agents", name: "Agents" },
  { to: "/letters", name: "Dead letters" },
  { to: "/servers", name: "Servers" },
  { to: "/audit", name: "Audit" },
  { to: "/policy", name: "Policy" },
] as const;
