// What a full page load does by itself and a swapped centre must be given: focus, scroll,
// an announcement, and honest behaviour when the answer is not what was hoped for.

const PANES = ["main", "drawer", "dialog"];
const progress = () => document.getElementById("progress");
let announcing;

function announce(text) {
  const announcer = document.getElementById("announcer");
  if (!announcer) return;
  announcer.textContent = "";
  clearTimeout(announcing);
  announcing = setTimeout(() => { announcer.textContent = text; }, 60);
}

function toast(level, text) {
  document.dispatchEvent(new CustomEvent("toast", { detail: { level, text } }));
}

function showCurrentTab() {
  document.querySelector(".tab[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function arrive() {
  const main = document.getElementById("main");
  const anchor = location.hash && document.getElementById(location.hash.slice(1));
  main.scrollTop = 0;
  window.scrollTo(0, 0);
  if (anchor) anchor.scrollIntoView();
  const summary = main.querySelector("[data-error-summary]");
  const heading = main.querySelector("h1");
  (summary ?? main.querySelector("[autofocus]") ?? heading ?? main).focus({ preventScroll: !summary });
  showCurrentTab();
  announce(document.title);
}

document.addEventListener("omni:announce", (event) => announce(event.detail));

document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, target, requestConfig } = event.detail;
  if (!PANES.includes(target.id)) {
    // A live part keeps what it shows when an update fails.
    if (xhr.status >= 400) event.detail.shouldSwap = false;
    return;
  }
  if (xhr.getResponseHeader("X-Omni-Pane") === target.id) return;
  event.detail.shouldSwap = false;
  if (xhr.status >= 500) {
    toast("error", "The server could not answer. Try again in a moment.");
  } else if (target.id === "main" && requestConfig.verb === "get") {
    location.assign(xhr.responseURL);
  } else if (xhr.status >= 400) {
    toast("error", "This did not work. Reload the page and try again.");
  }
});

// After settling, because htmx itself moves the focus to an autofocus field until then; the
// event comes once for every new element.
let arrived;
document.addEventListener("htmx:afterSettle", (event) => {
  const { target, xhr } = event.detail;
  if (target?.id !== "main" || xhr === arrived) return;
  arrived = xhr;
  arrive();
});

// Back and forward fetch the page afresh; nothing private stays in the browser's storage.
document.addEventListener("htmx:historyRestore", () => {
  showCurrentTab();
  announce(document.title);
});
document.addEventListener("htmx:historyCacheMissLoadError", () => location.reload());

for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, (event) => {
    if (event.detail.elt.matches("[data-live]")) return;
    toast("error", "No connection to the server. Check that it is running and try again.");
  });
}

// Without a change of the address, which going back would have to undo.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-error-summary] a");
  const field = link && document.getElementById(link.hash.slice(1));
  if (!field) return;
  event.preventDefault();
  field.focus();
});

let busy = 0;
function isQuiet(event) {
  return event.detail.elt.matches("[data-live], #palette input");
}
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.matches("[data-live]") && document.hidden) {
    event.preventDefault();
  } else if (!isQuiet(event)) {
    busy += 1;
    progress()?.classList.add("is-busy");
  }
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (isQuiet(event)) return;
  busy = Math.max(0, busy - 1);
  if (busy === 0) progress()?.classList.remove("is-busy");
});

showCurrentTab();
