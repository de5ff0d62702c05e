/**
 * Keys. What they do stands in one table on the server, printed into the page; nothing is bound here by name of a key.
 * Single keys act only while the list or a proposal has the focus, and not at all when the switch in the help is off.
 *
 * @typedef {{act: string, keys: string[], where: string[], repeats: boolean}} Binding
 */

const SWITCH = "memoryreview.single-keys";
const SEQUENCE_MS = 1500;

/** @type {Binding[]} */
const bindings = JSON.parse(document.body.dataset.bindings ?? "[]");

/** The first key of two, while the second is waited for. */
let begun = "";

/** @param {string} act @param {string} key Let `acts.js` do it. */
const perform = (act, key) => document.dispatchEvent(new CustomEvent("review:act", { detail: { act, key } }));

/** @param {KeyboardEvent} event @returns {boolean} */
function isTyping(event) {
  const element = /** @type {HTMLElement} */ (event.target);
  const isButton = element instanceof HTMLInputElement && ["radio", "checkbox", "submit"].includes(element.type);
  return event.isComposing || (element.matches("input, textarea, select, [contenteditable]") && !isButton);
}

/** @param {KeyboardEvent} event Send a form by Ctrl or Cmd with Enter, and leave a field by Escape. */
function inField(event) {
  const element = /** @type {HTMLElement} */ (event.target);
  const form = element.closest("form");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && form?.matches("[data-submits], .sheet__body")) {
    event.preventDefault();
    form.requestSubmit(form.querySelector("button"));
  } else if (event.key === "Escape" && !event.isComposing && element.matches("#list input, .sheet :is(input, textarea), .confirm input")) {
    event.preventDefault();
    perform("back", event.key);
  }
}

/** @param {string} key Remember the first key of two for a moment. */
function begin(key) {
  begun = `${key} `;
  setTimeout(() => (begun = ""), SEQUENCE_MS);
}

document.addEventListener("keydown", (event) => {
  if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return inField(event);
  const element = /** @type {Element} */ (event.target);
  const region = element.closest("[data-keys]");
  if (!(region instanceof HTMLElement) || document.querySelector("dialog[open]")) return;
  const where = region.dataset.keys ?? "";
  const here = bindings.filter((one) => one.where.includes(where));
  const binding = here.find((one) => one.keys.includes(begun + event.key)) ?? here.find((one) => one.keys.includes(event.key));
  begun = "";
  if (here.some((one) => one.keys.some((keys) => keys.startsWith(`${event.key} `)))) begin(event.key);
  const isSingle = event.key.length === 1;
  if (!binding || (event.repeat && !binding.repeats) || (isSingle && localStorage.getItem(SWITCH) === "off")) return;
  if (event.key.startsWith("Arrow") && where !== "list") return;
  if (event.key === "Enter" && where === "list" && !element.matches("[data-row]")) return; // of a link, a box or a group
  if (event.key === " " && !element.matches("[data-hunk]")) return; // a button or box in focus answers by itself
  event.preventDefault();
  perform(binding.act, event.key);
});

const off = document.querySelector("[data-keys-switch]");
if (off instanceof HTMLInputElement) {
  off.checked = localStorage.getItem(SWITCH) !== "off";
  off.addEventListener("change", () => localStorage.setItem(SWITCH, off.checked ? "on" : "off"));
}
