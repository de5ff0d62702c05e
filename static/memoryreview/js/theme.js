/**
 * The colour switch. The choice is a cookie, so that the server prints it into the page and nothing flashes.
 */

const YEAR_S = 365 * 24 * 60 * 60;
const root = document.documentElement;

/** @returns {NodeListOf<HTMLButtonElement>} */
const buttons = () => document.querySelectorAll("[data-theme-switch] [data-choose]");

/** Show which choice holds. */
function show() {
  for (const button of buttons()) {
    button.setAttribute("aria-pressed", String(button.dataset.choose === root.dataset.theme));
  }
}

document.addEventListener("click", (event) => {
  const button = /** @type {Element} */ (event.target).closest("[data-choose]");
  if (!(button instanceof HTMLButtonElement)) return;
  const choice = button.dataset.choose ?? "auto";
  root.dataset.theme = choice;
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `theme=${choice}; path=/; max-age=${YEAR_S}; samesite=strict${secure}`;
  show();
});

for (const group of document.querySelectorAll("[data-theme-switch]")) {
  /** @type {HTMLElement} */ (group).dataset.ready = "";
}
show();
