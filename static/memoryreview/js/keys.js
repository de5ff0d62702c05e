/**
 * Keys. What they do stands in one table on the server, printed into the page; nothing is bound here by name of a key.
 * Single keys act only while the list or a proposal has the focus, and not at all when the switch in the help is off.
 *
 * @typedef {{act: string, keys: string[], where: string[], repeats: boolean}} Binding
 */

const SWITCH = "memoryreview.single-keys";
const narrow = matchMedia("(width < 900px)");

/** @type {Binding[]} */
const bindings = JSON.parse(document.body.dataset.bindings ?? "[]");

/** @returns {HTMLElement[]} */
const rows = () => [...document.querySelectorAll("[data-row]")];
const currentRow = () => rows().find((row) => row.getAttribute("aria-current") === "true");
/** @param {string} act @returns {HTMLElement | null} */
const target = (act) => document.querySelector(`[data-act="${act}"]`);

/** @param {string} sentence Tell a screen reader, and nobody else. */
function tell(sentence) {
  const status = document.getElementById("status");
  if (status) status.textContent = sentence;
}

/** @param {number} step Move the cursor in the list; the proposal beside it follows. */
function moveRow(step) {
  const all = rows();
  const focused = all.findIndex((row) => row === document.activeElement);
  const at = focused >= 0 ? focused : all.findIndex((row) => row === currentRow());
  const row = all[Math.min(all.length - 1, Math.max(0, at + step))];
  if (!row) return;
  row.focus();
  if (!narrow.matches && row !== currentRow()) row.click();
}

/** @param {number} step Move between hunks, wherever the focus is now. */
function moveHunk(step) {
  const hunks = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-hunk]")]);
  const at = hunks.findIndex((hunk) => hunk.contains(document.activeElement));
  const hunk = hunks[at < 0 ? (step > 0 ? 0 : hunks.length - 1) : at + step];
  hunk?.focus({ preventScroll: true });
  hunk?.scrollIntoView({ block: "center" });
}

/** Tick the row under the cursor for approving several together, or take the tick away. */
function selectRow() {
  const row = rows().find((one) => one === document.activeElement) ?? currentRow();
  const pick = row?.parentElement?.querySelector("input");
  pick?.click();
  tell(pick?.checked ? "Selected." : "Not selected.");
}

/** Close what is open, else cancel what is asked, else go back to the list. */
function goBack() {
  const sheet = document.querySelector("details.sheet[open]");
  if (sheet instanceof HTMLDetailsElement) {
    sheet.open = false;
    sheet.querySelector("summary")?.focus();
  } else if (target("cancel")) {
    target("cancel")?.click();
  } else if (narrow.matches) {
    target("back-link")?.click();
  } else {
    currentRow()?.focus();
  }
}

/** @param {string} act Press the button, link or sheet that carries this act. */
function press(act) {
  const element = target(act);
  const pane = document.getElementById("proposal");
  if (!element) return tell(document.getElementById("refusal")?.textContent ?? "Not possible here.");
  const row = currentRow();
  const focused = document.activeElement;
  const isBehind = focused instanceof HTMLElement && focused.dataset.row && row !== focused;
  if (pane?.getAttribute("aria-busy") === "true" || isBehind) {
    tell("Still loading; press again when the proposal is there.");
  } else if (element.matches(":disabled")) {
    tell(document.getElementById("refusal")?.textContent ?? "Not possible here.");
  } else if (element.parentElement instanceof HTMLDetailsElement) {
    element.parentElement.open = !element.parentElement.open;
    /** @type {HTMLElement | null} */ (element.parentElement.querySelector("[data-first]"))?.focus();
  } else if (element instanceof HTMLInputElement) {
    element.select();
  } else {
    element.click();
  }
}

/** @type {Record<string, () => void>} */
const acts = {
  next: () => moveRow(1),
  previous: () => moveRow(-1),
  open: () => (narrow.matches ? /** @type {HTMLElement} */ (document.activeElement)?.click() : document.getElementById("content")?.focus()),
  "next-hunk": () => moveHunk(1),
  "previous-hunk": () => moveHunk(-1),
  select: selectRow,
  drop: () => document.dispatchEvent(new Event("review:drop")),
  back: goBack,
  help: () => /** @type {HTMLDialogElement | null} */ (document.getElementById("keys"))?.showModal(),
};

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
    goBack();
  }
}

document.addEventListener("keydown", (event) => {
  if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return inField(event);
  const element = /** @type {Element} */ (event.target);
  const region = element.closest("[data-keys]");
  if (!(region instanceof HTMLElement) || document.querySelector("dialog[open]")) return;
  const where = region.dataset.keys ?? "";
  const binding = bindings.find((one) => one.keys.includes(event.key) && one.where.includes(where));
  const isSingle = event.key.length === 1;
  if (!binding || (event.repeat && !binding.repeats) || (isSingle && localStorage.getItem(SWITCH) === "off")) return;
  if (event.key.startsWith("Arrow") && where !== "list") return;
  if (event.key === " " && !element.matches("[data-hunk]")) return; // a button or box in focus answers by itself
  event.preventDefault();
  (acts[binding.act] ?? (() => press(binding.act)))();
});

document.addEventListener("click", (event) => {
  if (/** @type {Element} */ (event.target).closest('[data-act="help"]')) acts.help();
});

const off = document.querySelector("[data-keys-switch]");
if (off instanceof HTMLInputElement) {
  off.checked = localStorage.getItem(SWITCH) !== "off";
  off.addEventListener("change", () => localStorage.setItem(SWITCH, off.checked ? "on" : "off"));
}
