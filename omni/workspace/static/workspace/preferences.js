// Theme and navigation are kept in cookies, so that the server renders them without a flash.

const root = document.documentElement;
const THEMES = ["auto", "light", "dark"];
const YEAR = 31536000;

function remember(name, value) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${name}=${value}; Path=/; Max-Age=${YEAR}; SameSite=Lax${secure}`;
}

function announce(text) {
  document.dispatchEvent(new CustomEvent("omni:announce", { detail: text }));
}

function showTheme(theme) {
  for (const button of document.querySelectorAll("[data-theme-form] button")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
}

function setTheme(theme) {
  root.dataset.theme = theme;
  remember("omni_theme", theme);
  showTheme(theme);
  announce(`Theme: ${theme === "auto" ? "as the system" : theme}`);
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-theme-form]") || !event.submitter) return;
  event.preventDefault();
  setTheme(event.submitter.value);
});

document.addEventListener("omni:theme", () => {
  setTheme(THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length]);
});

// A page fetched before the theme changed shows the old choice.
document.addEventListener("htmx:afterSettle", () => showTheme(root.dataset.theme));

const phone = matchMedia("(max-width: 45rem)");
let opener = null;

function openSheet() {
  opener = document.activeElement;
  root.dataset.navSheet = "open";
  document.querySelector(".nav-scrim").hidden = false;
  document.querySelector("#nav a, #nav summary").focus();
}

function closeSheet() {
  if (root.dataset.navSheet !== "open") return false;
  delete root.dataset.navSheet;
  document.querySelector(".nav-scrim").hidden = true;
  if (opener?.isConnected) opener.focus();
  return true;
}

function toggleNavigation() {
  if (phone.matches) {
    if (!closeSheet()) openSheet();
    return;
  }
  const state = root.dataset.nav === "collapsed" ? "open" : "collapsed";
  root.dataset.nav = state;
  remember("omni_nav", state);
  announce(state === "open" ? "Navigation unfolded" : "Navigation folded");
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-nav-toggle]")) toggleNavigation();
  else if (event.target.closest("[data-nav-close]")) closeSheet();
});
document.addEventListener("omni:navigation", toggleNavigation);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && closeSheet()) event.stopImmediatePropagation();
});
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id === "main") closeSheet();
});
