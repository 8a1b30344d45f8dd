// The drawer, dialogs and menus: opening, closing, and giving the focus back.

let opener = null;

const drawer = () => document.getElementById("drawer");
const dialog = () => document.getElementById("dialog");

function showInUrl(path) {
  const url = new URL(location.href);
  if (path) url.searchParams.set("drawer", path);
  else url.searchParams.delete("drawer");
  history.replaceState(history.state, "", url);
}

function openDrawer(path) {
  const panel = drawer();
  if (panel.hidden) opener ??= document.activeElement;
  panel.hidden = false;
  panel.scrollTop = 0;
  panel.querySelector("h2")?.focus();
  showInUrl(path);
}

function closeDrawer({ giveBack = true } = {}) {
  const panel = drawer();
  if (!panel || panel.hidden) return false;
  panel.hidden = true;
  panel.replaceChildren();
  if (giveBack) {
    showInUrl(null);
    (opener?.isConnected ? opener : document.getElementById("main")).focus();
  }
  opener = null;
  return true;
}

function openMenu() {
  return document.querySelector("details.menu[open]");
}

function closeMenu(giveBack) {
  const menu = openMenu();
  if (!menu) return false;
  menu.open = false;
  if (giveBack) menu.querySelector("summary").focus();
  return true;
}

document.addEventListener("htmx:beforeRequest", (event) => {
  const { target, elt } = event.detail;
  if (target.id === "drawer" && !target.contains(elt)) opener = elt.isConnected ? elt : null;
});

document.addEventListener("htmx:afterSwap", (event) => {
  const { target, requestConfig } = event.detail;
  if (target.id === "drawer") {
    openDrawer(requestConfig.path);
  } else if (target.id === "dialog") {
    if (!target.open) target.showModal();
  } else if (target.id === "main") {
    closeDrawer({ giveBack: false });
    dialog().close();
  }
});

document.addEventListener("htmx:afterSettle", (event) => {
  const { target } = event.detail;
  if (target?.id !== "dialog" || !target.open) return;
  const wanted = ["[data-error-summary]", "[autofocus]", "h2"];
  wanted.map((each) => target.querySelector(each)).find(Boolean)?.focus();
});

document.addEventListener("click", (event) => {
  const menu = openMenu();
  if (menu && (!menu.contains(event.target) || event.target.closest(".menu-panel a"))) menu.open = false;
  if (event.target.closest("[data-drawer-close]")) closeDrawer();
  const inDialog = event.target.closest("[data-dialog-close]") && dialog()?.open;
  if (inDialog) {
    event.preventDefault();
    event.stopPropagation();
    dialog().close();
  } else if (event.target instanceof HTMLDialogElement && event.target.open) {
    event.target.close();
  }
}, { capture: true });

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  if (closeMenu(true) || closeDrawer()) event.preventDefault();
});

document.addEventListener("close", (event) => {
  if (event.target.id === "dialog") event.target.replaceChildren();
}, { capture: true });

// A link with ?drawer=/path opens that drawer; only paths of this site are followed.
function openFromUrl() {
  const path = new URLSearchParams(location.search).get("drawer");
  if (!path || !path.startsWith("/") || !drawer()) return;
  if (new URL(path, location.origin).origin !== location.origin) return;
  window.htmx.ajax("GET", path, { target: "#drawer", source: "#drawer", swap: "innerHTML" });
}

document.addEventListener("htmx:historyRestore", openFromUrl);
openFromUrl();
