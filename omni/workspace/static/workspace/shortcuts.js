// Single keys, never while typing and never with a modifier.

const GO = { d: "/", p: "/projects/", r: "/runs/", a: "/approvals/", w: "/workers/", t: "/account/tokens" };
const WAIT = 1200;
let going = 0;

function isTyping(target) {
  return target.closest?.("input, select, textarea, [contenteditable], dialog[open]");
}

function send(name) {
  document.dispatchEvent(new CustomEvent(`omni:${name}`));
}

function go(path) {
  const link = document.querySelector(`#nav a[href="${path}"]`);
  if (link) link.click();
  else location.assign(path);
}

function showShortcuts() {
  const sheet = document.getElementById("shortcuts");
  if (!sheet || sheet.open) return;
  document.querySelector("dialog[open]")?.close();
  sheet.showModal();
  sheet.querySelector("h2").focus();
}

document.addEventListener("omni:shortcuts", showShortcuts);
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-shortcuts-open]")) return;
  event.preventDefault();
  event.stopPropagation();
  document.querySelector("details.menu[open]")?.removeAttribute("open");
  showShortcuts();
}, { capture: true });

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.timeStamp - going < WAIT && event.key in GO) {
    going = 0;
    go(GO[event.key]);
  } else if (event.key === "g") {
    going = event.timeStamp;
    return;
  } else if (event.key === "?") {
    showShortcuts();
  } else if (event.key === "/") {
    send("palette");
  } else if (event.key === "[") {
    send("navigation");
  } else {
    return;
  }
  event.preventDefault();
});
