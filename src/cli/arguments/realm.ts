// Flags of Meerkat servers that place sessions and configuration in a separate realm.
import type { FlagKey } from "./flags.ts";
import type { GivenFlags } from "./given-flags.ts";
import { UsageError } from "./usage-error.ts";

export const realmBackends = ["jsonl", "memory"] as const;
export type RealmBackend = (typeof realmBackends)[number];

export interface RealmChoice {
	/** Null means a new realm that no other process uses. */
	readonly name: string | null;
	/** The parent directory of all realms, as typed; null means the program's own. */
	readonly stateRoot: string | null;
	readonly backend: RealmBackend;
	readonly instance: string | null;
}

export const realmFlags: readonly FlagKey[] = [
	"realm",
	"isolated",
	"instance",
	"realm-backend",
	"state-root",
	"context-root",
	"user-config-root",
];

/** A single directory name. */
const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** The realm used if other flags require one: clients pass each flag on its own. */
const defaultRealm = "default";

export function toRealm(given: GivenFlags): RealmChoice | null {
	const named = given.last("realm");
	const isIsolated = given.has("isolated");
	if (named !== null && isIsolated) throw new UsageError("Cannot combine --realm and --isolated.");
	if (!isIsolated && given.last("realm", "instance", "realm-backend", "state-root") === null) return null;
	if (given.has("user-config-root"))
		throw new UsageError("Cannot combine --user-config-root with a realm, which has its own configuration.");
	return {
		name: named !== null ? toName("--realm", named.value) : isIsolated ? null : defaultRealm,
		stateRoot: given.last("state-root")?.value ?? null,
		backend: toBackend(given.last("realm-backend")?.value ?? "jsonl"),
		instance: given.has("instance") ? toName("--instance", given.last("instance")?.value ?? "") : null,
	};
}

function toName(flag: string, value: string | null): string {
	if (value !== null && nameForm.test(value)) return value;
	throw new UsageError(
		`${flag} must be a name of up to 100 letters, digits, dots, hyphens and underscores that begins with a letter or a digit.`,
	);
}

/** Upstream's default is a database file. It requests durable sessions, which session files provide too. */
const durable = "sqlite";

function toBackend(value: string): RealmBackend {
	if (value === durable) return "jsonl";
	const known = realmBackends.find((each) => each === value);
	if (known !== undefined) return known;
	throw new UsageError(
		`--realm-backend ${value}: this program stores sessions in files ('jsonl', also for 'sqlite'), or in 'memory', as long as the process lives.`,
	);
}
