// The words that this project avoids, each with its replacement (docs/glossary.md has the whole vocabulary).
// word-check.ts searches comments, identifiers, file names and documents for them, but no literals.

export interface AvoidedWord {
	readonly avoid: RegExp;
	readonly say: string;
}

/** In comments and documents. */
export const avoidedPhrases: readonly AvoidedWord[] = [
	{
		avoid: /\b(?:told|tell|tells|telling|untold)\b/gi,
		say: "emit (kernel), deliver or send (to a client), report (to a person)",
	},
	{ avoid: /\bkept\b/gi, say: "persisted, stored, retained" },
	{
		avoid: /\b(?:an|the|each|every|its|open|any|such) asks?\b/gi,
		say: "interaction",
	},
	{ avoid: /\bstand(?:s|ing)? in\b|\bstand-ins?\b/gi, say: "fallback answer; replaces" },
	{ avoid: /\bthe door\b/gi, say: "the kernel API" },
	{ avoid: /\bleavers?\b|\bin vain\b/gi, say: "eviction candidate; without effect" },
	{ avoid: /\b(?:take|takes|taken|taking|took) up\b/gi, say: "load, resume" },
	{ avoid: /\b(?:let|lets|letting) go\b/gi, say: "release, unload" },
	{ avoid: /\b(?:was|were|is|are) made with\b/gi, say: "creation options" },
	{ avoid: /\bsurroundings\b/gi, say: "host services" },
	{ avoid: /\bhurr(?:y|ies|ied)\b|\bcut(?:s|ting)? short\b/gi, say: "abort, cancel, interrupt" },
	{ avoid: /\bwait(?:s|ing|ed)? for room\b|\bdealt with\b/gi, say: "backpressure; drained, handled" },
	{ avoid: /\belders?\b/gi, say: "predecessor, legacy" },
	{ avoid: /\b(?:take|takes|taking|took|taken) the place of\b/gi, say: "replaces; drop-in replacement for" },
	{ avoid: /\bbehind\b/gi, say: "after, before (time); below, above (layers)" },
	{ avoid: /\bbeside\b|\bat the same time\b|\bside by side\b/gi, say: "concurrently, in parallel; next to" },
	{ avoid: /\bwhen (?:first )?wanted\b/gi, say: "lazily, on first use" },
	{ avoid: /\bthoughts\b|\bpictures?\b|\bfilms?\b|\bsounds\b/gi, say: "reasoning, image, video, audio" },
	{ avoid: /\btried again\b|\bno money\b/gi, say: "retried; insufficient credit" },
	{ avoid: /\bruns of pieces\b/gi, say: "merged or coalesced deltas" },
	{ avoid: /\bgo(?:es|ing|ne)? back\b/gi, say: "checkpoint, rewind, fork" },
	{ avoid: /\bgo(?:es|ing|ne)? over\b/gi, say: "the Ralph loop; read through" },
	{ avoid: /\bmay say what it is\b/gi, say: "optional" },
	{ avoid: /\bmake a line of\b|\bread as\b/gi, say: "serialize, encode; parse, decode" },
];

/** Parts of identifiers between capitals, and of file names between their separators. */
export const avoidedParts: readonly AvoidedWord[] = [
	{ avoid: /^(?:told|untold|tell|tells|telling)$/i, say: "emit, deliver, send, report" },
	{ avoid: /^(?:kept|unkept)$/i, say: "persisted, stored, retained" },
	{ avoid: /^door$/i, say: "KernelApi" },
	{ avoid: /^surroundings$/i, say: "HostServices" },
	{
		avoid: /^(?:leaver|vain|hurry|hurried|elders?|thoughts|pictures?|films?|money)$/i,
		say: "the words of docs/glossary.md",
	},
	{ avoid: /^(?:behind|beside)$/i, say: "after, concurrently" },
];

/** Whole identifiers to avoid although none of their parts is. */
export const avoidedNames: readonly AvoidedWord[] = [
	{ avoid: /^Conversation$/, say: "connection (dialect), message history (agent), child stdio (processes)" },
	{ avoid: /^Ask(?!User)(?:[A-Z]|$)|^asks$|^askId$|(?<!can|To)Asks?$/, say: "Interaction" },
	{ avoid: /madeWith/i, say: "creationOptions" },
	{ avoid: /standIns?|standsIn/i, say: "fallback" },
	{ avoid: /^(?:is)?(?:letGo|takeUp|takenUp|dealtWith|leaving|isLeaving)$/, say: "release, load, drained, evicting" },
	{ avoid: /whenWanted/i, say: "lazy" },
];

/** Where a word was found: in prose (a comment or a document), or in a name (an identifier or the name of a file). */
export type WordPlace = "prose" | "name";

export interface LegitimateUse {
	/** The file, or a folder that ends with a slash. */
	readonly where: string;
	readonly place: WordPlace;
	/** The word as it is found; null for every word. */
	readonly text: string | null;
	readonly why: string;
}

/** Uses that are allowed, and why. */
export const legitimateUses: readonly LegitimateUse[] = [
	{ where: "src/models/ai-sdk/", place: "name", text: "kept", why: "a key of the metadata in session files" },
	{ where: "src/models/google/contents.test.ts", place: "name", text: "kept", why: "the same key" },
	{ where: "test/support/models/model-conversation.ts", place: "name", text: "kept", why: "the same key" },
	{ where: "src/models/google/", place: "name", text: "includeThoughts", why: "a field of Google's API" },
	{ where: "docs/glossary.md", place: "prose", text: null, why: "lists the words to avoid" },
];
