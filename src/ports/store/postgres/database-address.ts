// The database address and connection options, parsed from a URL such as `postgresql://me@db.example:5432/agents`.
import { KernelError } from "../../../base/errors.ts";

/** Encryption: none, unverified, with the authority verified, or with authority and host name verified. */
export const tlsModes = ["disable", "require", "verify-ca", "verify-full"] as const;
export type TlsMode = (typeof tlsModes)[number];

export interface DatabaseAddress {
	/** A host name, an IP address, or a socket directory. */
	readonly host: string;
	readonly port: number;
	readonly database: string;
	readonly user: string | null;
	readonly password: string | null;
	readonly tls: TlsMode | null;
}

const defaultPort = 5432;

function refuse(reason: string): KernelError {
	return new KernelError(
		"invalid-input",
		`The address of the database ${reason}. It looks like postgresql://user@host:5432/database.`,
	);
}

function decoded(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		throw refuse("has a percent sign that encodes nothing");
	}
}

function toTlsMode(spelled: string): TlsMode {
	const mode = tlsModes.find((known) => known === spelled);
	if (mode === undefined)
		throw refuse(`has an unknown sslmode, ${JSON.stringify(spelled)}: use ${tlsModes.join(", ")}`);
	return mode;
}

function toPort(spelled: string): number {
	if (!/^\d{1,5}$/.test(spelled)) throw refuse(`has an invalid port, ${JSON.stringify(spelled)}`);
	return Number(spelled);
}

/** The supported parameters; others are rejected rather than ignored. */
const parameters = ["host", "port", "user", "sslmode"];

/** Fails `invalid-input`, without quoting the password. */
export function parseDatabaseUrl(text: string): DatabaseAddress {
	if (!/^postgres(?:ql)?:\/\//.test(text)) throw refuse("does not begin with postgresql://");
	let url: URL;
	try {
		// A URL without a host needs a scheme without special parsing rules.
		url = new URL(text.replace(/^postgres(?:ql)?:\/\/(?=[/?]|$)/, "postgresql://localhost"));
	} catch {
		throw refuse(
			"cannot be read: characters such as : / @ # % in a user or password are written as %3A %2F %40 %23 %25",
		);
	}
	for (const name of url.searchParams.keys()) {
		if (!parameters.includes(name)) throw refuse(`has an unknown parameter, ${JSON.stringify(name)}`);
	}
	const asked = (name: string) => url.searchParams.get(name);
	const user = asked("user") ?? decoded(url.username);
	const host = asked("host") ?? decoded(url.hostname).replace(/^\[(.*)\]$/, "$1");
	const database = decoded(url.pathname.slice(1));
	if (host === "") throw refuse("names no host");
	if (database === "") throw refuse("names no database");
	const port = asked("port") ?? url.port;
	const sslmode = asked("sslmode");
	return {
		host,
		port: port === "" ? defaultPort : toPort(port),
		database,
		user: user === "" ? null : user,
		password: url.password === "" ? null : decoded(url.password),
		tls: sslmode === null ? null : toTlsMode(sslmode),
	};
}

export function isLocal({ host }: DatabaseAddress): boolean {
	return host.startsWith("/") || host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** For people and logs: never with a password. */
export function toDatabaseName({ host, port, database }: DatabaseAddress): string {
	const place = host.includes(":") ? `[${host}]` : host;
	return host.startsWith("/") ? `${database} at ${host}, port ${port}` : `${database} at ${place}:${port}`;
}
