import { type Component, Container, type SelectItem, SelectList, Text } from "@mariozechner/pi-tui";
import type { Theme } from "./theme.ts";

export class Choice extends Container {
	readonly #list: SelectList;
	readonly #items: readonly SelectItem[];
	readonly #choose: (value: string) => void;

	constructor(
		items: readonly SelectItem[],
		theme: Theme,
		choose: (value: string) => void,
		onCancel: () => void,
		selected = 0,
	) {
		super();
		this.#items = items.map((item, index) => ({ ...item, label: `${index + 1}. ${item.label}` }));
		this.#choose = choose;
		this.#list = new SelectList([...this.#items], 10, theme.list, {
			minPrimaryColumnWidth: 12,
			maxPrimaryColumnWidth: 70,
		});
		this.#list.setSelectedIndex(selected);
		this.#list.onSelect = ({ value }) => choose(value);
		this.#list.onCancel = onCancel;
		this.addChild(this.#list);
	}

	handleInput(data: string): void {
		const numbered = /^[1-9]$/.test(data) ? this.#items[Number(data) - 1] : undefined;
		if (numbered !== undefined) this.#choose(numbered.value);
		else this.#list.handleInput(data);
	}
}

export class Panel extends Container {
	#control: Component | null = null;

	show(lines: readonly string[], control: Component): void {
		this.clear();
		for (const line of lines) this.addChild(new Text(line, 1, 0));
		this.addChild(control);
		this.#control = control;
	}

	handleInput(data: string): void {
		this.#control?.handleInput?.(data);
	}
}
