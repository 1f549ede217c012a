// A model for a trial without a key: looks at the directory once, then explains what it is and how to get a real one.
import { type ContentPart, joinTexts } from "../../../api/values/content.ts";
import { modelAdvice, scriptedModelName } from "../../../api/values/model-advice.ts";
import { beginning } from "../../../base/text/well-formed.ts";
import type { Model, ModelRequest } from "../model.ts";
import { streamEchoScript } from "./echo-stream.ts";

const looking = `text: This is a scripted model: it shows what a turn looks like but understands nothing. First it looks at the directory.
tool_call: ${JSON.stringify({ id: "look", name: "Glob", arguments: JSON.stringify({ pattern: "*" }) })}`;

const realModel = modelAdvice.slice(0, modelAdvice.indexOf("; or try"));

export function createTrialModel({
	maxContextSize,
	capabilities,
}: Pick<Model, "maxContextSize" | "capabilities">): Model {
	return {
		name: scriptedModelName,
		maxContextSize,
		capabilities,
		stream: (request, signal) => streamEchoScript(toScript(request), signal),
	};
}

function toScript({ messages, tools }: ModelRequest): string {
	const last = messages.at(-1);
	const isFirst = messages.every(({ role }) => role !== "assistant");
	if (isFirst && tools.some(({ name }) => name === "Glob")) return looking;
	const prompt = messages.findLast(({ role }) => role === "user")?.content ?? [];
	const asked = oneLine(beginning(joinTexts(prompt, " "), 200));
	const found = last?.role === "tool" ? oneLine(beginning(joinTexts(last.content.filter(isResult), " "), 400)) : "";
	const seen = found === "" ? "" : `It found: ${found}`;
	return `text: ${[seen, `You asked: ${asked}`, `A real model would work on that now. ${realModel}.`].filter((part) => part !== "").join(" — ")}`;
}

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();

const isResult = (part: ContentPart) => part.type === "text" && !part.text.startsWith("<system>");
