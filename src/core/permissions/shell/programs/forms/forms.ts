import type { Form } from "../form.ts";
import { fileForms } from "./file-forms.ts";
import { git } from "./git-forms.ts";
import { interpreterForms } from "./interpreter-forms.ts";
import { readingForms } from "./reading-forms.ts";
import { toolForms } from "./tool-forms.ts";

export const forms: ReadonlyMap<string, Form> = new Map(
	Object.entries({ git, ...toolForms, ...interpreterForms, ...fileForms, ...readingForms }),
);
