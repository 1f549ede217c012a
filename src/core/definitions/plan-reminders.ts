const rule =
	"Plan mode is on. Do not change anything: no edits, no commands that write, no installs, no commits. The plan file is the one file you may write.";

export function fullReminder(file: string, hasPlan: boolean): string {
	return [
		rule,
		`The plan file is ${file}. ${hasPlan ? "It already holds a plan: read it and go on from there with StrReplaceFile, or write it anew with WriteFile." : "It does not exist yet: write it with WriteFile."}`,
		[
			"Work in this order:",
			"1. Look: read the code that matters and find out how things are done here.",
			"2. Think: weigh at least one other way. Ask with AskUserQuestion where the answer would change the plan.",
			"3. Check: go back to the files you will touch and make sure that the plan fits them.",
			"4. Write the plan: what will change and where, in which order, how it will be shown to work, what is left out.",
			"5. Hand it in with ExitPlanMode. If there are two or three real alternatives, pass them as its options and describe each in the plan.",
		].join("\n"),
		"End every turn either with a question (AskUserQuestion) or with ExitPlanMode. Do not ask for approval of the plan in words; ExitPlanMode does that.",
	].join("\n\n");
}

export function shortReminder(file: string): string {
	return `${rule} Plan file: ${file}. End the turn with AskUserQuestion or ExitPlanMode.`;
}

export function enterReminder(file: string): string {
	return `${rule}\n\nThere is a plan from before in ${file}. Read it first and judge it by the present request: keep what still holds, change what does not, or write a new one when the request is another. Then hand it in with ExitPlanMode.`;
}

export function planInstructions(file: string): string {
	return `Plan mode is on. Write the plan to ${file}, the one file you may change now. Explore first, ask where the answer matters, then hand the plan in with ExitPlanMode.`;
}
