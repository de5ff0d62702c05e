/**
 * Tells of what waits while a page stays open: the header's count, the number in the title, the icon of the tab and,
 * where a person switched it on in this browser, a notification. It says how many wait, and nothing of what they hold.
 */

const ASK_MS = 15_000;
const SWITCH = "memoryreview.notify";
const plainIcon = icon()?.dataset.plain ?? "";
let counted = Number((counter()?.dataset.count ?? "").replace(/[,+]/g, ""));

/** @returns {HTMLLinkElement | null} */
function icon() {
  return document.querySelector("link[rel=icon]");
}

function counter() {
  return document.getElementById("count");
}

/** Put the header's count in front of the page's title. */
function countInTitle() {
  const words = counter()?.dataset.count;
  const title = document.title.replace(/^\([\d,+]+\) /, "");
  document.title = words && words !== "0" ? `(${words}) ${title}` : title;
}

/**
 * Show what the server counts, and notify of more.
 *
 * @param {{count: number, words: string, sentence: string, badge: string}} now
 */
function show(now) {
  const element = counter();
  if (element && element.dataset.count !== now.words) element.textContent = element.dataset.count = now.words;
  countInTitle();
  const link = icon();
  const address = now.badge || plainIcon;
  if (link && link.getAttribute("href") !== address) link.href = address;
  if (now.count > counted && isOn() && !document.hasFocus()) notify(now);
  counted = now.count;
}

/** @param {{sentence: string}} now One notification for all tabs: the tag lets the newest replace it. */
function notify(now) {
  const shown = new Notification("memoryreview", { body: now.sentence, tag: "memoryreview" });
  shown.onclick = () => window.focus();
}

async function ask() {
  const answer = await fetch("/queue/count", { redirect: "manual", headers: { Accept: "application/json" } }).catch(() => null);
  if (answer?.type === "opaqueredirect") return; // the session ended: there is nobody to tell
  if (answer?.ok) show(await answer.json());
  setTimeout(ask, ASK_MS);
}

const isOn = () => "Notification" in window && Notification.permission === "granted" && localStorage.getItem(SWITCH) === "on";

/** Say of each switch on the page how it stands, in words. */
function showSwitches() {
  for (const box of document.querySelectorAll("[data-notify]")) {
    /** @type {HTMLElement} */ (box).hidden = false;
    const button = box.querySelector("button");
    const words = box.querySelector("[data-notify-words]");
    const isDenied = Notification.permission === "denied";
    button?.setAttribute("aria-pressed", String(isOn()));
    if (button) button.disabled = isDenied;
    if (button) button.textContent = (isOn() ? button.dataset.stop : button.dataset.start) ?? "";
    if (words instanceof HTMLElement && isDenied) words.textContent = words.dataset.denied ?? "";
  }
}

document.addEventListener("click", async (event) => {
  if (!(/** @type {Element} */ (event.target).closest("[data-notify-switch]"))) return;
  if (isOn()) localStorage.setItem(SWITCH, "off");
  else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(SWITCH, "on");
  showSwitches();
});

document.addEventListener("htmx:afterSettle", countInTitle);

if ("Notification" in window) showSwitches();
if (counter()) {
  countInTitle();
  setTimeout(ask, ASK_MS);
}
