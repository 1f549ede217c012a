// The title of the open session: clicked, it can be changed, and every window shows the new one.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { visibleText } from "../src/base/text/visible-text.ts";
import { access, attempt, rename, title } from "./store.ts";

export function SessionTitle(): JSX.Element {
	const [isEdited, setEdited] = useState(false);
	const given = title.value === null || title.value === "" ? "New session" : title.value;
	const shown = visibleText(given);
	if (access.value !== "control") return <h1>{shown}</h1>;
	if (!isEdited) {
		return (
			<h1>
				<button type="button" class="rename" title={`Change the title: ${shown}`} onClick={() => setEdited(true)}>
					{shown}
				</button>
			</h1>
		);
	}
	const settle = (text: string) => {
		setEdited(false);
		if (text.trim() !== "" && text !== given) attempt(() => rename(text.trim()));
	};
	return (
		<input
			class="rename"
			aria-label="Title"
			maxLength={200}
			defaultValue={given}
			ref={(input) => input?.focus()}
			onBlur={(event) => settle(event.currentTarget.value)}
			onKeyDown={(event) => {
				if (event.key === "Enter") event.currentTarget.blur();
				else if (event.key === "Escape") setEdited(false);
			}}
		/>
	);
}
