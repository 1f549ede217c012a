import type { AgentEvent } from "../../api/values/event.ts";
import { retryText } from "../../api/values/retry-text.ts";
import type { PrintOptions } from "../arguments/command-line.ts";
import { withoutControls } from "../printable-text.ts";

export function modelNote(
	{ body }: AgentEvent,
	{ outputFormat, lines, finalMessageOnly }: Pick<PrintOptions, "outputFormat" | "lines" | "finalMessageOnly">,
): string | null {
	const isStream = outputFormat === "stream-json" && !finalMessageOnly;
	const isKimiCode = isStream && lines === "kimi-code";
	if (body.type === "step.retrying")
		return finalMessageOnly || (isStream && !isKimiCode) ? withoutControls(retryText(body)) : null;
	if (body.type !== "notification.raised" || body.category !== "model") return null;
	return finalMessageOnly || isKimiCode ? withoutControls(`${body.title}: ${body.body}`) : null;
}
