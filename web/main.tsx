// The start of the page.
import { render } from "preact";
import { App } from "./app.tsx";
import { access, attempt, refresh, start } from "./store.ts";

const place = document.querySelector("#page");
if (place !== null) render(<App />, place);
attempt(start);
// An address with another token, pasted into an open page.
addEventListener("hashchange", () => {
	if (location.hash.startsWith("#token=")) attempt(start);
});
setInterval(() => {
	if (!document.hidden && access.value !== "none") void refresh().catch(() => {});
}, 15_000);
