import { Container, Markdown, Spacer, Text } from "@mariozechner/pi-tui";
import type { Approval, ToolCall, TurnEvent } from "../../client/client.ts";
import type { Code } from "./code.ts";
import { callTitle, linesOf, oneLine } from "./describe.ts";
import type { Theme } from "./theme.ts";

const liveLines = 8;
const endedLines = 4;
const diffLines = 40;
const keptOutput = 20_000;

class CallCard extends Container {
	readonly #theme: Theme;
	readonly #code: Code;
	readonly #call: ToolCall;
	#output = "";
	#display: Approval["display"] = [];
	#state: "running" | "done" | "failed" = "running";

	constructor(call: ToolCall, theme: Theme, code: Code) {
		super();
		this.#call = call;
		this.#theme = theme;
		this.#code = code;
		this.#show();
	}

	add(text: string): void {
		this.#output = (this.#output + text).slice(-keptOutput);
		this.#show();
	}

	end({ isError, output, display }: Extract<TurnEvent, { type: "call.ended" }>): void {
		this.#state = isError ? "failed" : "done";
		this.#display = display.filter(({ type }) => type === "diff");
		if (this.#output === "" || isError) this.#output = output.slice(-keptOutput);
		this.#show();
	}

	/** Colors can be had by now. */
	override invalidate(): void {
		super.invalidate();
		if (this.#display.length > 0) this.#show();
	}

	#show(): void {
		const { accent, good, bad, dim, bold } = this.#theme;
		const marks = { running: accent("●"), done: good("✓"), failed: bad("✗") };
		this.clear();
		this.addChild(new Text(`${marks[this.#state]} ${bold(callTitle(this.#call))}`, 1, 0));
		const changed = this.#code.display(this.#display);
		for (const line of changed.slice(0, diffLines)) this.addChild(new Text(line, 3, 0));
		if (changed.length > diffLines) this.addChild(new Text(dim(`… ${changed.length - diffLines} more lines`), 3, 0));
		if (changed.length > 0) return;
		const lines = this.#output.trim() === "" ? [] : linesOf(this.#output);
		const most = this.#state === "running" ? liveLines : endedLines;
		const hidden = lines.length - most;
		if (hidden > 0) this.addChild(new Text(dim(`… ${hidden} more lines`), 3, 0));
		for (const line of lines.slice(-most)) this.addChild(new Text(dim(line), 3, 0));
	}
}

export class Transcript extends Container {
	readonly #theme: Theme;
	readonly #code: Code;
	readonly #cards = new Map<string, CallCard>();
	/** What is being said or thought, and by whom; the next piece continues it. */
	#open: { readonly key: string; readonly view: { setText(text: string): void }; text: string } | null = null;

	constructor(theme: Theme, code: Code) {
		super();
		this.#theme = theme;
		this.#code = code;
	}

	person(text: string): void {
		this.#add(
			new Text(
				this.#theme.person(
					linesOf(text)
						.map((line) => `› ${line}`)
						.join("\n"),
				),
				1,
				0,
			),
		);
	}

	note(text: string, kind: "dim" | "warn" | "bad" = "dim"): void {
		this.#add(new Text(this.#theme[kind](linesOf(text).join("\n")), 1, 0));
	}

	lines(lines: readonly string[]): void {
		this.#add(new Text(lines.join("\n"), 1, 0));
	}

	override clear(): void {
		super.clear();
		this.#open = null;
		this.#cards.clear();
	}

	take(event: TurnEvent): void {
		switch (event.type) {
			case "text":
				this.#say(`text ${event.agent}`, event.text, () => new Markdown("", 1, 0, this.#code.markdown));
				return;
			case "thinking":
				this.#say(`thinking ${event.agent}`, event.text, () => {
					const view = new Text("", 1, 0);
					const { dim } = this.#theme;
					return Object.assign(view, {
						setText: (text: string) => Text.prototype.setText.call(view, dim(thought(text))),
					});
				});
				return;
			case "call.started": {
				const card = new CallCard(event.call, this.#theme, this.#code);
				this.#cards.set(event.call.id, card);
				this.#add(card);
				return;
			}
			case "call.output":
				this.#cards.get(event.callId)?.add(event.text);
				return;
			case "call.ended":
				this.#cards.get(event.callId)?.end(event);
				this.#cards.delete(event.callId);
				return;
			case "plan":
				this.#add(new Markdown(linesOf(event.text).join("\n"), 1, 0, this.#code.markdown));
				return;
			case "retry":
				this.note(
					`Retrying in ${event.seconds} s (attempt ${event.attempt} of ${event.attempts}): ${oneLine(event.reason)}`,
					"warn",
				);
				return;
			case "notice":
				this.note(`${event.title}: ${event.text}`, "warn");
				return;
			case "step":
				this.#open = null;
				return;
			case "approval":
			case "question":
			case "settled":
			case "usage":
			case "ended":
			case "unknown":
				return;
		}
	}

	#say(key: string, text: string, create: () => Markdown | Text): void {
		if (this.#open?.key !== key) {
			const view = create();
			this.#add(view);
			this.#open = { key, view, text: "" };
		}
		this.#open.text += text;
		this.#open.view.setText(linesOf(this.#open.text).join("\n"));
	}

	#add(view: Text | Markdown | CallCard): void {
		this.#open = null;
		this.addChild(view);
		this.addChild(new Spacer(1));
	}
}

/** Only the end of long reasoning, which would fill the screen. */
function thought(text: string): string {
	const lines = text.trim().split("\n");
	const shown = lines.slice(-3).join("\n");
	return lines.length > 3 ? `… ${shown}` : shown;
}
