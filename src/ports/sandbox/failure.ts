// Guesses whether the sandbox made a command fail, for display only.

import { isWithin } from "../processes/confinement/replaceable-links.ts";
import type { Confinement, RunOutcome } from "../processes/port.ts";

/** A host refused by the proxy. */
export interface Denial {
	readonly host: string;
	readonly why: string;
	readonly at: number;
}

const readOnlySystem = /read-only file system|EROFS/i;
const busy = /device or resource busy|EBUSY/i;
const refusedPermission = /permission denied|operation not permitted|EACCES|EPERM/i;
const refusedFamily = /address family not supported|EAFNOSUPPORT/i;
const noNetwork = new RegExp(
	[
		"could not resolve (?:host|proxy)",
		"temporary failure in name resolution",
		"name or service not known",
		"network is unreachable",
		"nodename nor servname",
		"getaddrinfo",
		"EAI_AGAIN|ENOTFOUND|ENETUNREACH",
	].join("|"),
	"i",
);

const withoutNetwork =
	'The command runs in a sandbox without network; `network` in `[sandbox]` of config.toml can be set to "host", or to ' +
	'"proxy" with `allowed_domains`.';

function mentioned(text: string): string[] {
	return text.match(/\/[^\s'":,;`]+/g) ?? [];
}

/** Null when nothing suggests the sandbox, and for a command that did not start. */
export function explainFailure(
	outcome: Pick<RunOutcome, "ended" | "output" | "errorOutput">,
	confinement: Confinement,
	denials: readonly Denial[],
): string | null {
	const { ended } = outcome;
	if (ended.kind !== "exited" || ended.exitCode === 0) return null;
	const text = outcome.output + outcome.errorOutput;
	const [denial] = denials;
	if (denial !== undefined) {
		return `The sandbox's network did not let the command reach ${denial.host}, which ${denial.why}.`;
	}
	if (confinement.network.kind === "none" && noNetwork.test(text)) {
		return withoutNetwork;
	}
	if (readOnlySystem.test(text)) {
		const place = mentioned(text).find((file) => confinement.readOnly.some((root) => isWithin(file, root)));
		return place === undefined
			? `The sandbox lets the command write only below ${list(confinement.writable)}.`
			: `The sandbox protects ${place} from changes.`;
	}
	if (refusedPermission.test(text) || busy.test(text)) {
		const hidden = mentioned(text).find((file) => confinement.hidden.some((root) => isWithin(file, root)));
		if (hidden !== undefined) return `The sandbox hides ${hidden} from commands.`;
		const guarded = [...confinement.readOnly, ...confinement.removed].find((file) => text.includes(file));
		if (guarded !== undefined) return `The sandbox protects ${guarded} from changes.`;
	}
	if (confinement.network.kind !== "host" && refusedFamily.test(text)) {
		return "The sandbox has no Unix sockets and no sockets but those of the internet protocols.";
	}
	return null;
}

function list(paths: readonly string[]): string {
	return paths.length === 0 ? "its temporary directories" : paths.join(", ");
}
