// Flows: tasks for a model whose order the model decides at branches. Plain data, read from a skill's diagram or built
// in code, and the prompt at a branch. The kernel runs them.

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
	/** The target of each answer, in the order in which a model is shown them. */
	readonly branches: ReadonlyMap<string, string>;
}

/**
 * The prompt for a decision: the text, the labels, and how to answer; without a text, the rest alone. `hint` is for
 * when the last answer named none of the labels.
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

/** The label that an answer chooses; null when its last choice is none of them. Surrounding blank space is ignored. */
export function readChoice(text: string, labels: Iterable<string>): string | null {
	const chosen = text
		.split("<choice>")
		.slice(1)
		.flatMap((rest) => (rest.includes("</choice>") ? [rest.slice(0, rest.indexOf("</choice>")).trim()] : []))
		.at(-1);
	return [...labels].find((label) => label === chosen) ?? null;
}
