// Commands on files, skills or other sessions are played from their turns' events.
import { inputText } from "../api/values/content.ts";
import { parseSlashCommand } from "../api/values/slash-command.ts";
import { unlessAborted } from "../base/abort.ts";
import { type CommandRun, finished, type SlashCommand } from "../kernel/commands/command.ts";
import { type Conductor, mainKey } from "./conductor.ts";
import { questionAt } from "./played-questions.ts";

const withEffects: ReadonlySet<string> = new Set(["add-dir", "export", "import", "rewind", "btw"]);

export function playCommands(conductor: Conductor): readonly SlashCommand[] {
	const main = conductor.scores.get(mainKey);
	const typed = (main?.events ?? []).flatMap(({ body }) =>
		body.type === "turn.started" ? (parseSlashCommand(inputText(body.input))?.name ?? []) : [],
	);
	const names = new Set(typed.filter((name) => withEffects.has(name) || name.startsWith("skill:")));
	return [...names].map((name) => ({
		name,
		description: "",
		aliases: [],
		run: (run) => play(run, conductor),
	}));
}

async function play({ say, deliver, runAgent, signal }: CommandRun, conductor: Conductor) {
	const main = conductor.scores.get(mainKey);
	if (main === undefined) return finished;
	const start = main.events.findLastIndex(({ body }, index) => body.type === "turn.started" && main.isMatched(index));
	let question: string | null = null;
	for (let index = start + 1; ; index += 1) {
		const body = main.body(index);
		const isCut = body === undefined || (body.type === "turn.ended" && body.outcome?.status === "cancelled");
		await unlessAborted(
			conductor.when(() => !isCut && main.isReached(index)),
			signal,
		);
		if (signal.aborted || body === undefined) return { status: "cancelled" } as const;
		if (body.type === "step.started") return await runAgent("");
		// The kernel continues with what was steered.
		if (body.type === "steer.consumed") return finished;
		if (body.type === "turn.ended") return body.outcome ?? finished;
		if (body.type === "content.completed" && body.part.type === "text") {
			await say(body.part.text);
			conductor.release(main, index);
		}
		const isOwnQuestion = body.type === "side-question.started" && questionAt(main, index) === null;
		if (isOwnQuestion) question = body.id;
		const isOwnEnd = body.type === "side-question.ended" && body.id === question;
		if (isOwnQuestion || isOwnEnd || body.type === "session.rewound") await deliver(body);
	}
}
