import path from "node:path";
import type { Subject } from "../../../api/values/subject.ts";
import { isSensitiveFile } from "../../../ports/files/secret-paths.ts";
import { normalizeHost } from "../../../ports/network/host-name.ts";
import { decidingFile } from "../deciding-files.ts";
import type { Proposal } from "../judge.ts";
import { proposeCommand } from "./command-grants.ts";
import { readGrant } from "./grant-rule.ts";
import { literalPath } from "./path-pattern.ts";
import type { JudgePlace } from "./ruling.ts";

export async function proposeGrants(subjects: readonly Subject[], place: JudgePlace): Promise<Proposal> {
	const patterns = new Set<string>();
	for (const subject of subjects) {
		const proposal = await proposeFor(subject, place);
		if (proposal.kind === "once") return proposal;
		for (const pattern of proposal.patterns) patterns.add(pattern);
	}
	// An unparsable pattern would be stored without covering anything.
	if ([...patterns].some((pattern) => readGrant(pattern, place.home) === null)) return unnameable;
	return { kind: "grants", patterns: [...patterns] };
}

const unnameable: Proposal = { kind: "once", why: "it has nothing that a rule could name" };

async function proposeFor(subject: Subject, place: JudgePlace): Promise<Proposal> {
	switch (subject.kind) {
		case "command":
			return await proposeCommand(subject, place);
		case "file":
			return only(
				subject.operation === "read"
					? `Read(${literalPath(subject.path)})`
					: `Write(${coveredPath(subject.path, await place.roots())})`,
				...(subject.named === undefined
					? []
					: [`${subject.operation === "read" ? "Read" : "Write"}(${literalPath(subject.named)})`]),
			);
		case "network": {
			const host = URL.canParse(subject.url) ? normalizeHost(new URL(subject.url).hostname) : null;
			if (host === null) return { kind: "once", why: "the address has no host name" };
			// A literal `*` in a host name would match other hosts in a pattern.
			return host.includes("*") ? unnameable : only(`WebFetch(domain:${host})`);
		}
		case "web-search":
			return only("WebSearch");
		case "mcp":
			// Servers choose tool names; no name may become a broader pattern.
			return /\*|__$/.test(subject.tool) || subject.server.includes("__")
				? { kind: "once", why: "the names of the server and its tool do not make one pattern" }
				: only(`mcp__${subject.server}__${subject.tool}`);
		case "plugin-tool":
			return only(`Plugin(${subject.name})`);
		case "client-tool":
			return only(`ClientTool(${subject.name})`);
		case "task":
			return only("TaskStop");
	}
}

function only(...patterns: readonly string[]): Proposal {
	return { kind: "grants", patterns };
}

/** A file's directory if it lies below a workspace root; secrets and sensitive files alone. */
function coveredPath(absolute: string, roots: readonly string[]): string {
	const directory = path.dirname(absolute);
	const isBelowRoot = roots.some((root) => directory.startsWith(root.endsWith(path.sep) ? root : root + path.sep));
	return isBelowRoot && !isSensitiveFile(absolute) && decidingFile(absolute, roots) === null
		? `${literalPath(directory)}/**`
		: literalPath(absolute);
}
