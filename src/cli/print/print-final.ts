import type { EventBody, TurnOutcome } from "../../api/values/event.ts";
import { toJsonLine } from "../../base/json.ts";
import { oneLine } from "../../base/text/sentence.ts";
import type { PrintFormat } from "../arguments/flags.ts";
import { withoutControls } from "../printable-text.ts";
import type { Printer, PrintFailure, Write } from "./printer.ts";

interface FinalForm {
	message(text: string): string;
	failure(failure: PrintFailure): string;
}

const forms: { readonly [F in PrintFormat]: FinalForm } = {
	text: {
		message: (text) => (text === "" ? "" : `${withoutControls(text).replace(/\n?$/, "\n")}`),
		failure: ({ message }) => `Error: ${withoutControls(message)}\n`,
	},
	"stream-json": {
		message: (content) => `${toJsonLine({ role: "assistant", content })}\n`,
		failure: ({ message }) => `${oneLine(message)}\n`,
	},
};

const hasAnswer: ReadonlySet<TurnOutcome["status"] | undefined> = new Set(["finished", "truncated"]);

export function createFinalPrinter(format: PrintFormat, write: Write): Printer {
	const form = forms[format];
	let pieces: string[] = [];

	const take = (body: EventBody): void => {
		if (body.type === "content.delta" && body.part.type === "text") pieces.push(body.part.text);
		if (body.type === "turn.started" || body.type === "step.started" || body.type === "step.retrying") pieces = [];
		if (body.type !== "turn.ended" || !hasAnswer.has(body.outcome?.status)) return;
		const text = form.message(pieces.join(""));
		if (text !== "") write(text);
	};

	return {
		take({ body, agentPath }) {
			if (agentPath.length === 0) take(body);
		},
		fail: (failure) => write(form.failure(failure)),
	};
}
