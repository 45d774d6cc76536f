/** The steps from each version of the database to the next. A step that was released never changes. */
export const migrations: readonly string[] = [
  `
  CREATE TABLE definition (
    id TEXT NOT NULL PRIMARY KEY,
    maker TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    approved_hash TEXT,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (maker, name)
  ) STRICT;
  CREATE INDEX definition_approved ON definition (created_at) WHERE approved_hash = hash;
  CREATE TABLE switched (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    caller TEXT NOT NULL,
    session TEXT NOT NULL,
    definition TEXT NOT NULL,
    UNIQUE (caller, session)
  ) STRICT;
  `,
  `
  CREATE TABLE skill (
    id TEXT NOT NULL PRIMARY KEY,
    maker TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    approved_hash TEXT,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (maker, name)
  ) STRICT;
  CREATE INDEX skill_approved ON skill (created_at) WHERE approved_hash = hash;
  `,
  `
  CREATE TABLE wisp (
    id TEXT NOT NULL PRIMARY KEY,
    maker TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    approved_hash TEXT,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (maker, name)
  ) STRICT;
  CREATE INDEX wisp_approved ON wisp (created_at) WHERE approved_hash = hash;
  `,
];
