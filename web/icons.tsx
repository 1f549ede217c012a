// The page's icons, 16 by 16 lines. Each stands beside its label, or has one for screen readers.
import type { JSX } from "preact";

const shapes = {
	archive: "M2 3h12v3H2zM3 6v7h10V6M6.5 9h3",
	auto: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zm0 0v12",
	copy: "M6 6h7v7H6zM10 6V3H3v7h3",
	details: "M2 3h12v10H2zM10 3v10",
	edit: "M3 13l.6-2.6L11 3l2 2-7.4 7.4zM9.5 4.5l2 2",
	fork: "M4 6v4M4 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zm0 7a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zm8-7a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zm0 0c0 3-8 1.5-8 4",
	menu: "M2 4h12M2 8h12M2 12h12",
	model: "M4 4h8v8H4zM6.5 1.5V4M9.5 1.5V4M6.5 12v2.5M9.5 12v2.5M1.5 6.5H4M1.5 9.5H4M12 6.5h2.5M12 9.5h2.5",
	more: "M2.5 8h1M7.5 8h1M12.5 8h1",
	moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z",
	play: "M5 3l8 5-8 5z",
	plus: "M8 3v10M3 8h10",
	retry: "M13 8a5 5 0 1 1-1.5-3.5M12 2v3H9",
	rewind: "M3 3v4h4M3.5 7A5 5 0 1 1 3 9.5",
	search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zm3.5-1.5L14 14",
	sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
} as const;

export type IconName = keyof typeof shapes;

export function Icon({ name }: { name: IconName }): JSX.Element {
	return (
		<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
			<path d={shapes[name]} />
		</svg>
	);
}
