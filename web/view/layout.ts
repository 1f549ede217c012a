// Which parts of the page are shown where there is no room for all, and its colours.
import { effect, signal } from "@preact/signals";

export const isSidebarShown = signal(false);
export const isPanelShown = signal(innerWidth >= 1100);
export const areKeysShown = signal(false);

export type Theme = "system" | "light" | "dark";
const key = "agentwire-theme";
const stored = localStorage.getItem(key);
export const theme = signal<Theme>(stored === "light" || stored === "dark" ? stored : "system");

effect(() => {
	document.documentElement.dataset["theme"] = theme.value;
	if (theme.value === "system") localStorage.removeItem(key);
	else localStorage.setItem(key, theme.value);
});
