const serverKinds: Readonly<Record<string, ServerKind>> = {
	meerkat: "meerkat",
	acp: "acp",
	"acp-v2": "acp-v2",
	claude: "claude",
	codex: "codex",
	"codex-exec": "codex-exec",
	gateway: "gateway",
};

export type Move =
	| { readonly kind: "send"; readonly line: number; readonly bytes: string; readonly repeat: number }
	| { readonly kind: "receive"; readonly line: number; readonly text: string }
	/** Chains keep their own order, but not against each other. */
	| { readonly kind: "unordered"; readonly line: number; readonly chains: readonly (readonly string[])[] }
	| { readonly kind: "nothing"; readonly line: number }
	| { readonly kind: "close-input"; readonly line: number }
	| { readonly kind: "exit"; readonly line: number; readonly code: number | "nonzero" }
	| { readonly kind: "open-gate"; readonly line: number }
	| { readonly kind: "until-file"; readonly line: number; readonly name: string };

/** A `covers:` mark: its kind (`state`, `edge`, `event`, …) and the cell of that kind. */
export interface Cover {
	readonly kind: string;
	readonly cell: string;
}

/** The kind of server to play against: one session, or many in the named protocol. */
export type ServerKind = "session" | "meerkat" | "acp" | "acp-v2" | "claude" | "codex" | "codex-exec" | "gateway";

export interface Transcript {
	readonly name: string;
	readonly title: string;
	readonly server: ServerKind;
	readonly covers: readonly Cover[];
	/** Needs a model that stops at gates. */
	readonly isMemoryOnly: boolean;
	/** How the product differs from a rightly expected transcript; null if it does not. */
	readonly deviation: string | null;
	readonly yolo: boolean;
	readonly plan: boolean;
	readonly afk: boolean;
	readonly maxSteps: number | null;
	readonly maxAttempts: number | null;
	readonly hasModel: boolean;
	readonly model: string | null;
	/** Null for the default agent. */
	readonly agentFile: string | null;
	readonly capabilities: readonly string[];
	/** Merged over the configuration of every transcript. */
	readonly agentwireSettings: Readonly<Record<string, unknown>>;
	/** Merged over the whole configuration. */
	readonly settings: Readonly<Record<string, unknown>>;
	/** Whether sessions are also stored as files in the memory run. */
	readonly isOnDisk: boolean;
	readonly words: readonly string[];
	/** Additional environment variables of the server. */
	readonly environment: Readonly<Record<string, string>>;
	readonly scripts: readonly string[];
	readonly files: ReadonlyMap<string, string | Buffer>;
	readonly shareFiles: ReadonlyMap<string, string>;
	readonly sessionFiles: ReadonlyMap<string, string>;
	/** Options, scripts and files before the conversations. */
	readonly setup: string;
	/** One conversation per process; the later ones resume the session of the first. */
	readonly conversations: readonly (readonly Move[])[];
	/** By conversation: `words` and its own, with placeholders. */
	readonly conversationWords: readonly (readonly string[])[];
}

interface Section {
	readonly kind: string;
	readonly argument: string;
	readonly firstLine: number;
	readonly lines: readonly string[];
}

function toSections(text: string): Section[] {
	const sections: { kind: string; argument: string; firstLine: number; lines: string[] }[] = [
		{ kind: "head", argument: "", firstLine: 1, lines: [] },
	];
	for (const [index, line] of text.split("\n").entries()) {
		const heading = /^--- (script|file|base64|share|session|conversation) ?(.*)$/.exec(line);
		if (heading !== null) {
			sections.push({ kind: heading[1] ?? "", argument: heading[2] ?? "", firstLine: index + 2, lines: [] });
		} else sections.at(-1)?.lines.push(line);
	}
	return sections;
}

function content(section: Section): string {
	return `${section.lines.join("\n").replace(/\n+$/, "")}\n`;
}

function named(sections: readonly Section[], kind: string): ReadonlyMap<string, string> {
	return new Map(
		sections.filter((section) => section.kind === kind).map((section) => [section.argument, content(section)]),
	);
}

function values(head: Section | undefined, key: string): string[] {
	const prefix = `${key}: `;
	return (head?.lines ?? []).flatMap((line) => (line.startsWith(prefix) ? [line.slice(prefix.length).trim()] : []));
}

function toSetup(sections: readonly Section[]): string {
	return sections
		.filter(({ kind }) => kind !== "conversation")
		.flatMap(({ kind, argument, lines }) => {
			if (kind !== "head") return [`--- ${kind} ${argument}`.trimEnd(), ...lines];
			return lines.filter((line) => /^(with|words|settings|agentwire|environment|memory only): /.test(line));
		})
		.join("\n");
}

function numberOption(options: readonly string[], name: string): number | null {
	const found = options.find((option) => option.startsWith(`${name} `));
	return found === undefined ? null : Number(found.slice(name.length + 1));
}

function toMoves(section: Section): Move[] {
	const moves: Move[] = [];
	let chains: string[][] | null = null;
	let openedAt = 0;
	for (const [index, text] of section.lines.entries()) {
		const line = section.firstLine + index;
		if (text === "" || text.startsWith("#")) continue;
		if (chains !== null) {
			if (text === "}") {
				moves.push({ kind: "unordered", line: openedAt, chains });
				chains = null;
			} else if (text === "and") chains.push([]);
			else if (text.startsWith("← ")) chains.at(-1)?.push(text.slice(2));
			else throw new Error(`line ${line}: not a line of an unordered block: ${text}`);
		} else if (text === "unordered {") {
			chains = [[]];
			openedAt = line;
		} else moves.push(toMove(text, line));
	}
	if (chains !== null) throw new Error(`line ${openedAt}: the unordered block is never closed`);
	return moves;
}

function toMove(text: string, line: number): Move {
	if (text === "← nothing") return { kind: "nothing", line };
	if (text === "close stdin") return { kind: "close-input", line };
	if (text === "open gate") return { kind: "open-gate", line };
	if (text === "exit nonzero") return { kind: "exit", line, code: "nonzero" };
	if (text.startsWith("exit ")) return { kind: "exit", line, code: Number(text.slice(5)) };
	if (text.startsWith("until file ")) return { kind: "until-file", line, name: text.slice(11) };
	if (text.startsWith("← ")) return { kind: "receive", line, text: text.slice(2) };
	if (text.startsWith("→ ")) return { kind: "send", line, bytes: toBytes(`${text.slice(2)}\n`), repeat: 1 };
	const raw = /^→raw (".*")(?: × (\d+))?$/.exec(text);
	if (raw === null) throw new Error(`line ${line}: not a line of a conversation: ${text}`);
	const bytes: unknown = JSON.parse(raw[1] ?? "");
	return { kind: "send", line, bytes: String(bytes), repeat: Number(raw[2] ?? 1) };
}

function toBytes(text: string): string {
	return Buffer.from(text, "utf8").toString("latin1");
}

function toWords(text: string): string[] {
	return text.split(" ").filter((word) => word !== "");
}

/** Reads a transcript. Throws for a line that is none of the format. */
export function parseTranscript(name: string, text: string): Transcript {
	const sections = toSections(text);
	const head = sections[0];
	const conversations = sections.filter(({ kind }) => kind === "conversation");
	const words = values(head, "words").flatMap(toWords);
	const options = values(head, "with");
	const table = (key: string) => JSON.parse(values(head, key)[0] ?? "{}");
	return {
		name,
		title: head?.lines[0] ?? "",
		server: serverKinds[name.split("/", 1)[0] ?? ""] ?? "session",
		covers: values(head, "covers").map((cover) => {
			const [kind = "", ...cell] = cover.split(" ");
			return { kind, cell: cell.join(" ") };
		}),
		isMemoryOnly: values(head, "memory only").length > 0,
		deviation: values(head, "deviation")[0] ?? null,
		yolo: options.includes("yolo"),
		plan: options.includes("plan"),
		afk: options.includes("afk"),
		maxSteps: numberOption(options, "max steps"),
		maxAttempts: numberOption(options, "max attempts"),
		hasModel: !options.includes("no model"),
		model: options.find((option) => option.startsWith("model "))?.slice(6) ?? null,
		agentFile: options.find((option) => option.startsWith("agent file "))?.slice(11) ?? null,
		capabilities: options.flatMap((option) => (option.startsWith("capability ") ? [option.slice(11)] : [])),
		agentwireSettings: table("agentwire"),
		settings: table("settings"),
		isOnDisk: options.includes("sessions on disk"),
		words,
		environment: table("environment"),
		scripts: sections.filter(({ kind }) => kind === "script").map((section) => section.lines.join("\n").trim()),
		files: new Map<string, string | Buffer>([
			...named(sections, "file"),
			...[...named(sections, "base64")].map(([name, text]) => [name, Buffer.from(text, "base64")] as const),
		]),
		shareFiles: named(sections, "share"),
		sessionFiles: named(sections, "session"),
		setup: toSetup(sections),
		conversations: conversations.map(toMoves),
		conversationWords: conversations.map(({ argument }) => [...words, ...toWords(argument)]),
	};
}
