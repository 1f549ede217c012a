// The program of the thread that reads a web page: its data are the page, its message is the text.
import { parentPort, workerData } from "node:worker_threads";
import { readPageText } from "./web-page.ts";

// A failure ends the thread with the error, which its starter receives.
void readPageText(workerData).then((page) => parentPort?.postMessage(page));
