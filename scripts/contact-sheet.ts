// Lays images of the page's states out on one sheet, docs/images/states.jpg. First make the images:
//   AGENTWIRE_IMAGES=DIRECTORY npx vitest run --project browser test/browser/screenshots.test.ts
//   npx tsx scripts/contact-sheet.ts DIRECTORY
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

/** Each once; widths and colors take turns. */
const shown = [
	"first-run-wide-light",
	"start-wide-dark",
	"empty-narrow-light",
	"approval-wide-light",
	"approval-narrow-dark",
	"change-wide-dark",
	"large-change-middle-light",
	"question-wide-light",
	"enter-plan-narrow-light",
	"conversation-wide-light",
	"conversation-narrow-dark",
	"working-wide-dark",
	"interrupted-middle-dark",
	"failed-wide-light",
	"failed-narrow-light",
	"rewind-wide-light",
	"rewind-narrow-dark",
	"long-text-wide-light",
	"long-results-middle-light",
	"offline-wide-dark",
	"palette-wide-light",
	"details-of-work-narrow-light",
	"drawer-narrow-dark",
	"archived-wide-dark",
];

const target = fileURLToPath(new URL("../docs/images/states.jpg", import.meta.url));
/** Bytes of the sheet. */
const sizeLimit = 600_000;

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error("Name the directory with the images.");
const figures = shown.map((name) => {
	const image = readFileSync(path.join(directory, `${name}.png`)).toString("base64");
	return `<figure><img src="data:image/png;base64,${image}"><figcaption>${name.replaceAll("-", " ")}</figcaption></figure>`;
});
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
	const page = await browser.newPage({ viewport: { width: 2500, height: 100 } });
	await page.setContent(`<style>
		body { display: flex; flex-wrap: wrap; gap: 16px; margin: 16px; font: 13px system-ui; background: #8a8f98; }
		figure { margin: 0; } img { display: block; height: 400px; } figcaption { padding-top: 4px; }
	</style>${figures.join("")}`);
	await page.screenshot({ path: target, type: "jpeg", quality: 62, fullPage: true });
} finally {
	await browser.close();
}
const { size } = statSync(target);
if (size > sizeLimit) throw new Error(`${target} has ${size} bytes, more than ${sizeLimit}.`);
console.log(`${target}: ${size} bytes`);
