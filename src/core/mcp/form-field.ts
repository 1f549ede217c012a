import * as v from "valibot";

export type FieldValue = string | number | boolean | string[];

export type ReadField =
	| { readonly ok: true; readonly value: FieldValue }
	| { readonly ok: false; readonly issue: string };

export interface FormField {
	readonly name: string;
	readonly label: string;
	/** Fields with a server default are also optional. */
	readonly isOptional: boolean;
	readonly isList: boolean;
	readonly choices: readonly { readonly label: string; readonly description: string }[];
	/** Parses selected labels, separated by commas, or typed text. */
	read(text: string): ReadField;
}

const text = v.optional(v.string(), "");
const number = v.optional(v.number());
const titled = v.array(v.object({ const: v.string(), title: text }));
const choiceEntries = { enum: v.optional(v.array(v.string())), oneOf: v.optional(titled), anyOf: v.optional(titled) };
const shared = { title: text, description: text };

const fieldSchema = v.variant("type", [
	v.object({ type: v.literal("boolean"), ...shared, default: v.optional(v.boolean()) }),
	v.object({
		type: v.picklist(["number", "integer"]),
		...shared,
		minimum: number,
		maximum: number,
		default: number,
	}),
	v.object({
		type: v.literal("string"),
		...shared,
		...choiceEntries,
		enumNames: v.optional(v.array(v.string())),
		minLength: number,
		maxLength: number,
		format: text,
		default: v.optional(v.string()),
	}),
	v.object({
		type: v.literal("array"),
		...shared,
		items: v.object(choiceEntries),
		minItems: number,
		maxItems: number,
	}),
]);
type Field = v.InferOutput<typeof fieldSchema>;

const formSchema = v.object({
	properties: v.record(v.string(), fieldSchema),
	required: v.optional(v.array(v.string()), []),
});

export function readForm(schema: unknown): readonly FormField[] | null {
	const form = v.safeParse(formSchema, schema);
	if (!form.success) return null;
	const { properties, required } = form.output;
	return Object.entries(properties).map(([name, field]) => ({
		name,
		isOptional: !required.includes(name) && !("default" in field && field.default !== undefined),
		label: toLabel(name, field),
		...toReading(field),
	}));
}

function toLabel(name: string, field: Field): string {
	const bounds = describeBounds(field);
	const about = [field.description, bounds].filter((part) => part !== "").join("; ");
	return about === "" ? field.title || name : `${field.title || name}: ${about}`;
}

function describeBounds(field: Field): string {
	switch (field.type) {
		case "boolean":
		case "array":
			return "";
		case "number":
		case "integer":
			return [field.type === "integer" ? "a whole number" : "a number", range(field.minimum, field.maximum)]
				.filter((part) => part !== "")
				.join(", ");
		case "string":
			return [field.format, range(field.minLength, field.maxLength, " characters")]
				.filter((part) => part !== "")
				.join(", ");
	}
}

function range(minimum: number | undefined, maximum: number | undefined, unit = ""): string {
	if (minimum !== undefined && maximum !== undefined) return `from ${minimum} to ${maximum}${unit}`;
	if (minimum !== undefined) return `at least ${minimum}${unit}`;
	return maximum === undefined ? "" : `at most ${maximum}${unit}`;
}

type Reading = Pick<FormField, "isList" | "choices" | "read">;

function toReading(field: Field): Reading {
	switch (field.type) {
		case "boolean":
			return oneOf([option("Yes", true), option("No", false)], field.default);
		case "number":
		case "integer":
			return typed(field.default, (answer) => readNumber(answer, field));
		case "string": {
			const choices = toChoices(field, field.enumNames);
			if (choices !== null) return oneOf(choices, field.default);
			return typed(field.default, (answer) => readText(answer, field));
		}
		case "array":
			return anyOf(withoutCommas(toChoices(field.items, undefined) ?? []), field);
	}
}

interface Choice<T extends FieldValue> {
	readonly label: string;
	readonly value: T;
}

function option<T extends FieldValue>(label: string, value: T): Choice<T> {
	return { label, value };
}

function toChoices(
	{ enum: values, oneOf: one, anyOf: any }: v.InferOutput<v.ObjectSchema<typeof choiceEntries, undefined>>,
	names: readonly string[] | undefined,
): Choice<string>[] | null {
	const titledChoices = one ?? any;
	if (titledChoices !== undefined) return titledChoices.map((each) => option(each.title || each.const, each.const));
	return values?.map((value, index) => option(names?.[index] || value, value)) ?? null;
}

/** Removes commas from labels, because selections come as one comma-separated text. */
function withoutCommas(choices: readonly Choice<string>[]): Choice<string>[] {
	return choices.map(({ label, value }) => option(label.replaceAll(",", ";"), value));
}

function shown<T extends FieldValue>(choices: readonly Choice<T>[], preferred: T | undefined): FormField["choices"] {
	return choices.map(({ label, value }) => ({
		label,
		description: value === preferred ? "The server's default." : "",
	}));
}

/** Finds a choice by label, else by value; case only matters if it distinguishes choices. */
function find<T extends FieldValue>(choices: readonly Choice<T>[], answer: string): Choice<T> | null {
	const exact = (text: string) => text.trim();
	const folded = (text: string) => text.trim().toLowerCase();
	for (const spell of [exact, folded]) {
		const wanted = spell(answer);
		const found =
			choices.find(({ label }) => spell(label) === wanted) ??
			choices.find(({ value }) => spell(String(value)) === wanted);
		if (found !== undefined) return found;
	}
	return null;
}

function oneOf<T extends FieldValue>(choices: readonly Choice<T>[], preferred: T | undefined): Reading {
	return {
		isList: false,
		choices: shown(choices, preferred),
		read(answer) {
			const found = find(choices, answer);
			return found === null ? notAmong(choices) : { ok: true, value: found.value };
		},
	};
}

function anyOf(
	choices: readonly Choice<string>[],
	{ minItems = 0, maxItems = choices.length }: Extract<Field, { type: "array" }>,
): Reading {
	return {
		isList: true,
		choices: shown(choices, undefined),
		read(answer) {
			const found = answer.split(",").map((word) => find(choices, word));
			const values = found.flatMap((choice) => (choice === null ? [] : [choice.value]));
			if (values.length < found.length) return notAmong(choices);
			if (values.length >= minItems && values.length <= maxItems) return { ok: true, value: values };
			return { ok: false, issue: `${range(minItems, maxItems)} choices are expected` };
		},
	};
}

function notAmong(choices: readonly { readonly label: string }[]): ReadField {
	return { ok: false, issue: `it must be among ${choices.map(({ label }) => label).join(", ")}` };
}

/** The only choice is the server's default. */
function typed(preferred: string | number | undefined, read: (answer: string) => ReadField): Reading {
	const choices = preferred === undefined ? [] : [{ label: String(preferred), description: "The server's default." }];
	return { isList: false, choices, read };
}

function readNumber(answer: string, field: Extract<Field, { type: "number" | "integer" }>): ReadField {
	const value = answer.trim() === "" ? Number.NaN : Number(answer);
	const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = field;
	const isKind = field.type === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value);
	if (isKind && value >= minimum && value <= maximum) return { ok: true, value };
	return { ok: false, issue: `it must be ${describeBounds(field)}` };
}

function readText(value: string, field: Extract<Field, { type: "string" }>): ReadField {
	const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = field;
	if (value.length >= minLength && value.length <= maxLength) return { ok: true, value };
	return { ok: false, issue: `it must have ${range(field.minLength, field.maxLength, " characters")}` };
}
