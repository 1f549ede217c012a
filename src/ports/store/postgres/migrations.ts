// Table migrations. Released ones never change; later ones only add, so that the previous version keeps working during and after.

export interface Migration {
	readonly number: number;
	/** The statements; `schema` is quoted. */
	readonly text: (schema: string) => string;
}

const sessionTables = (schema: string) => `
create table ${schema}.process (
	id text primary key,
	lease_until timestamptz not null,
	-- How many of its sessions others have taken over: what it looks at with each renewal.
	losses bigint not null default 0,
	address text,
	tags text[] not null default '{}',
	host text not null,
	pid integer not null,
	started_at timestamptz not null default now()
);
create table ${schema}.session (
	id text primary key,
	work_dir text not null,
	owner text not null default '',
	needs text[] not null default '{}',
	epoch text not null,
	-- The process that may write it, and how often it was taken.
	holder text,
	term bigint not null,
	-- Counts the writes, so that one whose outcome is unknown can be sent again.
	version bigint not null,
	last_seq bigint not null default 0,
	-- The fields that only the holder writes, as JSON; not jsonb, which cannot hold every text.
	state text,
	custom_title text,
	archived_at double precision,
	first_title text,
	running_turn text,
	summary text,
	summary_seq bigint not null default 0,
	-- The number of the last event before the last answer of the model entered the context.
	answered_seq bigint not null default 0,
	context_generation bigint not null default 0,
	has_context boolean not null default false,
	has_message boolean not null default false,
	is_established boolean not null default false,
	is_staged boolean not null default false,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default date_trunc('milliseconds', now())
) with (fillfactor = 80);
create index session_listed on ${schema}.session (updated_at desc, id) where not is_staged;
create index session_work_dir on ${schema}.session (work_dir, updated_at desc, id) where not is_staged;
create index session_holder on ${schema}.session (holder) where holder is not null;
create table ${schema}.event (
	session_id text not null,
	seq bigint not null,
	term bigint not null,
	body text not null,
	primary key (session_id, seq)
);
create table ${schema}.context_row (
	session_id text not null,
	-- Of a subagent; empty for the session's own agent.
	agent_id text not null,
	generation bigint not null,
	n bigint not null,
	body text not null,
	primary key (session_id, agent_id, generation, n)
);
`;

const agentTables = (schema: string) => `create table ${schema}.agent (
	session_id text not null,
	id text not null,
	type text not null,
	description text not null,
	created_at double precision not null,
	model_override text,
	effective_model text,
	status text not null,
	last_task_id text,
	prompt text,
	context_generation bigint not null default 0,
	primary key (session_id, id)
);
create table ${schema}.agent_event (
	session_id text not null,
	agent_id text not null,
	n bigint not null,
	body text not null,
	primary key (session_id, agent_id, n)
);
create table ${schema}.agent_output (
	session_id text not null,
	agent_id text not null,
	n bigint not null,
	body text not null,
	primary key (session_id, agent_id, n)
);
`;

const taskTables = (schema: string) => `create table ${schema}.task (
	session_id text not null,
	id text not null,
	created_at double precision not null,
	spec text not null,
	runtime text,
	control text,
	seen_size bigint not null default 0,
	output_size bigint not null default 0,
	primary key (session_id, id)
);
create table ${schema}.task_output (
	session_id text not null,
	task_id text not null,
	start bigint not null,
	bytes bytea not null,
	primary key (session_id, task_id, start)
);
create table ${schema}.notification (
	session_id text not null,
	id text not null,
	created_at double precision not null,
	body text not null,
	delivery text not null,
	primary key (session_id, id)
);
`;

const lastSessionTable = (schema: string) => `create table ${schema}.last_session (
	work_dir text primary key,
	session_id text not null
);
create index last_session_id on ${schema}.last_session (session_id);
`;

export const migrations: readonly Migration[] = [
	{
		number: 1,
		text: (schema) =>
			[sessionTables, agentTables, taskTables, lastSessionTable].map((tables) => tables(schema)).join(""),
	},
	{
		number: 2,
		// Messages exchanged by workers and gateways.
		text: (schema) => `
alter table ${schema}.process add column secret text, add column fingerprint text, add column is_ending boolean not null default false;
create table ${schema}.placement (
	id text primary key,
	owner text not null,
	needs text[] not null,
	asked_by text not null,
	asked_at timestamptz not null default now(),
	worker text,
	answered_at timestamptz
);
create index session_running on ${schema}.session (owner) where running_turn is not null;
`,
	},
	{
		number: 3,
		// File histories.
		text: (schema) => `
create table ${schema}.file_history (
	session_id text primary key,
	version text not null,
	records bytea not null
);
create table ${schema}.file_content (
	session_id text not null,
	id text not null,
	bytes bytea not null,
	primary key (session_id, id)
);
alter table ${schema}.file_content alter column bytes set storage external;
`,
	},
];

/** The tables with parts of a session, and their session column. */
export const sessionParts = [
	"event",
	"context_row",
	"agent",
	"agent_event",
	"agent_output",
	"task",
	"task_output",
	"notification",
	"file_history",
	"file_content",
	"last_session",
] as const;
