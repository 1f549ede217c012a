import { joinTexts, type ToolReturn } from "../../../api/values/content.ts";

/** The text that the model reads; a failure is an object with its code. */
export function outputText({ is_error, output, message }: ToolReturn): string {
	const text = typeof output === "string" ? output : joinTexts(output, "\n");
	const whole = [text, message].filter((piece) => piece !== "").join("\n");
	return is_error ? JSON.stringify({ error: "tool_error", message: whole }) : text === "" ? message : text;
}
