/**
 * When a request was sent and no answer came, nobody knows what holds. Then nothing can be decided here, what was typed
 * stays, and the server is asked until it says how the proposal stands.
 */

const ASK_MS = 3_000;
const LOCKED = "data-locked";
let isLocked = false;
/** Whether a decision may have arrived although no answer did. */
let mayBeDecided = false;

const pane = () => document.getElementById("proposal");
/** @param {string} name Say what the page holds under this name, in the language of its reader. */
function say(name) {
  const sentence = document.getElementById("alert")?.dataset[name] ?? "";
  document.dispatchEvent(new CustomEvent("review:failed", { detail: { sentence } }));
}
/** @param {ParentNode | null} part @returns {string} */
const version = (part) => part?.querySelector("input[name=version]")?.getAttribute("value") ?? "";
/** @returns {NodeListOf<HTMLInputElement | HTMLTextAreaElement>} */
const fields = () => document.querySelectorAll("#proposal textarea, #proposal input[type=text], #proposal input:not([type])");

/** Keep every button from being pressed, or give back those that were. */
function lock() {
  for (const button of document.querySelectorAll("#proposal button:enabled, #undo button:enabled, #batch button:enabled")) {
    /** @type {HTMLButtonElement} */ (button).disabled = true;
    button.setAttribute(LOCKED, "");
  }
}

function unlock() {
  isLocked = mayBeDecided = false;
  for (const button of document.querySelectorAll(`button[${LOCKED}]`)) {
    /** @type {HTMLButtonElement} */ (button).disabled = false;
    button.removeAttribute(LOCKED);
  }
}

/** Ask how the shown proposal stands now. */
async function ask() {
  const id = pane()?.dataset.id ?? "0";
  const address = id === "0" ? "/queue/count" : `/proposals/${id}`;
  const answer = await fetch(address, { redirect: "manual", headers: { "HX-Request": "true" } }).catch(() => null);
  if (answer?.headers.has("HX-Redirect") || answer?.type === "opaqueredirect") {
    return say("ended");
  }
  if (answer && answer.status < 500) return settle(address, await answer.text());
  setTimeout(ask, ASK_MS);
}

/** @param {string} address @param {string} html Compare what holds with what is shown, and show it where it differs. */
async function settle(address, html) {
  const wasSent = mayBeDecided;
  const now = new DOMParser().parseFromString(html, "text/html");
  const isSame = version(now) === version(pane());
  const typed = new Map([...fields()].map((field) => [field.id, field.value]));
  unlock();
  if (isSame) return say(wasSent ? "undecided" : "answers");
  await /** @type {any} */ (window).htmx.ajax("GET", address, { target: "#proposal", swap: "outerHTML" });
  for (const field of fields()) field.value ||= typed.get(field.id) ?? "";
  say("changed");
}

/** @param {Event} event */
function doubt(event) {
  const { xhr, requestConfig } = /** @type {CustomEvent} */ (event).detail;
  mayBeDecided ||= requestConfig.verb === "post";
  if (!xhr.getResponseHeader("HX-Trigger")) say(mayBeDecided ? "unknown" : "silent");
  lock();
  if (!isLocked) setTimeout(ask, ASK_MS);
  isLocked = true;
}

for (const kind of ["htmx:sendError", "htmx:timeout"]) document.addEventListener(kind, doubt);
document.addEventListener("htmx:responseError", (event) => {
  const { xhr, requestConfig } = /** @type {CustomEvent} */ (event).detail;
  if (requestConfig.verb === "post" && [500, 502, 504].includes(xhr.status)) doubt(event);
});
// A part of the page that came meanwhile has buttons of its own, and a form is sent by keys as well.
document.addEventListener("htmx:afterSettle", () => isLocked && lock());
document.addEventListener(
  "submit",
  (event) => {
    if (!isLocked || /** @type {HTMLFormElement} */ (event.target).method !== "post") return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  true,
);
