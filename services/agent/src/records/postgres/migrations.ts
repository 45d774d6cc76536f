/** The steps from each version of the database to the next. A step that was released never changes. */
export const migrations: readonly string[] = [
  `
  CREATE TABLE agent_definition (
    id text PRIMARY KEY,
    maker text NOT NULL,
    name text NOT NULL,
    hash text NOT NULL,
    approved_hash text,
    version bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    body text NOT NULL,
    UNIQUE (maker, name)
  );
  CREATE INDEX agent_definition_approved ON agent_definition (created_at) WHERE approved_hash = hash;
  CREATE TABLE agent_switched (
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    caller text NOT NULL,
    session text NOT NULL,
    definition text NOT NULL,
    PRIMARY KEY (caller, session)
  );
  `,
  `
  CREATE TABLE agent_skill (
    id text PRIMARY KEY,
    maker text NOT NULL,
    name text NOT NULL,
    hash text NOT NULL,
    approved_hash text,
    version bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    body text NOT NULL,
    UNIQUE (maker, name)
  );
  CREATE INDEX agent_skill_approved ON agent_skill (created_at) WHERE approved_hash = hash;
  `,
  `
  CREATE TABLE agent_wisp (
    id text PRIMARY KEY,
    maker text NOT NULL,
    name text NOT NULL,
    hash text NOT NULL,
    approved_hash text,
    version bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    body text NOT NULL,
    UNIQUE (maker, name)
  );
  CREATE INDEX agent_wisp_approved ON agent_wisp (created_at) WHERE approved_hash = hash;
  `,
];
