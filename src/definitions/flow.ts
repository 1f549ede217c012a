// Flows: tasks for a model in an order that it decides on itself where the ways part. Plain data, read from a skill's
// diagram or built in code, and what is asked at a parting. Running them is the kernel's matter.

export interface Flow {
	/** The one node of kind `begin`. */
	readonly begin: string;
	/** By id. Every edge leads to a node in here. */
	readonly nodes: ReadonlyMap<string, FlowNode>;
}

export type FlowNode = BeginNode | EndNode | TaskNode | DecisionNode;

export interface BeginNode {
	readonly kind: "begin";
	readonly next: string;
}

export interface EndNode {
	readonly kind: "end";
}

export interface TaskNode {
	readonly kind: "task";
	readonly text: string;
	readonly next: string;
}

export interface DecisionNode {
	readonly kind: "decision";
	readonly text: string;
	/** Where each answer leads, in the order in which a model is shown them. */
	readonly branches: ReadonlyMap<string, string>;
}

/**
 * What a model is asked at a decision: the text, the labels, and how to answer. `hint` is for when its last answer named
 * none of them. Without a text, only what comes behind it.
 */
export function decisionPrompt({ text, branches }: DecisionNode, hint: boolean): string {
	const labels = [...branches.keys()].map((label) => `- ${label}`).join("\n");
	const instruction = `These are the ways to go on from here:

${labels}

When you are done, choose one: end your answer with <choice>LABEL</choice>, where LABEL is one of the lines above, \
letter for letter.`;
	const reminder =
		"Your last answer did not choose one of them. Choose now; without a choice that is spelled as above, nothing goes on.";
	return [text, instruction, hint ? reminder : ""].filter((part) => part !== "").join("\n\n");
}

/** The label that an answer chooses; null when its last choice is none of them. Blank space around it does not count. */
export function readChoice(text: string, labels: Iterable<string>): string | null {
	const chosen = text
		.split("<choice>")
		.slice(1)
		.flatMap((rest) => (rest.includes("</choice>") ? [rest.slice(0, rest.indexOf("</choice>")).trim()] : []))
		.at(-1);
	return [...labels].find((label) => label === chosen) ?? null;
}
