// The document of a dialect: its methods, events and requests, with a table of fields for each shape.
import {
	answerName,
	clientShapes,
	type DocumentDescription,
	errorDataName,
	errorKey,
	paramsName,
	resultName,
	serverShapes,
	shapeName,
} from "./description.ts";
import { type Definitions, type JsonSchema, reachable, type Sender, toDefinitions } from "./json-schema.ts";

/** Gives the text for a method, a message, a value, an error number or a field. */
type Texts = (what: string) => string;

interface Writer {
	readonly description: DocumentDescription;
	readonly text: Texts;
	readonly definitions: Readonly<Record<Sender, Definitions>>;
}

/** The whole file. Throws when a text is missing or belongs to nothing. */
export function toMarkdown(description: DocumentDescription): string {
	const used = new Set<string>();
	const writer: Writer = {
		description,
		text(what) {
			used.add(what);
			const found = description.texts[what] ?? description.inherited?.[what];
			if (found === undefined) throw new Error(`${description.name}: there is no text for ${what}`);
			return found;
		},
		definitions: shapeDefinitions(description),
	};
	const parts = [
		`# ${description.title}`,
		`<!-- Generated from the declarations in src/; npm run generate writes it. -->`,
		description.introduction,
		...methodParts(writer),
		...eventParts(writer),
		...requestParts(writer),
		...valueParts(writer),
		...errorParts(writer),
		description.closing,
	];
	const needless = Object.keys(description.texts).filter((what) => !used.has(what));
	const { methods, events, requests } = description.protocol;
	const shown = [methods, events, requests].flatMap((table) => Object.keys(table));
	needless.push(...Object.keys(description.examples ?? {}).filter((name) => !shown.includes(name)));
	if (needless.length > 0) throw new Error(`${description.name}: nothing is called ${needless.join(", ")}`);
	return `${parts.flatMap((part) => part.trim() || []).join("\n\n")}\n`;
}

function shapeDefinitions(description: DocumentDescription): Writer["definitions"] {
	const values = Object.entries(description.values);
	const sent = Object.fromEntries(values.map(([name, { schema }]) => [name, schema]));
	const read = Object.fromEntries(values.map(([name, { schema, fromClient = schema }]) => [name, fromClient]));
	return {
		server: toDefinitions({ ...sent, ...serverShapes(description) }, "server"),
		client: toDefinitions({ ...read, ...clientShapes(description) }, "client"),
	};
}

function methodParts(writer: Writer): string[] {
	const { description, text } = writer;
	const methods = Object.entries(description.protocol.methods);
	return [
		"## Methods",
		overview(
			writer,
			methods.map(([name]) => name),
		),
		...methods.flatMap(([method, { result, actsOn = "requests" }]) => [
			`### \`${method}\``,
			...(actsOn === "requests"
				? []
				: [actsOn === "both" ? "Request or notification." : "Notification: it has no `id` and gets no answer."]),
			since(writer, method),
			text(method),
			example(writer, method),
			"Params:",
			shapePart(writer, paramsName(method), "client"),
			...(result === null ? [] : ["Result:", shapePart(writer, resultName(method), "server")]),
		]),
	];
}

function eventParts(writer: Writer): string[] {
	const events = Object.entries(writer.description.protocol.events);
	if (events.length === 0) return [];
	return [
		"## Events",
		overview(
			writer,
			events.map(([type]) => type),
		),
		...events.flatMap(([type, payload]) => [
			`### \`${type}\``,
			since(writer, type),
			writer.text(type),
			example(writer, type),
			payload === null ? "It has no payload at all." : shapePart(writer, shapeName(type), "server"),
		]),
	];
}

function requestParts(writer: Writer): string[] {
	const requests = Object.keys(writer.description.protocol.requests);
	return [
		"## Requests",
		overview(writer, requests),
		...requests.flatMap((type) => [
			`### \`${type}\``,
			since(writer, type),
			writer.text(type),
			example(writer, type),
			shapePart(writer, shapeName(type), "server"),
			"Answer:",
			shapePart(writer, answerName(type), "client"),
		]),
	];
}

/** What is also a message was shown there. */
function valueParts(writer: Writer): string[] {
	const { protocol, values } = writer.description;
	const shown = new Set(Object.keys(protocol.events).map(shapeName));
	const names = Object.keys(values).filter((name) => !shown.has(name));
	const read = reachable(writer.definitions.client, Object.keys(clientShapes(writer.description)));
	return [
		"## Values",
		...names.flatMap((name) => [
			`### \`${name}\``,
			writer.text(name),
			shapePart(writer, name, read.includes(name) ? "client" : "server"),
		]),
	];
}

function errorParts(writer: Writer): string[] {
	const { description, text } = writer;
	const { errors, errorData, sinceOf } = description;
	if (errors.length === 0 && errorData === null) return [];
	const tables = Object.keys(errors[0]?.numbers ?? {});
	const rows = errors.map((entry) => {
		const key = errorKey(entry);
		const name = entry.name === null ? "" : `\`${entry.name}\``;
		return [name, ...tables.map((each) => String(entry.numbers[each])), sinceOf?.(key) ?? "", text(String(key))];
	});
	const data = errorData === null ? [] : ["`error.data`:", shapePart(writer, errorDataName, "server")];
	return ["## Errors", table(["Name", ...tables.map(capital), "Since", "Meaning"], rows), ...data];
}

/** The lines that show a message. What is both a method and an event is shown once. */
function example({ description }: Writer, name: string): string {
	const { examples } = description;
	if (examples === undefined) return "";
	const lines = examples[name];
	if (lines === undefined) throw new Error(`${description.name}: there is no example of ${name}`);
	return ["```", lines.trim(), "```"].join("\n");
}

function since({ description }: Writer, name: string): string {
	const version = description.sinceOf?.(name) ?? null;
	if (version === null) return "";
	return /^\d/.test(version) ? `*Since ${version}.*` : `*${capital(version)}.*`;
}

/** One line for each, with the first sentence of its text. */
function overview({ description, text }: Writer, names: readonly string[]): string {
	const rows = names.map((name) => [
		`[\`${name}\`](#${anchor(name)})`,
		description.sinceOf?.(name) ?? "",
		text(name).split(/(?<=\.)\s/)[0] ?? "",
	]);
	return table(["Name", "Since", "Meaning"], rows);
}

function shapePart(writer: Writer, name: string, sender: Sender): string {
	const schema = writer.definitions[sender][name] ?? {};
	const alternatives = schema.anyOf ?? schema.oneOf ?? [schema];
	if (alternatives.every((one) => one.properties === undefined)) {
		const type = typeText(schema, writer);
		return type === "anything" ? "Ignored; may be absent." : `${capital(type)}.`;
	}
	const tables = alternatives.map((one) => {
		if (one.$ref !== undefined) return `${typeText(one, writer)}.`;
		const rows = fieldRows(writer, name, one, sender, "");
		if (rows.length === 0) return "No fields: `{}`.";
		return sender === "client"
			? table(["Field", "Type", "If absent", "Since", "Meaning"], rows)
			: table(
					["Field", "Type", "Since", "Meaning"],
					rows.map(([field = "", type = "", absent = "", ...others]) => [
						field,
						absent === "required" ? type : `${type}; may be absent`,
						...others,
					]),
				);
	});
	return [tables.join("\n\nor\n\n"), ...(schema.description === undefined ? [] : [schema.description])].join("\n\n");
}

/** Fields of objects inside are named with a dot, those of list items with `[]`. */
function fieldRows(writer: Writer, shape: string, schema: JsonSchema, sender: Sender, prefix: string): string[][] {
	return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
		const path = `${prefix}${key}`;
		const what = `${shape}.${path}`;
		const absent = schema.required?.includes(key) ? "required" : (JSON.stringify(inner.default) ?? "–");
		const row = [
			`\`${path}\``,
			typeText(inner, writer),
			absent === "required" || absent === "–" ? absent : `\`${absent}\``,
			writer.description.sinceOf?.(what) ?? "",
			"const" in inner && !(what in writer.description.texts)
				? ""
				: [writer.text(what), ...(inner.description === undefined ? [] : [inner.description])].join(" "),
		];
		const item = inner.items ?? {};
		return [
			row,
			...(inner.properties === undefined ? [] : fieldRows(writer, shape, inner, sender, `${path}.`)),
			...(item.properties === undefined ? [] : fieldRows(writer, shape, item, sender, `${path}[].`)),
		];
	});
}

function typeText(schema: JsonSchema, writer: Writer): string {
	const { $ref, type, anyOf, oneOf, items, additionalProperties } = schema;
	if ($ref !== undefined) {
		const name = $ref.replace("#/$defs/", "");
		return `[${name}](#${anchor(headingOf(name, writer))})`;
	}
	if ("const" in schema) return `\`${JSON.stringify(schema.const)}\``;
	if (schema.enum !== undefined) return schema.enum.map((word) => `\`${JSON.stringify(word)}\``).join(" or ");
	const alternatives = anyOf ?? oneOf;
	if (alternatives !== undefined) return alternatives.map((one) => typeText(one, writer)).join(" or ");
	if (type === "array")
		return items === undefined || items.properties ? "list of objects" : `list of ${typeText(items, writer)}`;
	if (type === "object" && typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0) {
		return `object of ${typeText(additionalProperties, writer)} by name`;
	}
	return typeof type === "string" ? type : "anything";
}

/** Where a shape is shown: with its message, or under its own name. */
function headingOf(name: string, { description }: Writer): string {
	const { methods, events, requests } = description.protocol;
	const message =
		Object.keys(methods).find((method) => paramsName(method) === name || resultName(method) === name) ??
		Object.keys(events).find((type) => shapeName(type) === name) ??
		Object.keys(requests).find((type) => shapeName(type) === name || answerName(type) === name);
	return message ?? name;
}

/** Of the heading with this name. */
function anchor(name: string): string {
	return name.toLowerCase().replace(/[^a-z0-9_-]/g, "");
}

function capital(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Columns in which nothing stands are left out. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
	const persisted = heads.flatMap((_head, column) => (rows.some((row) => row[column] !== "") ? [column] : []));
	const line = (cells: readonly string[]) => `| ${persisted.map((column) => cells[column] ?? "").join(" | ")} |`;
	return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}
