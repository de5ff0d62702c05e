/**
 * Parts that are left out: what the button says then, and what goes with them. All state stands in the check boxes.
 */

/** @returns {HTMLInputElement[]} */
const boxes = () => [...document.querySelectorAll("input[data-drop]")];

/** @param {string} name @returns {string} What the page holds to be said, in the language of its reader. */
const words = (name) => document.getElementById("status")?.dataset[name] ?? "";

/** @param {string} sentence @returns {string} The same, saying how many parts are kept. */
function counted(sentence) {
  const all = boxes();
  return sentence.replace("{kept}", String(all.filter((box) => !box.checked).length)).replace("{all}", String(all.length));
}

/** Let the button name what it approves, and mark the rows that go with a part elsewhere. */
function show() {
  const all = boxes();
  const dropped = all.filter((box) => box.checked);
  const named = document.querySelector("[data-words]");
  if (named instanceof HTMLElement && all.length) {
    named.textContent = dropped.length ? counted(words("parts")) : named.dataset.words ?? "";
  }
  for (const other of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-with]"))) {
    other.toggleAttribute("data-dropped", dropped.some((box) => box.value === other.dataset.with));
  }
}

/** @param {string} sentence Tell a screen reader, and nobody else. */
function tell(sentence) {
  const status = document.getElementById("status");
  if (status) status.textContent = sentence;
}

/** Leave out the part that has the focus, or keep it again. */
function dropPart() {
  const hunk = document.activeElement?.closest("[data-hunk]");
  const marks = "[data-drop], [data-with]";
  const mark = hunk?.querySelector(marks) ?? hunk?.closest(".document")?.querySelector(`:scope > .portion :is(${marks})`);
  const number = mark instanceof HTMLInputElement ? mark.value : mark?.getAttribute("data-with");
  const box = boxes().find((one) => one.value === number);
  box ? box.click() : tell(words("whole"));
}

document.addEventListener("change", (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || !box.matches("[data-drop]")) return;
  show();
  tell(counted(words(box.checked ? "leftOut" : "kept")));
});

document.addEventListener("review:drop", dropPart);
document.addEventListener("htmx:afterSettle", show);
show();
