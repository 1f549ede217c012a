// Task sequences in which the model chooses at branches, as plain data. The kernel runs them.

export interface Flow {
	readonly begin: string;
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
	/** The target of each answer, in the order shown to the model. */
	readonly branches: ReadonlyMap<string, string>;
}

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

/** The label chosen by an answer; null if its last choice matches none. Ignores surrounding blank space. */
export function readChoice(text: string, labels: Iterable<string>): string | null {
	const chosen = text
		.split("<choice>")
		.slice(1)
		.flatMap((rest) => (rest.includes("</choice>") ? [rest.slice(0, rest.indexOf("</choice>")).trim()] : []))
		.at(-1);
	return [...labels].find((label) => label === chosen) ?? null;
}
