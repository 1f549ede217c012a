// Loaded before a program (NODE_OPTIONS): its clock is moved by as many milliseconds as a file says, again and again. What it
// measures with `performance.now` and its timers are as they are, as when somebody sets the clock of a machine.
"use strict";
const { readFileSync, writeFileSync } = require("node:fs");
const file = process.env["AGENTWIRE_CAMPAIGN_CLOCK"];
const real = Date.now.bind(Date);
let shift = 0;
// A program in a form that loads nothing before itself leaves no such file.
writeFileSync(`${file}.moves`, "");

class MovedDate extends Date {
	constructor(...values) {
		if (values.length === 0) super(real() + shift);
		else super(...values);
	}

	static now() {
		return real() + shift;
	}
}
globalThis.Date = MovedDate;
setInterval(() => {
	try {
		shift = Number(readFileSync(file, "utf8")) || 0;
	} catch {
		// It stays as it is.
	}
}, 100).unref();
