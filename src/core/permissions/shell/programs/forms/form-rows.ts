// What the tables of forms share.
import type { Form } from "../form.ts";

/** The same form for each name. */
export function rows(names: string, form: Form): Readonly<Record<string, Form>> {
	return Object.fromEntries(names.split(" ").map((name) => [name, form]));
}

/** Words that are no options, addresses or paths to elsewhere. */
export const plainWord = /^(?![-@/])(?!.*\.\.)[\w.:@%+,=^~/ -]*$/;
